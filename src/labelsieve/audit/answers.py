"""Answers, which are added to and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labelsieve.types import Label


@dataclass(frozen=True)
class Contradiction:
    """A second answer for one id that differs from the first. The first is kept; ``known_from`` is run or audit."""

    id: Any
    kept: Label
    refused: Label
    known_from: str


@dataclass(frozen=True)
class Answers:
    """What the audit's annotators said, by id, and where one of them contradicted what was known."""

    labels: Mapping[Any, Label] = field(default_factory=dict)
    contradictions: tuple[Contradiction, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    def with_answers(
        self, answers: Iterable[tuple[Any, Label]], human: Mapping[Any, Label], asked: Iterable[Any]
    ) -> Answers:
        """These and more. What is known already is compared; what nobody asked for is left out, not being a sample.

        ``human``: labels from before the audit, by id.
        """
        labels, contradictions = dict(self.labels), list(self.contradictions)
        asked = set(asked)
        for id_, label in answers:
            known, known_from = (human.get(id_), "run") if id_ in human else (labels.get(id_), "audit")
            if known is not None and known != label:
                contradiction = Contradiction(id_, known, label, known_from)
                if contradiction not in contradictions:
                    contradictions.append(contradiction)
            elif known is None and id_ in asked:
                labels[id_] = label
        return Answers(labels, tuple(contradictions))
