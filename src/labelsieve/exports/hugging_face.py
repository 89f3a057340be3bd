"""The folder that ``datasets.load_from_disk`` reads and ``save_to_disk`` writes, made with pyarrow alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from labelsieve.exports.columns import Layout, gathered
from labelsieve.exports.replacing import replacing_folder

_DATA_FILE = "data-00000-of-00001.arrow"
_STATE_FILE, _INFO_FILE = "state.json", "dataset_info.json"
_TYPE_NAMES = {pa.string(): "string", pa.int64(): "int64", pa.float64(): "float64"}


def write_hugging_face(path: Path, layout: Layout, tables: Iterable[Any]) -> None:
    """One Arrow stream and two small descriptions. Labels are codes of a ``ClassLabel`` that knows their names."""
    features: dict[str, dict[str, Any]] = {
        field.name: {"dtype": _TYPE_NAMES[field.type], "_type": "Value"} for field in layout.schema
    }
    features["label"] = {"names": [str(name) for name in layout.classes], "_type": "ClassLabel"}
    place = layout.schema.get_field_index("label")
    schema = layout.schema.set(place, pa.field("label", pa.int64()))
    schema = schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    with replacing_folder(path, (_STATE_FILE, _INFO_FILE)) as folder:
        with (folder / _DATA_FILE).open("xb") as file, pa.ipc.new_stream(file, schema) as stream:
            for table in gathered(tables):
                stream.write_table(table.set_column(place, schema.field(place), layout.codes(table)).cast(schema))
        state: dict[str, Any] = {
            "_data_files": [{"filename": _DATA_FILE}],
            "_fingerprint": _fingerprint(folder / _DATA_FILE),
            "_format_columns": None,
            "_format_kwargs": {},
            "_format_type": None,
            "_output_all_columns": False,
            "_split": None,
        }
        information = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
        for name, content in ((_STATE_FILE, state), (_INFO_FILE, information)):
            (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _fingerprint(path: Path) -> str:
    """By this ``datasets`` knows results it has kept, so other contents must not have the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
