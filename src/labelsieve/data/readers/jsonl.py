"""Tables of one JSON object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from labelsieve.data.readers.base import CHUNK_BYTES, Block, Reader
from labelsieve.data.readers.cells import plain, shown
from labelsieve.data.readers.text_file import TextFile
from labelsieve.errors import DataError

_HALF_A_LETTER = re.compile(r"\\u[dD][89a-fA-F]")
_JSON_NAMES = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


class JsonLinesReader(Reader):
    """The columns are all keys that occur, in the order they are first met: the file is read once to know them.

    A key that a row does not have is None there.
    """

    place: ClassVar[str] = "line"

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path
        self._file = TextFile(path, encoding)
        keys: dict[str, None] = {}
        rows = 0
        for _, _, row in self._objects():
            rows += 1
            keys.update(dict.fromkeys(row))
        if not rows:
            raise DataError(f"{self._file.name} must have a JSON object on a line at least; it has only blank lines.")
        if not keys:
            raise DataError(f"{self._file.name} must have objects with keys; all {rows:,} are empty: {{}}.")
        self.columns = list(keys)

    def _blocks(self, columns: list[str], size: int) -> Iterator[Block]:
        lines: list[int] = []
        cells: list[list[Any]] = [[] for _ in columns]
        letters = 0
        for line, length, row in self._objects():
            lines.append(line)
            for name, column in zip(columns, cells, strict=True):
                column.append(plain(row.get(name)))
            letters += length
            if len(lines) == size or letters > CHUNK_BYTES:
                yield Block(list(cells), lines)
                lines, cells, letters = [], [[] for _ in columns], 0
        if lines:
            yield Block(list(cells), lines)

    def _objects(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Line, length of the line, and what stands in it."""
        for number, line in enumerate(self._file.lines(newline="\n"), 1):
            if line.isspace():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise self._broken(number, line, f"{error.msg} at character {error.pos + 1}") from None
            except (ValueError, RecursionError) as error:
                raise self._broken(number, line, str(error)) from None
            if not isinstance(row, dict):
                raise DataError(
                    f'Line {number} of {self._file.name} must be a JSON object, as {{"text": "…"}}; it is '
                    f"{_JSON_NAMES.get(type(row), 'a number')}: {shown(line)}"
                )
            if _HALF_A_LETTER.search(line):
                self._refuse_half_letters(row, number)
            yield number, len(line), row

    def _broken(self, number: int, line: str, reason: str) -> DataError:
        remedy = (
            "A JSON file that is one list over many lines must be written as one object per line: jq -c '.[]' FILE."
            if number == 1 and line.lstrip().startswith(("[", "{")) and len(line.strip()) == 1
            else "Mend or remove the line."
        )
        return DataError(
            f"Line {number} of {self._file.name} must be one whole JSON object; it is not ({reason}): {shown(line)}. "
            f"{remedy}"
        )

    def _refuse_half_letters(self, row: dict[str, Any], number: int) -> None:
        """Half of a surrogate pair, as cutting a text in the middle of an emoji leaves it, can be stored nowhere."""
        try:
            json.dumps(row, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise DataError(
                f"Line {number} of {self._file.name} must have whole letters; it has the half "
                f"\\u{ord(error.object[error.start]):04x} of a pair, without the other. Remove it from the text."
            ) from None
