"""Lines of a text file, with the place of whatever cannot be read."""

from __future__ import annotations

import codecs
import io
import shlex
from collections.abc import Iterator
from pathlib import Path

from labelsieve.errors import DataError

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is its beginning
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BYTES_AT_ONCE = 2**16
_GOOD_SHARE_OF_A_MIX = 0.1


class TextFile:
    """A text file in UTF-8, in what its byte order mark says, or in the encoding that is named."""

    def __init__(self, path: Path, encoding: str | None) -> None:
        self.path = path
        self.encoding = _checked(encoding) if encoding is not None else self._marked_encoding()
        if path.stat().st_size == 0:
            raise DataError(f"{str(path)!r} must have a row of data at least; the file is empty (0 bytes).")

    def lines(self, newline: str) -> Iterator[str]:
        """The lines with their ends as they are; ``newline`` as ``open`` takes it."""
        number = 0
        try:
            with open(self.path, encoding=self.encoding, newline=newline) as file:
                for number, line in enumerate(file, 1):
                    if "\0" in line:
                        raise self._nul_error(number)
                    yield line if number > 1 else line.removeprefix("\ufeff")
        except UnicodeError:
            raise self._decoding_error() from None
        except OSError as error:
            raise DataError(
                f"{self.name} could not be read beyond line {number}: {error.strerror or error}."
            ) from error

    @property
    def name(self) -> str:
        """For messages."""
        return repr(str(self.path))

    def _marked_encoding(self) -> str:
        with open(self.path, "rb") as file:
            start = file.read(4)
        return next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), "utf-8")

    def _nul_error(self, number: int) -> DataError:
        return DataError(
            f"Line {number} of {self.name} must be text; it has a NUL byte (0x00). If the file is UTF-16 without a "
            "byte order mark, name its encoding (--encoding utf-16-le); otherwise it is damaged or no text file."
        )

    def _decoding_error(self) -> DataError:
        """Reads the file once more, in the end byte by byte, to find the line."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        line, after_return, at_once = 1, False, _BYTES_AT_ONCE
        with open(self.path, "rb") as file:
            while True:
                state, block = decoder.getstate(), file.read(at_once)
                try:
                    text = decoder.decode(block, final=not block)
                except UnicodeError as error:
                    if len(block) <= 1:
                        return self._refusal(error, line, file.tell())
                    decoder.setstate(state)
                    file.seek(-len(block), io.SEEK_CUR)
                    at_once = 1
                    continue
                if not block:
                    return DataError(f"{self.name} must not change while it is read; read it again.")
                line += text.count("\n") + text.count("\r") - text.count("\r\n")
                line -= after_return and text.startswith("\n")
                after_return = text.endswith("\r") if text else after_return

    def _refusal(self, error: UnicodeError, line: int, read: int) -> DataError:
        what = f"Line {line} of {self.name} must be text in {self.encoding}"
        if isinstance(error, UnicodeDecodeError):
            place = read - len(error.object) + error.start + 1
            what += f"; its byte 0x{error.object[error.start]:02X} (byte {place:,} of the file) cannot stand there"
        else:
            what += f"; {error}"
        if self._has_good_lines():
            return DataError(
                f"{what}. Other lines have letters beyond ASCII that are right in {self.encoding}, so the file seems "
                "to mix encodings: write this line, and others like it, in the encoding of the rest."
            )
        target = shlex.quote(str(self.path.with_suffix(f".utf8{self.path.suffix}")))
        return DataError(
            f"{what}. Name the encoding the file is in (for instance --encoding cp1252), or convert the file: "
            f"iconv -f WINDOWS-1252 -t UTF-8 {shlex.quote(str(self.path))} > {target}"
        )

    def _has_good_lines(self) -> bool:
        """Whether a good part of the lines that are not ASCII is UTF-8, which hardly happens by chance."""
        if codecs.lookup(self.encoding).name != "utf-8":
            return False
        good = bad = 0
        with open(self.path, "rb") as file:
            for line in file:
                content = line.removeprefix(codecs.BOM_UTF8)
                if not content.isascii():
                    decoded = content.decode("utf-8", errors="replace")
                    good, bad = (good, bad + 1) if "\ufffd" in decoded else (good + 1, bad)
        return good > _GOOD_SHARE_OF_A_MIX * (good + bad)


def _checked(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        raise DataError(
            f"The encoding must be one that Python knows, such as utf-8, utf-16, cp1252, latin-1, gb18030 or "
            f"shift_jis; got {encoding!r}."
        ) from None
    return encoding
