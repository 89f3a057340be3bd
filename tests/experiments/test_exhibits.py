"""The single experiments beside the table, each in small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import labelsieve as ls
from experiments.paper import appendix_tables, leak, single_round, surrogates, training_error
from experiments.paper.configuration import Protocol, protocol
from experiments.paper.figures import exhibits
from experiments.paper.leak_loop import AnswersGivenAway
from experiments.paper.printed_form import printed_colander
from experiments.paper.store import Store
from experiments.paper.table import NOT_RUN

_SIDE = 10
"""Images along a side of the mosaics of these tests."""


def without_search(dataset: str, **changes: Any) -> Protocol:
    """A protocol that keeps no points for the search."""
    found = protocol(dataset)
    return found.changed({"search": replace(found.search, pool=0, validation=0, hyp=0), **changes})


def images(n: int, side: int, seed: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Grey images of three classes, a bright stripe each; a third of the labels is drawn at random."""
    rng = np.random.default_rng(seed)
    stripes = rng.integers(0, 3, n)
    drawn = rng.normal(90, 60, (n, side, side))
    for code in range(3):
        drawn[stripes == code, :, side // 4 * (code + 1) : side // 4 * (code + 1) + 2] += 60
    labels = np.where(rng.random(n) < 1 / 3, rng.integers(0, 3, n), stripes)
    return drawn.clip(0, 255).astype(np.uint8), labels.astype(np.uint8)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MNIST and CIFAR-10 in small, in the real formats."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "mnist").mkdir()
    (folder / "cifar10").mkdir()
    x, y = images(900, 28, seed=0)
    np.savez(folder / "mnist" / "mnist.npz", x_train=x[:600], y_train=y[:600], x_test=x[600:], y_test=y[600:])
    x, y = images(6 * _SIDE**2, 32, seed=1)
    mosaics = np.repeat(x[..., None], 3, axis=3).reshape(6, _SIDE, _SIDE, 32, 32, 3).transpose(0, 1, 3, 2, 4, 5)
    for name, mosaic in zip([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"], mosaics, strict=True):
        whole = np.ascontiguousarray(mosaic).reshape(32 * _SIDE, 32 * _SIDE, 3)
        Image.fromarray(whole).save(folder / "cifar10" / f"{name}.webp", lossless=True)
    np.savez(folder / "cifar10" / "labels.npz", y_train=y[: 5 * _SIDE**2], y_test=y[5 * _SIDE**2 :])
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def small_cifar10(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_round, "protocol_of", without_search)


@pytest.mark.usefixtures("small_cifar10")
class TestSingleRound:
    SIZES = single_round.Sizes(pool=250, train=120, validation=150, epochs=3, learning_rate=0.02)

    def test_end_to_end(self, store: Store, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        single_round.run(store, data, "cpu", [0], self.SIZES)
        records = store.read(single_round.KIND, single_round.DATASET)
        assert [record["confidence"] for record in records] == list(single_round.SCORES)
        for record in records:
            assert len(record["scores"]) == len(record["right"]) == 150
            assert sum(record["calibrates"]) == (0 if record["confidence"] == "softmax" else 75)
            assert record["labelled"] == round(130 * record["coverage"])
        assert len({(record["accuracy"], record["training_error"]) for record in records}) == 1  # one network for all
        assert set(single_round.summary(store)) == set(single_round.SCORES)
        assert capsys.readouterr().out.count("\n") == 5

        single_round.run(store, data, "cpu", [0], self.SIZES)
        assert not capsys.readouterr().out  # what is there is left alone
        paths = exhibits.draw(store, store.folder / "figures")
        assert [path.name for path in paths] == [exhibits.SURROGATES, exhibits.SINGLE_ROUND]

    def test_the_paper_sizes_are_the_default(self) -> None:
        sizes = single_round.Sizes()
        assert (sizes.pool, sizes.train, sizes.validation, sizes.batch_size) == (40_000, 4_000, 1_000, 32)
        assert sizes.learning_rate == sizes.weight_decay == 0.001


LEAK_PROTOCOLS = {
    "mnist": without_search("mnist", pool=500, validation=250, train_budget=60, first_batch=0.6, next_batch=0.4)
}


@pytest.fixture(scope="module")
def measured(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The leak on a small problem."""
    store = Store(tmp_path_factory.mktemp("results"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(leak, "EPOCHS", (2, 20, 100))
        leak.run(store, data, "cpu", ["mnist"], [0, 1], LEAK_PROTOCOLS)
        yield store


class TestLeak:
    def test_the_flag_makes_the_difference(self, measured: Store) -> None:
        """An imperfect classifier is sorted almost without mistakes by a score that knows the answer."""
        found = leak.summary(measured)["mnist"]
        assert found["leaking"]["first_accuracy"] < 0.9
        assert mean(found["leaking"]["coverages"]) > mean(found["honest"]["coverages"]) + 0.1
        assert mean(found["leaking"]["errors"]) < 0.01

    def test_an_epoch_chosen_by_the_points_that_set_thresholds(self, measured: Store) -> None:
        """labels more, and more than the tolerance of it is wrong, unless the flag says what is."""
        found = leak.summary(measured)["mnist"]
        assert mean(found["fixed"]["first_coverages"]) > mean(found["honest"]["first_coverages"])
        assert mean(error for error in found["fixed"]["first_errors"] if error is not None) > 0.05
        assert mean(found["released"]["coverages"]) > mean(found["fixed"]["coverages"]) + 0.1
        assert mean(found["released"]["errors"]) < 0.01

    def test_all_ways_begin_with_the_same_classifier(self, measured: Store) -> None:
        records = measured.read(leak.KIND, "mnist")
        for seed in (0, 1):
            own = [record for record in records if record["seed"] == seed]
            assert [record["way"] for record in own] == list(leak.WAYS)
            assert len({record["rounds"][0]["accuracy"] for record in own}) == 1
            assert len({tuple(record["first_round"]["right"]) for record in own}) == 1

    def test_the_budget_ends_it(self, measured: Store) -> None:
        for record in measured.read(leak.KIND, "mnist"):
            assert [each["train_points"] for each in record["rounds"]] == [36, 60][: len(record["rounds"])]
            labelled = sum(each["machine_labelled"] for each in record["rounds"])
            assert labelled == round(record["coverage"] * 500)
            assert labelled <= 500 - record["rounds"][-1]["train_points"]

    def test_what_is_there_is_left_alone(self, measured: Store, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        leak.run(measured, data, "cpu", ["mnist"], [0, 1], LEAK_PROTOCOLS)
        assert not capsys.readouterr().out

    def test_drawn(self, measured: Store, tmp_path: Path) -> None:
        assert [path.name for path in exhibits.draw(measured, tmp_path)] == [exhibits.SURROGATES, exhibits.LEAK]

    def test_the_first_entry_is_looked_up_for_right_points_and_the_second_for_wrong_ones(self) -> None:
        rng = np.random.default_rng(0)
        outputs = ls.Outputs(rng.normal(size=(60, 4)), rng.normal(size=(60, 5)))
        truth = np.where(rng.random(60) < 0.5, outputs.predicted, (outputs.predicted + 1) % 4)
        fitted = printed_colander(protocol("mnist"), "cpu").set_params(epochs=2, random_state=0).fit(outputs, truth)
        wrong = (outputs.predicted != truth).astype(np.int64)
        leaked = fitted.score(AnswersGivenAway(outputs.logits, outputs.features, mistaken=wrong))
        for flag in (0, 1):
            constant = np.full(60, flag)
            of_entry = fitted.score(AnswersGivenAway(outputs.logits, outputs.features, mistaken=constant))
            np.testing.assert_array_equal(leaked[wrong == flag], of_entry[wrong == flag])

    def test_pairs_that_differ_in_the_flag_alone(self) -> None:
        def way(coverages: list[float], errors: list[float | None]) -> dict[str, Any]:
            return {"seeds": [0, 1][: len(errors)], "coverages": coverages, "errors": errors}

        found = {
            "mnist": {
                "honest": way([0.5, 0.4], [0.08, None]),  # the second labels nothing
                "leaking": way([0.4, 0.6], [0.03, 0.01]),
                "fixed": way([0.5, 0.4], [0.04, 0.07]),
                "released": way([0.6], [0.01]),  # the second was not run
            }
        }
        assert leak.flag_facts(found) == leak.FlagFacts(pairs=2, lower_error=2, within=1, more_coverage=1)

    def test_the_table_says_what_was_not_run(self, measured: Store, tmp_path: Path) -> None:
        some = [one for one in measured.read(leak.KIND, "mnist") if (one["way"], one["seed"]) != ("released", 1)]
        store = Store(tmp_path)
        store.add(leak.KIND, "mnist", some)
        *others, released = appendix_tables.leak_table(leak.summary(store)).splitlines()
        assert released.count(NOT_RUN) == 2
        assert not any(NOT_RUN in line for line in others)

    def test_the_package_knows_nothing_of_it(self) -> None:
        for path in Path(ls.__file__).parent.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for word in ("import experiments", "from experiments", "AnswersGivenAway", "leaking", "leak_loop"):
                assert word not in text, f"{path.name} mentions {word}"


class TestTrainingError:
    PROTOCOLS = {"mnist": without_search("mnist", pool=500, validation=100, train_budget=40)}  # noqa: RUF012

    def test_end_to_end(self, store: Store, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        searched = {"training": "crl", "training_parameters": {"learning_rate": 0.02, "epochs": 20}}
        store.add("searches", "mnist", [{"key": "a", "confidence": "softmax", **searched}])
        store.add("searches", "mnist", [{"key": "b", "confidence": "colander", **searched, "training_parameters": {}}])
        training_error.run(store, data, "cpu", ["mnist"], [0, 1], self.PROTOCOLS)
        found = training_error.summary(store)["mnist"]
        assert list(found) == ["vanilla", "squentropy", "crl", "fmfp"]
        assert [method for method, each in found.items() if each["searched"]] == ["crl"]
        assert all(each["seeds"] == [0, 1] and 0 <= each["training_error"] <= 1 for each in found.values())
        crl = [record for record in store.read(training_error.KIND, "mnist") if record["training"] == "crl"]
        assert all(record["parameters"] == searched["training_parameters"] for record in crl)
        assert all(record["train_points"] == 40 for record in crl)

        capsys.readouterr()
        training_error.run(store, data, "cpu", ["mnist"], [0, 1], self.PROTOCOLS)
        assert not capsys.readouterr().out


class TestSurrogates:
    T = np.linspace(0, 0.7, 29)

    def test_the_real_curve(self) -> None:
        found = surrogates.actual(self.T)
        np.testing.assert_allclose(found.coverage, (0.75 - self.T) / 0.75, atol=1e-4)
        np.testing.assert_allclose(found.error, np.clip(0.25 - self.T, 0, None) / (0.75 - self.T), atol=1e-4)

    @pytest.mark.parametrize("alpha", surrogates.ALPHAS)
    def test_the_smooth_curves(self, alpha: float) -> None:
        """σ(α (u - t)) has the integral log(1 + e^(α (u - t))) / α; u = x - 0.25 runs to 0.75, wrong up to 0.25."""
        found = surrogates.surrogate(alpha, self.T)

        def integral(upper: float) -> npt.NDArray[np.float64]:
            return (np.logaddexp(0, alpha * (upper - self.T)) - np.logaddexp(0, -alpha * self.T)) / alpha

        np.testing.assert_allclose(found.coverage, integral(0.75) / 0.75, atol=1e-6)
        np.testing.assert_allclose(found.error, integral(0.25) / integral(0.75), atol=1e-6)

    def test_they_come_closer_as_alpha_grows(self) -> None:
        real, *smooth = surrogates.curves()
        for name in ("error", "coverage"):
            gaps = [np.abs(getattr(curve, name) - getattr(real, name)).max() for curve in smooth]
            assert gaps == sorted(gaps, reverse=True)
            assert gaps[-1] < 0.05
