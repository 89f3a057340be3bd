"""A project opened: the one place where settings, data, people and the engine come together.

What only a run or a report needs is imported there: looking at a project must not wait for scikit-learn.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from labelsieve.annotators.agreement import Agreement, measure_agreement
from labelsieve.data.readers import open_data
from labelsieve.data.readers.cells import is_empty
from labelsieve.engine.entries import Asked, Role
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.state import HUMAN
from labelsieve.errors import (
    AnnotatorError,
    ConfigurationError,
    DataError,
    HumansNeeded,
    LabelsieveError,
    LabelsieveWarning,
    ProjectError,
)
from labelsieve.project.config import read_config
from labelsieve.project.labels import label_table
from labelsieve.project.making import CONFIG_FILE, DATABASE_FILE, FEATURES_FOLDER
from labelsieve.project.people import SIMULATED, People, Rehearsal, decisions
from labelsieve.project.status import Status, status_of
from labelsieve.seeding import generator
from labelsieve.store.answers import Answer, Answers
from labelsieve.store.database import Database
from labelsieve.store.items import Items
from labelsieve.store.journal import journalled, replayed
from labelsieve.store.lock import held, holder
from labelsieve.store.reviews import Reviews
from labelsieve.types import Ints, Label

if TYPE_CHECKING:
    from labelsieve.data.pool import Pool
    from labelsieve.engine.progress import Observer
    from labelsieve.engine.run import Run
    from labelsieve.engine.running import RunInProgress
    from labelsieve.reports.summary import Wrong

LOCK_FILE, REPORT_FOLDER = "project.lock", "report"
STOP_REASON = "stop reason"
"""The fact that is there once a run has ended."""
_RUN, _SIMULATED_FROM = "run", "simulated from"


@dataclass(frozen=True, eq=False)
class Outcome:
    """How far a run came; ``needed`` labels from people are missing, None if it has ended.

    ``rehearsed``: wrong machine labels, by the labels that answered in place of people; None if people answer.
    """

    run: Run
    needed: int | None
    rehearsed: Wrong | None = None


@dataclass(frozen=True)
class Kept:
    """How many answers were new, took the place of another by the same person, or were known already."""

    new: int
    changed: int
    known: int

    def in_words(self) -> str:
        return f"{self.new:,} new answers, {self.changed:,} changed ones; {self.known:,} were known"


class Project:
    """Opened for reading; ``run`` takes the lock."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.config = read_config(self.folder / CONFIG_FILE)
        self.database = Database(self.folder / DATABASE_FILE)
        self.items = Items(self.database)
        self.answers = Answers(self.database)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        *,
        simulate: str | None = None,
        progress: bool | Observer = True,
        features_progress: Callable[[str, int, int], None] | None = None,
    ) -> Outcome:
        """Go on until people are needed or the run has ended; ``simulate`` names a column that answers for them.

        ``features_progress`` is told what of the features is being computed, how much of it and of how much.
        """
        from labelsieve.engine.autolabel import all_settings
        from labelsieve.project.budgets import check_budgets

        with held(self.folder / LOCK_FILE, "labelsieve run"):
            annotator = self._people() if simulate is None else self._rehearsal(simulate)
            given = {
                **self.config.labelling.model_dump(),
                "classifier": self._classifier(),
                "classes": self.config.classes,
                "ledger": journalled(self.database),
            }
            check_budgets(self.config, len(self.items))  # features may take hours
            pool = self._pool(features_progress or _quiet)
            begun = self._opened({**all_settings(pool, annotator, given), "progress": progress})
            self._learn_from_what_was_taken_along(begun.ledger)
            self.database.keep_fact(_RUN, json.dumps(dict(begun.facts), default=str))
            if simulate is not None:
                self.database.keep_fact(_SIMULATED_FROM, simulate)
            self.database.forget_fact(STOP_REASON)  # with a larger budget, a run that had ended goes on
            try:
                run = begun.to_the_end()
            except AnnotatorError as error:
                if isinstance(error.__cause__, LabelsieveError) and not isinstance(error.__cause__, HumansNeeded):
                    raise error.__cause__ from None  # the rest is advice for those who call the library
                if not isinstance(error.__cause__, HumansNeeded):
                    raise
                return Outcome(begun.so_far(str(error.__cause__)), error.__cause__.n)
            self.database.keep_fact(STOP_REASON, run.stop_reason)
            return Outcome(run, None, annotator.wrong(run) if isinstance(annotator, Rehearsal) else None)

    def _opened(self, settings: dict[str, Any]) -> RunInProgress:
        from labelsieve.engine.running import open_run

        try:
            return open_run(**settings)
        except ConfigurationError as error:
            if "pool_fingerprint was" not in str(error):
                raise
            raise ProjectError(
                "The data or the settings of the features have changed since the run began. Put them back, or make a "
                "new project."
            ) from error

    def _learn_from_what_was_taken_along(self, ledger: Ledger) -> None:
        """Answers that were there before anybody was asked are for learning; what is checked with is drawn afresh from
        the other items."""
        rows = sorted(decisions(self.answers.table(), self.config.people.overlap))
        if rows and not ledger.state.asked.any():
            ledger.append(Asked(0, Role.TRAIN, np.array(rows), np.ones(len(rows))))

    def so_far(self) -> Run:
        """The run as it stands in the file."""
        from labelsieve.engine.run import Run

        facts = self.database.fact(_RUN)
        if facts is None:
            raise ProjectError(f"Nothing has been run in {self.folder} yet: labelsieve run {self.folder}")
        reason = self.database.fact(STOP_REASON) or "it goes on when people have answered"
        return Run(replayed(self.database), self.items.ids(), reason, json.loads(facts))

    def report(self) -> Path:
        """Write labels.csv, run.json and report.html; returns the page's path. After a rehearsal the labels it answered
        from are the truth, if every item has one."""
        from labelsieve.reports.files import write_report

        title = self.folder.resolve().name
        return write_report(self.so_far(), self.folder / REPORT_FOLDER, y_true=self._rehearsed_truth(), title=title)

    def _rehearsed_truth(self) -> Mapping[str, str] | None:
        """The label of every item, by id; None if people answer, or if not every item has one."""
        column = self.database.fact(_SIMULATED_FROM)
        if column is None:
            return None
        try:
            truth = self._rehearsal(column).truth
        except (LabelsieveError, OSError) as error:  # a report is of the project, whatever became of the data since
            warnings.warn(
                f"The labels of the rehearsal cannot be read, so that the report shows an estimate: {error}",
                LabelsieveWarning,
                stacklevel=2,
            )
            return None
        return truth if all(truth.values()) else None

    def status(self) -> Status:
        answers = self.answers.table()
        decided = decisions(answers, self.config.people.overlap)
        ledger = replayed(self.database)
        return status_of(
            ledger,
            len(self.items),
            set(decided),
            len(answers),
            self.database.fact(STOP_REASON),
            holder(self.folder / LOCK_FILE),
            None if len(ledger) else self._obstacle(),
        )

    def _obstacle(self) -> str | None:
        from labelsieve.project.budgets import check_budgets

        try:
            check_budgets(self.config, len(self.items))
        except ConfigurationError as error:
            return str(error)
        return None

    def agreement(self) -> Agreement | None:
        """How far people agree on items that several have answered; None if there are none."""
        answers = self.answers.table().rename(columns={"row": "item"})
        if not answers["item"].duplicated().any():
            return None
        return measure_agreement(answers[["item", "annotator", "label"]])

    def questions(self) -> pd.DataFrame:
        """Items that people are asked about and have not decided on, as they are handed out: row, id, content."""
        decided = decisions(self.answers.table(), self.config.people.overlap)
        asked = self.asked_rows()
        rows = asked[[row not in decided for row in asked.tolist()]]
        contents = self.items.take(rows)
        return pd.DataFrame(
            {"row": rows, "id": [id_ for id_, _ in contents], "content": [text for _, text in contents]}
        )

    def contents(self, ids: Sequence[str]) -> list[str]:
        """What the items with these ids are, in their order."""
        rows = {id_: self.items.row_of(id_) for id_ in ids}
        unknown = [id_ for id_, row in rows.items() if row is None]
        if unknown:
            raise DataError(f"{unknown[0]!r} is no item of the project in {self.folder}.")
        return [content for _, content in self.items.take(np.array([rows[id_] for id_ in ids], dtype=np.int64))]

    def asked_rows(self) -> Ints:
        """What people are asked about now, decided on or not, in the order in which it is handed out.

        That is random, and always the same for a batch: in a file sorted by class, the last item would tell the next.
        """
        return self.asked_and_labelled()[0]

    def asked_and_labelled(self) -> tuple[Ints, int]:
        """What ``asked_rows`` gives, and how many labels of people a run has taken in."""
        ledger = replayed(self.database)
        state = ledger.state
        draw = generator(self.config.labelling.random_state, "order of handing out", state.rounds_closed)
        return draw.permutation(state.pending()), len(_labelled_rows(ledger))

    def asked_ids(self) -> list[str]:
        """Items that people are asked about now, decided on or not."""
        return [id_ for id_, _ in self.items.take(self.asked_rows())]

    def labelled_ids(self) -> list[str]:
        """Items that people were asked about and whose label a run has taken in."""
        return [id_ for id_, _ in self.items.take(_labelled_rows(replayed(self.database)))]

    def answer(self, answers: Iterable[tuple[str, Label, str]]) -> Kept:
        """Id, label and annotator of each; all are on disk when this returns, or none."""
        ledger = replayed(self.database)
        asked, labelled = set(ledger.state.pending().tolist()), set(_labelled_rows(ledger).tolist())
        checked: dict[tuple[int, str], str] = {}
        for id_, label, annotator in answers:
            row = self.items.row_of(str(id_))
            if label not in self.config.classes:
                raise DataError(f"A label must be one of {list(self.config.classes)}; got {label!r} for {id_!r}.")
            if row in labelled:
                raise DataError(f"The item {id_!r} has its label already: its batch is over. Nothing was kept.")
            if row is None or row not in asked:
                raise DataError(f"Answers are for items that are asked about now; {id_!r} is not one of them.")
            checked[row, annotator] = str(label)
        known = {(row, annotator): label for row, label, annotator, _ in self.answers.table().itertuples(index=False)}
        fresh = [
            Answer(row, label, annotator)
            for (row, annotator), label in checked.items()
            if known.get((row, annotator)) != label
        ]
        self.answers.add(fresh)
        changed = sum((answer.row, answer.annotator) in known for answer in fresh)
        return Kept(len(fresh) - changed, changed, len(checked) - len(fresh))

    def labels(self, *, everything: bool = False, content: bool = False) -> Iterator[pd.DataFrame]:
        """All labels, a part at a time; one that a person has corrected is that person's."""
        answered = self.answers.table()
        names = answered.sort_values("annotator").groupby("row")["annotator"].agg(", ".join)
        corrections = {
            row: review for row, review in Reviews(self.database).latest().items() if review.label is not None
        }
        return label_table(
            replayed(self.database), self.items, names, corrections, everything=everything, content=content
        )

    def _pool(self, progress: Callable[[str, int, int], None]) -> Pool:
        from labelsieve.data.embeddings import compute
        from labelsieve.data.pool import Pool
        from labelsieve.data.readers.arrays import features
        from labelsieve.project.featuring import feature_settings

        data, ids = self.config.data, self.items.ids()
        if data.kind == "features":
            return Pool(features(self._data_path()), ids=ids, as_it_is=True)
        settings = feature_settings(self.config, self.database, self.image_root())
        found = compute(data.kind, self.items, self.folder / FEATURES_FOLDER, settings=settings, progress=progress)
        return Pool(found.path, ids=ids, identity=found.path.name, as_it_is=True)

    def _classifier(self) -> str:
        """By the kind of data, unless the settings name one; images that go in as pixels are for the engine to tell."""
        from labelsieve.engine.suited import EMBEDDINGS

        named = self.config.labelling.classifier
        return EMBEDDINGS if named == "auto" and self.config.data.kind == "text" else named

    def _data_path(self) -> Path:
        path = Path(self.config.data.file)
        return path if path.is_absolute() else self.folder / path

    def image_root(self) -> Path | None:
        """The folder that paths of images start from; None if items are no images."""
        if self.config.data.kind != "image":
            return None
        path = self._data_path()
        return path if path.is_dir() else path.parent

    def _people(self) -> People:
        if SIMULATED in set(self.answers.table()["annotator"]):
            raise ProjectError(
                "This project was begun as a rehearsal: go on with --simulate, or make another for people."
            )
        return People(self.items, self.answers, self.config.people.overlap)

    def _rehearsal(self, column: str) -> Rehearsal:
        data = self.config.data
        if column in (data.text, data.image, data.id) or column in data.columns:
            raise ConfigurationError(
                f"The column to simulate from must not be one that the project uses; {column!r} is. "
                "Make the project without it."
            )
        others = set(self.answers.table()["annotator"]) - {SIMULATED}
        if others:
            raise ProjectError(
                f"{min(others)} has answered in this project; a rehearsal would mix other labels with theirs. "
                "Make a project of its own to rehearse in."
            )
        reader = open_data(self._data_path(), encoding=data.encoding)
        named = data.id or reader.id_column
        ids: list[Any] = []
        labels: list[Any] = []
        for chunk in reader.chunks([column] if named is None else [named, column]):
            ids += range(len(ids), len(ids) + len(chunk)) if named is None else chunk[named].tolist()
            labels += chunk[column].tolist()
        if len(ids) != len(self.items):
            raise DataError(
                f"{reader.path} must have the {len(self.items):,} rows of the project to simulate from; it has "
                f"{len(ids):,}. Let data.file in {self.folder / CONFIG_FILE} name a file that has."
            )
        truth = {str(id_): _as_class(label) for id_, label in zip(ids, labels, strict=True)}
        remedy = (
            f"Simulate from another column than {column!r}, correct it in {reader.path}, or change classes in "
            f"{self.folder / CONFIG_FILE}."
        )
        return Rehearsal(self.items, self.answers, truth, self.config.classes, remedy)


def _labelled_rows(ledger: Ledger) -> Ints:
    state = ledger.state
    return np.flatnonzero(state.asked & (state.source == HUMAN))


def _as_class(label: Any) -> str:
    """As classes are written: 1.0 is the class 1; "" if there is none."""
    if is_empty(label):
        return ""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _quiet(_what: str, _done: int, _total: int) -> None:
    return None
