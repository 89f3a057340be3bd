"""Tables in text: CSV and TSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from labelsieve.data.readers.base import CHUNK_BYTES, Block, Reader
from labelsieve.data.readers.cells import shown
from labelsieve.data.readers.text_file import TextFile
from labelsieve.errors import DataError

LONGEST_FIELD = 32 * 2**20
"""In letters. After a quote that is never closed the rest of the file is one field, which must not fill the memory."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_COLUMNS_SHOWN = 12
_DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}


class CsvReader(Reader):
    """A header, then one row per line, or over several lines where a quoted field has line breaks in it.

    Fields are separated by commas; if the header has none, by semicolons or tabs; in .tsv files by tabs. Every cell is
    the text that stands there. Python's ``csv`` is used for all of it, since it knows the line it is in and refuses
    what others repair silently.
    """

    place: ClassVar[str] = "line"

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path
        self._file = TextFile(path, encoding)
        self._delimiter = "\t" if path.suffix.lower() == ".tsv" else self._sniffed_delimiter()
        self.columns = []
        for _, fields in self._rows():
            if self.columns:
                return
            self.columns = fields
            self._refuse_repeated_columns()
        if not self.columns:
            raise DataError(f"{self._file.name} must have a header and rows; it has only blank lines.")
        raise DataError(
            f"{self._file.name} must have a row of data at least; it has only the header {self._header_in_words()}. "
            "If that is data already, put a line with the names of the columns before it."
        )

    def _blocks(self, columns: list[str], size: int) -> Iterator[Block]:
        places_of_columns = [self.columns.index(name) for name in columns]
        rows = self._rows()
        _, header = next(rows)
        if header != self.columns:
            raise DataError(f"{self._file.name} must not change while it is in use; its header did. Start again.")
        lines: list[int] = []
        kept: list[list[str]] = []
        letters = 0
        for line, fields in rows:
            lines.append(line)
            kept.append(fields)
            letters += sum(map(len, fields))
            if len(kept) == size or letters > CHUNK_BYTES:
                yield _block(kept, lines, places_of_columns)
                lines, kept, letters = [], [], 0
        if kept:
            yield _block(kept, lines, places_of_columns)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """The line each row starts in, and its fields, the header first; blank lines are no rows."""
        # One limit holds for the whole process: it is only ever raised, so that no other thread is cut short.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
        reader = csv.reader(self._file.lines(newline=""), delimiter=self._delimiter, strict=True)
        width, line = -1, 1
        try:
            for fields in reader:
                if len(fields) == width:
                    yield line, fields
                elif fields:
                    if width > 0:
                        raise self._width_error(line, fields)
                    width = len(fields)
                    yield line, fields
                line = reader.line_num + 1
        except csv.Error as error:
            raise self._quoting_error(error, line, reader.line_num) from None

    def _width_error(self, line: int, fields: list[str]) -> DataError:
        delimiter = _DELIMITER_NAMES[self._delimiter]
        remedy = (
            f"A text with a {delimiter} in it needs quotes around it"
            if len(fields) > len(self.columns)
            else f"An empty field needs its {delimiter} all the same, and a text with a line break in it needs quotes"
        )
        return DataError(
            f"Line {line} of {self._file.name} must have {_counted(len(self.columns))}, as the header has "
            f"({self._header_in_words()}); it has {_counted(len(fields))}, the first is {shown(fields[0], 40)!r}. "
            f"{remedy}."
        )

    def _quoting_error(self, error: csv.Error, first: int, last: int) -> DataError:
        where = f"The row that starts in line {first} of {self._file.name}"
        if "unexpected end" in str(error):
            return DataError(
                f"{where} must close every quote it opens; one is still open at the end of the file (line {last}). "
                'Close it, or, if the quote belongs to the text, quote the field and double it: "a 5"" disk".'
            )
        if "field limit" in str(error):
            return DataError(
                f"{where} must have fields of at most {LONGEST_FIELD:,} letters; one is longer. Most often "
                "a quote was opened there and never closed."
            )
        return DataError(
            f"{where} must have nothing between a closing quote and the next {_DELIMITER_NAMES[self._delimiter]}; "
            f"it has, in line {last}. "
            'A quote inside a quoted field is doubled: "a 5"" disk"; or a quote opened earlier was never closed.'
        )

    def _header_in_words(self) -> str:
        names = [shown(name, 40) for name in self.columns[:_COLUMNS_SHOWN]]
        return ", ".join(names) + (", …" if len(self.columns) > _COLUMNS_SHOWN else "")

    def _sniffed_delimiter(self) -> str:
        header = ""
        for line in self._file.lines(newline=""):
            header += line
            if (header.strip() and header.count('"') % 2 == 0) or len(header) > LONGEST_FIELD:
                break
        bare = _QUOTED.sub("", header)
        return "," if "," in bare else max(",;\t", key=bare.count)


def _block(rows: list[list[str]], lines: list[int], places_of_columns: list[int]) -> Block:
    by_column: list[Any] = list(zip(*rows, strict=True))
    return Block([by_column[place] for place in places_of_columns], lines)


def _counted(fields: int) -> str:
    return "1 field" if fields == 1 else f"{fields} fields"
