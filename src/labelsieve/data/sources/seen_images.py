"""Points that are what a pretrained network sees in images."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from labelsieve.data.sources.array import copied_chunks
from labelsieve.data.sources.base import Chunks, Source
from labelsieve.errors import DataError
from labelsieve.types import Array, Ints

Progress = Callable[[int, int], None]
_MOST_BYTES = 2**26
"""Of images in memory at once, before they are brought to the size the network looks at."""


class SeenImages(Source):
    """Features of the colour images of another source, one byte per pixel and channel.

    ``look`` computes them all and keeps them in a file without a name, which is gone with this object. Before that, the
    few that somebody wants are computed for them.
    """

    def __init__(self, images: Source, device: str) -> None:
        from labelsieve.data.embeddings import efficientnet

        self._images: Source | None = images
        self._device = device
        self._features: Array | None = None
        self.shape, self.dtype = (images.shape[0], efficientnet.WIDTH), np.dtype(np.float32)
        self.ids = images.ids

    def look(self, progress: Progress) -> None:
        """Once; ``progress`` is told how many of how many images are done."""
        if self._features is not None:
            return
        done, total = 0, self.shape[0]
        progress(done, total)
        with tempfile.TemporaryFile(prefix="labelsieve-") as file:
            for features in self._computed(np.arange(total)):
                try:
                    file.write(features.tobytes())
                    file.flush()
                except OSError as error:
                    raise DataError(
                        f"What the network sees in {total:,} images takes {4 * self.shape[1] * total / 2**20:,.0f} MiB "
                        f"of {tempfile.gettempdir()!r}; the system says: {error.strerror}. Make room there, or let the "
                        "environment variable TMPDIR name a folder that has it."
                    ) from error
                done += len(features)
                progress(done, total)
            self._features = np.memmap(file, dtype=self.dtype, mode="r", shape=self.shape)

    def __getstate__(self) -> dict[str, Any]:
        """To another process goes what is known, and neither the file nor the images."""
        self.look(lambda _done, _total: None)
        assert self._features is not None
        return self.__dict__ | {"_features": np.array(self._features), "_images": None}

    def _chunks(self, rows: Ints, size: int) -> Chunks:
        if self._features is not None:
            yield from copied_chunks(self._features, rows, size)
            return
        for start in range(0, len(rows), size):
            yield np.concatenate(list(self._computed(rows[start : start + size])))

    def _computed(self, rows: Ints) -> Chunks:
        """A batch at a time; of large images, few are in memory as they are."""
        from PIL import Image

        from labelsieve.data.embeddings import efficientnet

        assert self._images is not None
        network = efficientnet.opened(efficientnet.BEST, self._device)
        image_bytes = int(np.prod(self._images.shape[1:]))
        at_once = max(1, min(network.batch_size, _MOST_BYTES // image_bytes))
        fitted: list[Array] = []
        for images in self._images.chunks(rows, at_once):
            fitted += [network.fitted(Image.fromarray(image)) for image in images]
            while len(fitted) >= network.batch_size:
                yield network.see(fitted[: network.batch_size])
                fitted = fitted[network.batch_size :]
        if fitted:
            yield network.see(fitted)
