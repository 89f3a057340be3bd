"""Hyper-parameter search. ``ls.search(...)`` does one: this module can be called.

A package that has a room and a function of one name holds the room under it as soon as any part of the room is
imported. So the room answers for the function.
"""

from __future__ import annotations

import sys
from types import ModuleType

from labelsieve.search.grids import shipped_grids
from labelsieve.search.result import SearchResult
from labelsieve.search.searching import search

__all__ = ["SearchResult", "search", "shipped_grids"]


class _Room(ModuleType):
    __call__ = staticmethod(search)


sys.modules[__name__].__class__ = _Room
