"""Features of items: from texts, image files or rows of a table to a matrix on disk.

What is expensive and looks at one item at a time is kept by the digest of the item, so that a run that was cut off goes
on, and one with new or changed items computes those. One process at a time may use a folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from labelsieve.data.embeddings.base import (
    Contents,
    FeatureFile,
    FeatureSettings,
    ItemModel,
    Progress,
    as_bytes,
    digests_of,
    make_folder,
    refuse_other_length,
)
from labelsieve.data.embeddings.matrix_file import MatrixFile
from labelsieve.data.embeddings.record_cache import RecordCache
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array

__all__ = ["Contents", "FeatureFile", "FeatureSettings", "compute"]


def compute(
    kind: Literal["text", "image", "table"],
    contents: Contents,
    folder: Path,
    *,
    settings: FeatureSettings,
    progress: Progress,
) -> FeatureFile:
    """The features of all items, computed as far as they are not there yet.

    Texts and rows of tables (JSON objects) become float32 (n, d); images float32 (n, d), or their pixels, uint8
    (n, h, w) or (n, h, w, 3). ``progress`` is told what is done, how much of it and of how much, every second or two;
    what it raises stops the work, which the next call takes up.
    """
    by_kind = {"text": _texts, "image": _images, "table": _table}
    if kind not in by_kind:
        raise ConfigurationError(f"Features can be made of {', '.join(by_kind)}; got {kind!r}.")
    if not len(contents):
        raise DataError("There must be at least one item to compute features of; there is none.")
    make_folder(Path(folder))
    return by_kind[kind](contents, Path(folder), settings, progress)


def _texts(contents: Contents, folder: Path, settings: FeatureSettings, progress: Progress) -> FeatureFile:
    from labelsieve.data.embeddings import sentence_model

    name = sentence_model.chosen_model(settings.text_model)
    digests, n_characters = digests_of(contents, progress)
    identity = "no model" if name is None else sentence_model.model_identity(name)
    matrix = MatrixFile(folder, "text", f"{settings.svd_dimensions} {identity}", digests)
    if found := matrix.find():
        return found
    cache: RecordCache | None = None
    parts, total, width = [], len(contents), 0
    if name is not None:
        from labelsieve.data.embeddings.per_item import kept_results

        progress("loading the text model", 0, total)
        model: ItemModel = sentence_model.SentenceModel(name, settings.device)
        cache = kept_results(model, contents, digests, folder, as_bytes, "reading texts with the model", progress)
        width = model.shape[0]
        parts = [f"{Path(name).name} {width}"]
    from labelsieve.data.embeddings.tf_idf import TfIdf

    words = TfIdf(contents, n_characters, settings.svd_dimensions, progress)
    return matrix.write(
        _side_by_side(words.rows(contents), cache, digests),
        (total, words.width + width),
        np.dtype(np.float32),
        [f"tf-idf {words.width}", *parts],
        words.note + (f" Beside it, {width} columns of the sentence model {name}." if name else ""),
        lambda done: progress("writing features", done, total),
    )


def _images(contents: Contents, folder: Path, settings: FeatureSettings, progress: Progress) -> FeatureFile:
    from labelsieve.data.embeddings import image_network, images
    from labelsieve.data.embeddings.image_files import ImageFiles
    from labelsieve.data.embeddings.per_item import kept_results, rows_of

    files = ImageFiles(contents, settings.image_root, folder, progress)
    name = images.chosen_model(settings, files)
    total = len(contents)
    pixels = images.Pixels(files) if name == images.PIXELS else None
    matrix = MatrixFile(
        folder, "image", pixels.identity if pixels is not None else image_network.network_identity(name), files.digests
    )
    if found := matrix.find():
        return found
    progress("loading the image model", 0, total)
    model: ItemModel = pixels if pixels is not None else image_network.open_network(name, settings.device)
    cache = kept_results(model, contents, files.digests, folder, files.read, "looking at images", progress)
    parts, note = images.words_for(model, name)
    return matrix.write(
        rows_of(cache, files.digests),
        (total, *model.shape),
        model.dtype,
        parts,
        note,
        lambda done: progress("writing features", done, total),
    )


def _table(contents: Contents, folder: Path, _settings: FeatureSettings, progress: Progress) -> FeatureFile:
    digests, _ = digests_of(contents, progress)
    matrix = MatrixFile(folder, "table", "", digests)
    if found := matrix.find():
        return found
    from labelsieve.data.embeddings.table import TableFeatures

    table = TableFeatures(contents, progress)
    total = len(contents)
    return matrix.write(
        table.rows(),
        (total, table.width),
        np.dtype(np.float32),
        table.parts,
        table.note,
        lambda done: progress("writing features", done, total),
    )


def _side_by_side(chunks: Iterator[Array], cache: RecordCache | None, digests: Array) -> Iterator[Array]:
    """Each row, and what is kept about it."""
    row = 0
    for chunk in chunks:
        refuse_other_length(row + len(chunk), len(digests), at_end=False)
        yield chunk if cache is None else np.hstack([chunk, cache.take(digests[row : row + len(chunk)])])
        row += len(chunk)
