"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def write_atomically(contents: Mapping[Path, bytes]) -> None:
    """Readers see old files or new ones, never a part of one; if the disk is full, all old ones stay."""
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in contents}
    try:
        for path, content in contents.items():
            temporary[path].write_bytes(content)
        for path in contents:
            os.replace(temporary[path], path)
    finally:
        for part in temporary.values():
            part.unlink(missing_ok=True)


def utf8(text: str) -> bytes:
    """Names from file systems may hold what UTF-8 cannot; it is spelled out rather than lost."""
    return text.encode("utf-8", errors="backslashreplace")
