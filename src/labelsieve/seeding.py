"""Every random draw comes from a generator made of (run seed, purpose, round); nothing is seeded globally."""

from __future__ import annotations

import zlib

import numpy as np


def generator(seed: int, purpose: str, round_number: int = 0) -> np.random.Generator:
    """The generator of one draw: independent of every other purpose and round of the same run."""
    return np.random.default_rng(np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), round_number]))


def integer_seed(seed: int, purpose: str, round_number: int = 0) -> int:
    """The same as an integer, for libraries that take one (scikit-learn accepts 32 bits)."""
    return int(generator(seed, purpose, round_number).integers(2**32))
