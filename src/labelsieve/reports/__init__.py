"""Reports of a run: the labels, a machine-readable record, and one self-contained HTML page."""
