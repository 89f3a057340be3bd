"""``python -m labelsieve``."""

import sys

from labelsieve.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
