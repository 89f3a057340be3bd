"""How the features of a project are made: what "auto" meant when it was first run is what it goes on to mean.

A package installed later, or a better default of a later version, must not change the points of a run that has begun.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labelsieve.data.embeddings import FeatureSettings, images, sentence_model
from labelsieve.project.config import Config
from labelsieve.store.database import Database
from labelsieve.store.journal import replayed

_AUTO = "auto"


def feature_settings(config: Config, database: Database, image_root: Path | None) -> FeatureSettings:
    """The settings, "auto" made definite."""
    chosen, kind = config.features.model_dump(), config.data.kind
    if kind == "text" and chosen["text_model"] == _AUTO:
        chosen["text_model"] = _kept(database, "text model", lambda: sentence_model.chosen_model(_AUTO) or "none")
    if kind == "image" and chosen["image_model"] == _AUTO:
        chosen["image_model"] = _kept(database, "image model", lambda: _meaning_for_images(database))
    return FeatureSettings(**chosen, image_root=image_root, device=_AUTO)


def _meaning_for_images(database: Database) -> str:
    """Projects that were begun before it was kept have what it meant then."""
    return images.AUTO_OF_0_3 if len(replayed(database)) else images.meaning_of_auto()


def _kept(database: Database, fact: str, meaning: Callable[[], str]) -> str:
    kept = database.fact(fact)
    if kept is None:
        kept = meaning()
        database.keep_fact(fact, kept)
    return kept
