"""Runs side by side often want the very same thing: the first model of a seed, whatever scores it is to get later."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from labelsieve.engine.points import Points
from labelsieve.engine.requests import FitConfidence, ScorePool, TrainClassifier

Step = TrainClassifier | FitConfidence | ScorePool


def performed_by(steps: Mapping[int, Step]) -> dict[int, int]:
    """For each step the number of the one whose result it can have: the first that is the same, or itself."""
    firsts: dict[Hashable, list[int]] = {}
    performers = {}
    for number, step in steps.items():
        alike = firsts.setdefault(_cheap_key(step), [])
        performer = next((first for first in alike if _same(step, steps[first])), None)
        if performer is None:
            alike.append(number)
        performers[number] = number if performer is None else performer
    return performers


def _cheap_key(step: Step) -> Hashable:
    """Steps that are the same have the same; most others do not."""
    match step:
        case TrainClassifier():
            return TrainClassifier, step.seed, step.x.shape
        case ScorePool():
            return ScorePool, id(step.classifier), len(step.rows)
        case FitConfidence():  # what is fitted is what runs differ in
            return FitConfidence, id(step)


def _same(one: Step, other: Step) -> bool:
    match one, other:
        case TrainClassifier(), TrainClassifier():
            return (
                (one.n_classes, one.seed) == (other.n_classes, other.seed)
                and _same_method(one.classifier, other.classifier)
                and np.array_equal(one.y, other.y)
                and np.array_equal(one.x, other.x)
                and np.array_equal(one.unlabelled, other.unlabelled)  # type: ignore[arg-type]
            )
        case ScorePool(), ScorePool():
            return (
                one.classifier is other.classifier
                and not one.confidence.needs_fitting
                and _same_method(one.confidence, other.confidence)
                and _same_method(one.query, other.query)
                and _same_points(one.pool, other.pool)
                and np.array_equal(one.rows, other.rows)
            )
    return False


def _same_points(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, Points) and isinstance(other, Points) and one.same_as(other))


def _same_method(one: Any, other: Any) -> bool:
    """Equal parameters throughout. What cannot be compared is different, which costs time and nothing else."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):  # steps of a pipeline, candidates to choose from
        return len(one) == len(other) and all(map(_same_method, one, other))
    if not isinstance(one, BaseEstimator):
        try:
            return bool(one == other)
        except ValueError:  # arrays
            return False
    ours, theirs = one.get_params(deep=False), other.get_params(deep=False)
    return ours.keys() == theirs.keys() and all(_same_method(ours[name], theirs[name]) for name in ours)
