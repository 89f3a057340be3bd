"""How much can be labelled honestly: the ingredients of high coverage, alone and together (docs/coverage.md)."""
