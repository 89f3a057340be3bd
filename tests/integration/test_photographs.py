"""Colour images go through a network that has seen others, if nobody says what shall learn from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from PIL import Image

import labelsieve as ls
from labelsieve.cli.main import main
from labelsieve.data.embeddings import efficientnet
from labelsieve.engine.autolabel import all_settings
from labelsieve.engine.looking import is_photographs
from labelsieve.engine.progress import Observer
from labelsieve.engine.running import open_run
from labelsieve.errors import AnnotatorError, ConfigurationError, DataError
from labelsieve.project.project import Project

SETTINGS = {"classes": 3, "tolerance": 0.1, "train_budget": 40, "validation_budget": 120, "progress": False}


def scenes(n: int = 400, side: int = 24, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Bright squares, discs and stripes somewhere on a noisy ground, of any colour."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    x = rng.integers(0, 90, size=(n, side, side, 3)).astype(np.uint8)
    across, down = np.meshgrid(np.arange(side), np.arange(side))
    for image, kind in zip(x, y, strict=True):
        left, top = rng.integers(7, side - 7, size=2)
        dx, dy = across - left, down - top
        shape = {
            0: (abs(dx) <= 6) & (abs(dy) <= 6),
            1: dx**2 + dy**2 <= 42,
            2: (abs(dx) <= 6) & (abs(dy) <= 6) & (dy % 3 == 0),
        }[int(kind)]
        image[shape] = rng.integers(150, 256, size=3)
    return x, y


X, Y = scenes()
POOL = ls.Pool(X)
"""What is seen of it is seen once."""


class Told(Observer):
    def __init__(self) -> None:
        self.looked: list[tuple[int, int]] = []

    def looking(self, done: int, total: int) -> None:
        self.looked.append((done, total))


def test_a_run_on_photographs_is_one_on_their_features() -> None:
    told = Told()
    run = ls.autolabel(POOL, ls.SimulatedAnnotator(Y), **SETTINGS | {"progress": told})
    assert (told.looked[0], told.looked[-1]) == ((0, len(X)), (len(X), len(X)))
    assert run.coverage > 0.3
    assert run.evaluate(Y).error <= 0.1
    features = ls.image_features(POOL, progress=False)
    assert features.shape == (len(X), efficientnet.WIDTH)
    by_hand = ls.autolabel(features, ls.SimulatedAnnotator(Y), classifier="kernel", **SETTINGS)
    assert_frame_equal(run.labels, by_hand.labels)


def test_no_label_that_was_not_asked_for_counts() -> None:
    annotator = ls.SimulatedAnnotator(Y)
    run = ls.autolabel(POOL, annotator, **SETTINGS)
    scrambled = (Y + 1) % 3
    scrambled[annotator.asked] = Y[annotator.asked]
    assert_frame_equal(run.labels, ls.autolabel(POOL, ls.SimulatedAnnotator(scrambled), **SETTINGS).labels)


def test_held_out_photographs_are_looked_at_too_and_runs_side_by_side_share_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = []
    see = efficientnet.EfficientNetLite.see
    monkeypatch.setattr(
        efficientnet.EfficientNetLite, "see", lambda self, images: shown.append(len(images)) or see(self, images)
    )
    given = scenes(150, seed=1)
    runs = ls.autolabel_many(
        X, ls.SimulatedAnnotator(Y), [{"random_state": s} for s in (0, 1)], validation=given, **SETTINGS
    )
    assert all(run.rounds for run in runs)
    assert sum(shown) == len(X) + 150 + 2 * 2  # two to see whether a classifier takes such points


def test_a_run_that_was_cut_off_goes_on() -> None:
    asked = []

    def sometimes(ids: np.ndarray) -> np.ndarray:
        asked.append(len(ids))
        if len(asked) == 2:
            raise OSError
        return Y[ids]

    with pytest.raises(AnnotatorError) as stopped:
        ls.autolabel(POOL, sometimes, **SETTINGS)
    run = ls.autolabel(X, ls.SimulatedAnnotator(Y), **SETTINGS, ledger=stopped.value.ledger)
    assert_frame_equal(run.labels, ls.autolabel(POOL, ls.SimulatedAnnotator(Y), **SETTINGS).labels)


def test_a_classifier_that_was_named_sees_the_pixels() -> None:
    with pytest.raises(ConfigurationError, match="network must be a function"):
        ls.autolabel(X, ls.SimulatedAnnotator(Y), **SETTINGS, classifier=lambda shape, _: shape[5])


@pytest.mark.parametrize("methods", [{"training": "crl"}, {"confidence": "energy"}], ids=str)
def test_methods_that_need_a_network_of_the_run_s_own_get_one(methods: dict[str, str]) -> None:
    pool = ls.Pool(X)
    opened = open_run(**all_settings(pool, ls.SimulatedAnnotator(Y), {**SETTINGS, **methods}))
    assert "TorchClassifier" in opened.facts["classifier"]
    assert "points" not in opened.facts
    assert "efficientnet" in open_run(**all_settings(pool, ls.SimulatedAnnotator(Y), SETTINGS)).facts["points"]


def test_held_out_points_of_another_type_are_refused_before_anything_is_looked_at() -> None:
    with pytest.raises(DataError, match="validation points must be of the type of pool points, uint8; got float64"):
        ls.autolabel(X, ls.SimulatedAnnotator(Y), validation=(X / 1.0, Y), **SETTINGS)


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="device must be 'auto', 'cpu' or"):
        ls.image_features(X, device="tpu")


@pytest.mark.parametrize("images", [X[..., 0], X / 255, X[:, :10]], ids=["grey", "not bytes", "tiny"])
def test_what_is_no_photograph_is_refused(images: np.ndarray) -> None:
    with pytest.raises(ConfigurationError, match=r"images must be in colour.*uint8; got"):
        ls.image_features(images)


class TestProjects:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for row, (image, kind) in enumerate(zip(X[:300], Y, strict=False)):
            (tmp_path / "scenes" / f"kind {kind}").mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(tmp_path / "scenes" / f"kind {kind}" / f"{row}.png")
        classes = ["--classes", "kind 0,kind 1,kind 2", "--train-budget", "20", "--validation-budget", "118"]
        assert main(["init", str(tmp_path / "project"), "--data", str(tmp_path / "scenes"), *classes]) == 0
        return tmp_path / "project"

    def features_of(self, folder: Path) -> tuple[int, ...]:
        with Project(folder) as project:
            return project._pool(lambda *_: None).point_shape

    def test_small_photographs_are_looked_at(self, folder: Path) -> None:
        assert self.features_of(folder) == (efficientnet.WIDTH,)
        assert main(["run", str(folder), "--simulate", "folder"]) == 0

    def test_images_that_come_as_numbers_stay_what_they_are(self, tmp_path: Path) -> None:
        """Whoever made the file has chosen; and nothing would keep what was seen from one batch to the next."""
        np.save(tmp_path / "images.npy", X)
        made = ["init", str(tmp_path / "numbers"), "--data", str(tmp_path / "images.npy"), "--classes", "0,1,2"]
        assert main(made) == 0
        assert self.features_of(tmp_path / "numbers") == X.shape[1:]
        with Project(tmp_path / "numbers") as project:
            assert not is_photographs(project._pool(lambda *_: None))

    def test_without_the_network_they_are_their_pixels_and_stay_so(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as without:
            without.setattr(efficientnet, "is_installed", lambda: False)
            assert self.features_of(folder) == (24, 24, 3)
        assert self.features_of(folder) == (24, 24, 3)

    def test_projects_of_earlier_versions_stay_as_they_were(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as before, Project(folder) as project:
            before.setattr("labelsieve.project.featuring._meaning_for_images", lambda _: "pixels")
            project.run(progress=False)
            project.database.forget_fact("image model")
        assert self.features_of(folder) == (24, 24, 3)
        assert main(["run", str(folder)]) == 0
