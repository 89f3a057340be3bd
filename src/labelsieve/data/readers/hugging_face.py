"""Datasets that Hugging Face's ``datasets`` saved with ``save_to_disk``, read without it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelsieve.data.readers import arrow
from labelsieve.data.readers.base import Block, Reader
from labelsieve.errors import DataError

_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"


def is_dataset(folder: Path) -> bool:
    """Whether the folder was written by ``save_to_disk``, one split or several."""
    return (folder / _SPLITS).is_file() or ((folder / _STATE).is_file() and (folder / _INFO).is_file())


class HuggingFaceReader(Reader):
    """The Arrow files that ``state.json`` names, in its order, mapped into memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if (path / _SPLITS).is_file():
            splits = self._json(_SPLITS).get("splits") or ["…"]
            raise DataError(
                f"The data must be one split of a dataset; {str(path)!r} has {', '.join(map(str, splits))}. "
                f"Give one of them: {path / str(splits[0])}"
            )
        state = self._json(_STATE)
        if any(value for key, value in state.items() if key.startswith("_indices")):
            raise DataError(
                f"{str(path)!r} must have its rows in their order; it keeps a list of chosen rows beside them. "
                "Call flatten_indices() on the dataset and save it again."
            )
        self._files = [self._data_file(entry) for entry in state.get("_data_files") or []]
        self.columns = []
        rows = 0
        for file in self._files:
            with self._open(file) as batches:
                names = list(batches.schema.names)
                if self.columns and names != self.columns:
                    raise DataError(f"The files of {str(path)!r} must have the same columns; {file.name} has {names}.")
                self.columns = names
                rows += next((batch.num_rows for batch in batches if batch.num_rows), 0)
        self._refuse_repeated_columns()
        if not rows:
            raise DataError(f"{str(path)!r} must have a row of data at least; it has none.")

    def _blocks(self, columns: list[str], size: int) -> Iterator[Block]:
        import pyarrow.lib

        try:
            yield from arrow.blocks(self._batches(), columns, size)
        except (pyarrow.lib.ArrowException, OSError) as error:
            raise DataError(f"{str(self.path)!r} must be whole; a file of it is damaged: {error}") from error

    def _batches(self) -> Iterator[Any]:
        for file in self._files:
            with self._open(file) as batches:
                yield from batches

    def _open(self, file: Path) -> Any:
        import pyarrow as pa

        try:
            return pa.ipc.open_stream(pa.memory_map(str(file)))
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{str(file)!r} must be an Arrow file of a dataset; it cannot be read: {error}. Save the dataset again."
            ) from error

    def _data_file(self, entry: Any) -> Path:
        """Names that lead out of the folder are refused."""
        name = entry.get("filename") if isinstance(entry, dict) else None
        if not isinstance(name, str) or Path(name).name != name or not (self.path / name).is_file():
            raise DataError(
                f"{str(self.path / _STATE)!r} must name data files in its own folder; it names {name!r}, and there is "
                "no such file. Save the dataset again."
            )
        return self.path / name

    def _json(self, name: str) -> dict[str, Any]:
        try:
            content = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise DataError(f"{str(self.path / name)!r} must be the JSON file of a dataset: {error}") from None
        if not isinstance(content, dict):
            raise DataError(f"{str(self.path / name)!r} must hold a JSON object; it holds {type(content).__name__}.")
        return content
