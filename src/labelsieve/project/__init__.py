"""A folder with data to label, the people who label them, and everything that has happened so far."""

from __future__ import annotations

from labelsieve.project.project import Project

__all__ = ["Project"]
