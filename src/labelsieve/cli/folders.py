"""Output folders, checked before a run and not after it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from labelsieve.errors import ConfigurationError


def writable_folder(folder: Path) -> Path:
    """The folder, made if missing; raises unless a file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"labelsieve")
    except FileExistsError:
        raise ConfigurationError(
            f"--out must name a folder, but {folder} is a file. Choose another name, or move the file away."
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"--out must name a folder that can be written to; for {folder} the system says: "
            f"{error.strerror or error}. Choose another place."
        ) from None
    return folder
