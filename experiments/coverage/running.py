"""Runs with the paper's pools, validation data and budgets, under the certified rule."""

from __future__ import annotations

import gzip
import json
import time
import tomllib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import labelsieve as ls
from experiments.paper.configuration import TOLERANCE, Protocol, protocol
from experiments.paper.datasets import Division, Points, division, load
from experiments.paper.store import Record, Store, key_of
from experiments.paper.unfinished import Unfinished
from labelsieve.data.embeddings import efficientnet
from labelsieve.errors import LabelsieveWarning
from labelsieve.expectation import area_under_risk
from labelsieve.registry import create

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
_DIRECTIONS = 400
_WORDS, _SEEN = "words beside embeddings", "what a pretrained network sees"
"""Of settings.toml: features that are made here."""
_CURVE_POINTS = 100


@dataclass(frozen=True)
class Dataset:
    """``classifier``: the paper's for images, the product's for features. ``default``: the variant the product takes
    unless told otherwise. ``features``: what a point is, if not what experiments/paper has. ``better_network``,
    ``semi_supervised`` and ``as_it_comes``: keywords for variants that want them. ``parameters``: of methods, by name,
    where they are not the package's own. ``aim``: coverage to reach. ``train_share``: how much of the budget to train
    may be spent."""

    name: str
    title: str
    paper: str
    classifier: str
    default: str
    features: str | None = None
    better_network: dict[str, Any] = field(default_factory=dict)
    as_it_comes: dict[str, Any] = field(default_factory=dict)
    semi_supervised: dict[str, Any] = field(default_factory=lambda: {"training": "semi-supervised"})
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    aim: float | None = None
    train_share: float = 1.0

    def has(self, variant: str) -> bool:
        """Not those that only differ by a better network, where there is none, or that are for rows of numbers."""
        wanted = variants()[variant]
        if "as_it_comes" in wanted:
            return bool(self.as_it_comes)
        is_for_this = "classifier" not in wanted or self.classifier == "embedding"
        return is_for_this and (
            bool(self.better_network) or "better_network" not in wanted or "semi_supervised" in wanted
        )


def settings() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "settings.toml").read_text(encoding="utf-8"))


def datasets() -> dict[str, Dataset]:
    return {name: Dataset(name, **own) for name, own in settings()["datasets"].items()}


def variants() -> dict[str, dict[str, Any]]:
    return dict(settings()["variants"])


def numbers_of_points() -> dict[str, int]:
    """How many each dataset of the paper has, by its name."""
    return dict(settings()["points"])


def run(
    names: Sequence[str],
    chosen: Sequence[str],
    seeds: Sequence[int],
    store: Store,
    data: Path,
    device: str,
    unfinished: Unfinished,
) -> None:
    """Run what the store does not have, all seeds side by side: networks that can be trained as one are. What was cut
    off goes on."""
    for dataset in (datasets()[name] for name in names):
        of_paper = protocol(dataset.paper)
        known = {record["key"] for record in store.read("runs", dataset.name)}
        own = [variant for variant in chosen if dataset.has(variant)]
        divided = cache(partial(_divided, dataset, of_paper, data))
        for together in _with_models_in_common(dataset, own):
            missing = [
                (variant, seed)
                for seed in seeds
                for variant in together
                if _key(dataset, of_paper, variant, seed) not in known
            ]
            if not missing:
                continue
            parts = {seed: divided(seed) for _, seed in missing}
            records = _records(dataset, of_paper, missing, parts, device, unfinished)
            store.add("runs", dataset.name, records)
            unfinished.forget(record["key"] for record in records)
            for record in records:
                error = "–" if record["error"] is None else f"{record['error']:.1%}"
                took = "went on" if record["seconds"] is None else f"{record['seconds']:.0f} s"
                print(
                    f"{dataset.title}: {record['variant']}, seed {record['seed']}: {record['coverage']:.1%} at an "
                    f"error of {error}, {took}",
                    flush=True,
                )


def _with_models_in_common(dataset: Dataset, chosen: Sequence[str]) -> list[list[str]]:
    """Variants that differ in their confidence function alone, side by side: they share every classifier."""
    groups: dict[str, list[str]] = {}
    for variant in chosen:
        own = {name: value for name, value in _keywords(dataset, variant).items() if name != "confidence"}
        own.pop("parameters", None)  # of the confidence function
        groups.setdefault(repr(sorted(own.items())), []).append(variant)
    return list(groups.values())


def _key(dataset: Dataset, of_paper: Protocol, variant: str, seed: int) -> str:
    sizes = (of_paper.pool, of_paper.validation, of_paper.train_budget)
    data = {"paper": dataset.paper, "features": dataset.features, "sizes": sizes}
    return key_of({**data, "keywords": _keywords(dataset, variant), "seed": seed})


def _keywords(dataset: Dataset, variant: str) -> dict[str, Any]:
    """Of ls.autolabel; beside them the parameters of methods, and shares of the train budget: what is spent of it, and
    what of that in the first batch and in each later one."""
    own = {"classifier": dataset.classifier} | variants()[variant]
    if dataset.train_share != 1:
        own["train_share"] = dataset.train_share * own.get("train_share", 1)
    if own.pop("better_network", False):
        own |= dataset.better_network
    if own.pop("semi_supervised", False):
        own |= dataset.semi_supervised
    if own.pop("as_it_comes", False):
        own |= dataset.as_it_comes
    used = {
        name: dataset.parameters[name] for name in own.values() if isinstance(name, str) and name in dataset.parameters
    }
    return own | ({"of_methods": used} if used else {})


def _records(
    dataset: Dataset,
    of_paper: Protocol,
    wanted: Sequence[tuple[str, int]],
    divided: dict[int, Division],
    device: str,
    unfinished: Unfinished,
) -> list[Record]:
    """Of variants and seeds side by side; ``seconds`` are shared evenly, and null where runs had begun before."""
    started = time.perf_counter()
    pools = {seed: (ls.Pool(parts.pool.x), ls.Pool(parts.validation.x)) for seed, parts in divided.items()}
    own = [
        {
            **_own_settings(dataset, of_paper, variant),
            "pool": pools[seed][0],
            "annotator": ls.SimulatedAnnotator(divided[seed].pool.y),
            "validation": (pools[seed][1], divided[seed].validation.y),
            "random_state": seed,
            "ledger": unfinished.ledger(_key(dataset, of_paper, variant, seed)),
        }
        for variant, seed in wanted
    ]
    had_begun = any(len(settings["ledger"]) for settings in own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelsieveWarning)
        runs = ls.autolabel_many(
            None,
            None,
            own,
            classes=1 + max(int(parts.pool.y.max()) for parts in divided.values()),
            tolerance=TOLERANCE,
            device=device,
            progress=False,
        )
    seconds = round((time.perf_counter() - started) / len(wanted), 1)
    return [
        {
            "key": _key(dataset, of_paper, variant, seed),
            "dataset": dataset.name,
            "variant": variant,
            "seed": seed,
            **_measured(run, divided[seed].pool.y),
            "seconds": None if had_begun else seconds,
            "version": ls.__version__,
        }
        for (variant, seed), run in zip(wanted, runs, strict=True)
    ]


def _own_settings(dataset: Dataset, of_paper: Protocol, variant: str) -> dict[str, Any]:
    """Of ls.autolabel, methods with their parameters."""
    own = {"training": "vanilla", "stop_early": False} | _keywords(dataset, variant)
    of_methods = own.pop("of_methods", {})
    of_methods[own["confidence"]] = own.pop("parameters", {})
    for group in ("classifier", "training", "confidence"):
        if of_methods.get(own.get(group)):
            own[group] = create(group, own[group]).set_params(**of_methods[own[group]])
    own["train_budget"] = round(own.pop("train_share", 1) * of_paper.train_budget)
    for share, size in (("first_share", "seed_size"), ("next_share", "batch_size")):
        if share in own:
            own[size] = round(own.pop(share) * own["train_budget"])
    return own


def _measured(run: ls.Run, truth: np.ndarray[Any, Any]) -> Record:
    found, last = run.evaluate(truth), run.rounds[-1]
    return {
        "coverage": round(found.coverage, 6),
        "error": None if found.error is None else round(found.error, 6),
        "machine_labels": run.machine_labels,
        "wrong": len(found.wrong),
        "human_labels": run.human_labels,
        "threshold_points": last.threshold_points,
        "right": round(float(last.held_out.correct.mean()), 6),
        "augrc": round(area_under_risk(last.held_out.scores, last.held_out.correct), 6),
        "risk_curve": _risk_curve(last.held_out),
        "choice": last.confidence_choice,
    }


def _risk_curve(held_out: Any) -> list[float]:
    """Error of the surest 1 %, 2 %, ... of the points the thresholds were set on."""
    errors = np.cumsum(~held_out.correct[np.argsort(-held_out.scores, kind="stable")])
    taken = np.ceil(np.arange(1, _CURVE_POINTS + 1) / _CURVE_POINTS * len(errors)).astype(int)
    return [round(float(errors[n - 1] / n), 5) for n in taken]


def _divided(dataset: Dataset, of_paper: Protocol, data: Path, seed: int) -> Division:
    points = load(dataset.paper, data)
    if dataset.features == _SEEN:
        points = Points(seen(points, dataset.paper), points.y)
    if dataset.features != _WORDS:
        return division(points, of_paper, seed)
    rows = division(Points(np.arange(len(points)), points.y), of_paper, seed)
    both = np.concatenate([rows.pool.x, rows.validation.x]).astype(np.int64)
    beside = np.hstack([points.x[both].astype(np.float32), words(data, dataset.paper, tuple(both.tolist()))])
    return Division(Points(beside[: len(rows.pool)], rows.pool.y), Points(beside[len(rows.pool) :], rows.validation.y))


def seen(points: Points, name: str) -> Any:
    """What a pretrained network sees in these images, kept once it has looked."""
    network = efficientnet.installed_identity(efficientnet.BEST).replace(" ", "-")
    kept = FOLDER / "cache" / f"{name}-{network}-{joblib.hash(points.x)}.npy"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        features = ls.image_features(points.x)
        part = kept.with_suffix(".part.npy")
        np.save(part, features)
        part.rename(kept)
    return np.load(kept)


def words(data: Path, name: str, rows: tuple[int, ...]) -> Any:
    """The package's own text features, learned from the texts of pool and validation data alike."""
    from labelsieve.data.embeddings.tf_idf import TfIdf

    texts = _Texts([_posts(data / name)[row] for row in rows])
    words = TfIdf(texts, sum(map(len, texts.texts)), _DIRECTIONS, lambda *_: None)
    return np.concatenate(list(words.rows(texts)))


@dataclass(frozen=True)
class _Texts:
    texts: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def chunks(self, start: int = 0, size: int = 1000) -> Any:
        for first in range(start, len(self.texts), size):
            yield self.texts[first : first + size]


@cache
def _posts(folder: Path) -> list[str]:
    posts = []
    for part in ("train", "test"):
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
            posts += [json.loads(line)["text"] for line in lines]
    return posts
