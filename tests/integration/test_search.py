"""A search as people run it: what it measures, what it asks for, what it keeps, and what it survives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.linear_model import LogisticRegression

import labelsieve as ls
from labelsieve.errors import (
    AnnotatorError,
    ConfigurationError,
    DataError,
    LabelError,
    OneClassError,
    SearchError,
    UnseenClassWarning,
)
from labelsieve.search import first_round

X, Y = make_blobs(n_samples=700, centers=4, cluster_std=2.2, random_state=3)
POOL, VALIDATION, HYP = (X[:400], Y[:400]), (X[400:550], Y[400:550]), (X[550:], Y[550:])
C_GRID = {"training": {"common": {"estimator__C": [0.001, 0.1, 10.0]}}}


def search(**settings: Any) -> ls.search.SearchResult:
    chosen = {
        "pool": POOL[0],
        "annotator": ls.SimulatedAnnotator(POOL[1]),
        "validation": VALIDATION,
        "hyp": HYP,
        "classes": 4,
        "seed_size": 40,
        "classifier": "logistic",
        "confidence": "dirichlet",
        "seeds": 3,
        "grid": C_GRID,
        "tolerance": 0.1,
        "progress": False,
    } | settings
    return ls.search(chosen.pop("pool"), chosen.pop("annotator"), **chosen)


def same(one: ls.search.SearchResult, other: ls.search.SearchResult) -> bool:
    """In everything but how much of it was done anew."""
    return one.to_dict() | {"fits": 0} == other.to_dict() | {"fits": 0}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """What each call of ``fit_together`` gave."""
    seen: list[list[Any]] = []
    original = first_round.fit_together

    def spy(requests):
        fitted = original(requests)
        seen.append(fitted)
        return fitted

    monkeypatch.setattr(first_round, "fit_together", spy)
    return seen


def small_mlp() -> ls.classifiers.TorchClassifier:
    return ls.classifiers.TorchClassifier(ls.classifiers.MLP((16,)), epochs=5)


def test_what_comes_out():
    result = search()
    assert set(result.training_parameters) == {"estimator__C"}
    assert set(result.confidence_parameters) == {"l2"}
    assert result.training_parameters["estimator__C"] == result.classifier.estimator.C
    assert result.confidence.l2 == result.confidence_parameters["l2"]
    table = result.table
    assert table.groupby("phase").size().to_dict() == {"training": 3, "confidence": 3}
    assert table.query("chosen")["phase"].tolist() == ["training", "confidence"]
    best = table.query("phase == 'confidence' and chosen").iloc[0]
    assert best["error"] <= 0.1
    assert best["coverage"] == table.query("phase == 'confidence' and error <= 0.1")["coverage"].max()
    assert "highest coverage" in repr(result)
    assert str(result.confidence_parameters) in repr(result)
    run = ls.autolabel(
        POOL[0], ls.SimulatedAnnotator(POOL[1]), classes=4, train_budget=60, thresholds="paper", tolerance=0.1,
        validation=VALIDATION, classifier=result.classifier, confidence=result.confidence, progress=False,
    )  # fmt: skip
    assert run.machine_labels > 0


class RecordingRule(ls.thresholds.PaperRule):
    set_to: list[np.ndarray] = []  # noqa: RUF012

    def _estimate(self, *arguments):
        self.set_to.append(super()._estimate(*arguments))
        return self.set_to[-1].copy()


def test_a_measurement_is_about_the_first_round_that_autolabel_does(calls):
    """Same first batch, same model, same thresholds, for a network and a fitted confidence function."""
    seed = 12345
    RecordingRule.set_to.clear()
    result = search(
        classifier=small_mlp().set_params(epochs=60), training="squentropy", confidence="temperature", seeds=[seed],
        grid="none", thresholds=RecordingRule(),
    )  # fmt: skip
    of_search = RecordingRule.set_to[-1]
    run = ls.autolabel(
        POOL[0], ls.SimulatedAnnotator(POOL[1]), classes=4, tolerance=0.1, train_budget=40, seed_size=40, max_rounds=1,
        validation=VALIDATION, classifier=result.classifier, confidence=result.confidence, thresholds=RecordingRule(),
        random_state=seed, progress=False,
    )  # fmt: skip
    assert calls[0][0].fingerprint() == calls[1][0].fingerprint() == run.rounds[0].model_fingerprint
    assert np.array_equal(of_search, RecordingRule.set_to[-1])
    assert np.isfinite(of_search).any()


def test_only_first_batches_are_asked_for_and_each_point_once():
    annotator = ls.SimulatedAnnotator(POOL[1])
    result = search(annotator=annotator)
    assert len(annotator.asked) == len(set(annotator.asked)) == result.human_labels
    assert 40 < result.human_labels <= 3 * 40


def test_held_out_data_that_were_not_given_are_drawn_and_asked_for():
    annotator = ls.SimulatedAnnotator(POOL[1])
    result = search(annotator=annotator, validation=None, hyp=None, validation_budget=120, hyp_budget=90)
    assert len(annotator.asked) == len(set(annotator.asked)) == result.human_labels
    assert 120 + 90 + 40 < result.human_labels <= 120 + 90 + 3 * 40
    assert result.training.outcomes[0].measurements[0].points == 90


@pytest.mark.parametrize("held_out", [{}, {"validation": None, "hyp": None, "validation_budget": 90, "hyp_budget": 90}])
def test_no_label_that_was_not_asked_for_changes_anything(held_out):
    annotator = ls.SimulatedAnnotator(POOL[1])
    first = search(annotator=annotator, train_budget=100, **held_out)
    scrambled = np.full(len(POOL[1]), 99)
    scrambled[annotator.asked] = POOL[1][annotator.asked]
    assert same(first, search(annotator=ls.SimulatedAnnotator(scrambled), train_budget=100, **held_out))


def test_fits_are_gathered_and_classifiers_shared(calls):
    result = search(chunk_size=4)
    assert [len(fitted) for fitted in calls] == [4, 4, 1, 3, 4, 4, 1]  # 9 classifiers; 3 again; 9 Dirichlets
    assert result.fits == 21
    calls.clear()
    assert same(result, search(chunk_size=64))
    assert [len(fitted) for fitted in calls] == [9, 3, 9]


def test_what_the_cache_knows_is_not_fitted_again(tmp_path, calls):
    first = search(cache=tmp_path)
    assert sum(map(len, calls)) == first.fits == 21
    calls.clear()
    again = search(cache=tmp_path)
    assert calls == []
    assert again.fits == 0
    assert same(first, again)


@pytest.mark.parametrize(
    "change",
    [
        {"tolerance": 0.2},
        {"calibration_fraction": 0.4},
        {"seed_size": 41},
        {"seeds": [1, 2, 3]},
        {"thresholds": ls.thresholds.PaperRule(min_points=12)},
        {"classifier": LogisticRegression(max_iter=999)},
        {"hyp": (HYP[0], np.r_[HYP[1][:-1], (HYP[1][-1] + 1) % 4])},
        {"validation": (VALIDATION[0] + 1e-9, VALIDATION[1])},
        {"classes": 5},
    ],
)
@pytest.mark.filterwarnings("ignore::labelsieve.errors.UnseenClassWarning")
def test_whatever_changes_the_result_is_measured_anew(tmp_path, change):
    small = {"seeds": [7], "grid": "none", "cache": tmp_path, "confidence": "isotonic"}
    assert search(**small).fits == 3
    assert search(**small).fits == 0
    assert search(**small | change).fits == 3 * len(change.get("seeds", [7]))


def test_a_wider_grid_measures_only_what_is_new(tmp_path, calls):
    search(cache=tmp_path, grid={"training": {"common": {"estimator__C": [0.001, 0.1]}}})
    calls.clear()
    assert same(search(cache=tmp_path), search())
    assert len(calls[0]) == 3


def test_values_may_be_objects_and_numbers_of_numpy(tmp_path):
    networks = [ls.classifiers.MLP((8,)), ls.classifiers.MLP((16, 8))]
    grid = {"extends": "none", "training": {"common": {"network": networks, "epochs": list(np.arange(20, 22))}}}
    settings = {"classifier": small_mlp(), "confidence": "softmax", "grid": grid, "cache": tmp_path, "seeds": 1}
    result = search(**settings)
    assert result.training_parameters["network"] in networks
    assert len(json.loads(json.dumps(result.to_dict(), allow_nan=False))["table"]) == 5
    again = search(**settings)
    assert again.fits == 0
    assert same(result, again)


def test_a_damaged_record_is_measured_again(tmp_path):
    first = search(cache=tmp_path)
    records = sorted(tmp_path.glob("*.json"))
    records[0].write_text("", encoding="utf-8")
    records[1].write_text('{"measured": {"points": 3}}', encoding="utf-8")
    again = search(cache=tmp_path)
    assert 2 <= again.fits <= 5  # a Dirichlet brings the training of its seed's classifier with it
    assert same(first, again)


def test_a_combination_that_diverges_fails_and_the_search_goes_on(tmp_path):
    grid = {"extends": "none", "training": {"common": {"learning_rate": [1e30, 0.05]}}}
    result = search(classifier=small_mlp(), confidence="softmax", grid=grid, cache=tmp_path)
    assert result.training_parameters == {"learning_rate": 0.05}
    assert result.table["failed"].tolist() == [0, 3, 0]
    assert "diverged" in result.training.outcomes[0].failure
    assert search(classifier=small_mlp(), confidence="softmax", grid=grid, cache=tmp_path).fits == 0
    assert json.dumps(result.to_dict(), allow_nan=False)


class Sometimes(ls.confidence.ConfidenceFunction):
    """Gives scores that are no numbers, or raises, when told to."""

    def __init__(self, how: str = "well") -> None:
        self.how = how

    def _fit(self, outputs, y):
        if self.how == "raises":
            raise FloatingPointError("overflow")
        if self.how == "no memory":
            raise MemoryError

    def _score(self, outputs):
        if self.how == "cannot score":
            raise ZeroDivisionError("no bins")
        return np.full(len(outputs), np.nan) if self.how == "nan" else outputs.margins


def test_scores_that_are_no_numbers_and_fits_that_raise(calls):
    grid = {"confidence": {"Sometimes": {"how": ["nan", "raises", "well", "cannot score"]}}}
    result = search(confidence=Sometimes(), grid=grid)
    assert result.confidence_parameters == {"how": "well"}
    nan, raises, well, cannot_score = result.post_hoc.outcomes
    assert "not numbers: its training diverged" in nan.failure
    assert raises.failure == "FloatingPointError: overflow"
    assert cannot_score.failure == "ZeroDivisionError: no bins"
    assert well.failure is None


def test_if_all_fail():
    with pytest.raises(SearchError, match=r"all 1 failed. The first: FloatingPointError: overflow"):
        search(confidence=Sometimes("raises"))


def test_what_is_not_the_combination_s_fault_ends_the_search_and_is_not_kept(tmp_path):
    with pytest.raises(MemoryError):
        search(confidence=Sometimes("no memory"), cache=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 9  # the first phase


def test_calibration_that_falls_back_is_counted():
    small = (VALIDATION[0][:20], VALIDATION[1][:20])
    result = search(validation=small, calibration_fraction=0.4, grid="none")
    assert result.table["fallbacks"].tolist() == [0, 3]


def test_ties_are_settled_by_the_seed():
    """Combinations of a parameter that changes nothing tie, all of them."""
    grid = {"confidence": {"dirichlet": {"l2": [0.01], "intercept": [0.1, 0.2, 0.3, 0.4]}}}
    seeds = [1, 2]
    drawn = [search(grid=grid, seeds=seeds, random_state=state).confidence_parameters for state in range(6)]
    assert len({parameters["intercept"] for parameters in drawn}) > 1
    assert drawn == [search(grid=grid, seeds=seeds, random_state=state).confidence_parameters for state in range(6)]


def test_strings_as_classes_and_classes_learned_from_the_answers():
    names = np.array(["a", "b", "c", "d"], dtype=object)
    as_strings = {"annotator": ls.SimulatedAnnotator(names[POOL[1]]), "classes": list(names),
                  "validation": (VALIDATION[0], names[VALIDATION[1]]), "hyp": (HYP[0], names[HYP[1]])}  # fmt: skip
    assert same(search(), search(**as_strings))
    assert search(**as_strings | {"classes": None}).classifier is not None


def test_certified_thresholds_can_be_searched_for():
    result = search(thresholds="certified", tolerance=0.2, grid="none")
    assert result.table["coverage"].max() > 0


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"grid": {"confidence": {"dirichlet": {"l3": [1]}}}}, ConfigurationError, "Dirichlet has no parameter 'l3'"),
        ({"grid": {"confidence": {"dirichlett": {}}}}, ConfigurationError, "got 'dirichlett'"),
        ({"grid": {"confidence": {"dirichlet": {"l2": []}}}}, ConfigurationError, "empty list"),
        ({"grid": {"confidence": {"dirichlet": {"l2": ["x"]}}}}, ConfigurationError, "must be a number; got 'x'"),
        (
            {"grid": {"training": {"common": {"learning_rate": [1]}}}},
            ConfigurationError,
            "no parameter 'learning_rate'",
        ),
        (
            {"confidence": "colander", "grid": {"confidence": {"colander": {"early_stopping": [0.2, 1.5]}}}},
            ConfigurationError,
            "early_stopping must be a share .* got 1.5",
        ),
        ({"seeds": 0}, ConfigurationError, "seeds must be a whole number from 1 on, or a list .* got 0"),
        ({"seeds": []}, ConfigurationError, r"seeds must be .* got \[\]"),
        ({"seeds": "5"}, ConfigurationError, "seeds must be .* got '5'"),
        ({"seeds": [1, 1]}, ConfigurationError, r"differ from each other, .* got \[1, 1\]"),
        ({"chunk_size": 0}, ConfigurationError, "chunk_size must be a whole number from 1 on; got 0"),
        ({"hyp_budget": 0, "hyp": None}, ConfigurationError, "hyp_budget .* got 0"),
        ({"hyp": None, "hyp_budget": 390}, ConfigurationError, "seed_size 40, validation 0 and hyp 390, 430 in all"),
        ({"hyp": HYP[0]}, DataError, r"hyp must be a pair \(X, y\)"),
        ({"hyp": (HYP[0], HYP[1][:9])}, DataError, "hyp needs one label per point; got 150 points and 9 labels"),
        ({"hyp": (HYP[0][:, :1], HYP[1])}, DataError, r"hyp points must have the shape of pool points, \(2,\); got"),
        ({"hyp": (HYP[0], [9] * 150)}, LabelError, "one of the 4 classes .* got 9"),
        ({"executor": "cloud"}, ConfigurationError, "executor must be 'local', 'ray', or an instance .* got 'cloud'"),
        ({"tolerance": 5}, ConfigurationError, "tolerance .* got 5"),
        ({"confidence": "energy"}, ConfigurationError, "needs a network's logits"),
        ({"validation": (X[:20], Y[:20])}, ConfigurationError, "at least 11 validation points"),
    ],
)
def test_refused_before_anything_is_asked_or_trained(settings, error, message, calls):
    annotator = ls.SimulatedAnnotator(POOL[1])
    with pytest.raises(error, match=message):
        search(annotator=annotator, **{"train_budget": 100} | settings)
    assert annotator.asked == calls == []


def test_a_first_batch_of_one_class():
    with pytest.raises(OneClassError, match=r"at least two classes; all 40 answers for seed 5 were 2. Raise seed_size"):
        search(annotator=lambda ids: [2] * len(ids), seeds=[5])


def test_a_class_that_first_batches_lack_is_warned_of_and_never_labelled():
    with pytest.warns(UnseenClassWarning, match="first batches of 3 of 3 seeds lack a class"):
        with_one_more = search(classes=[0, 1, 2, 3, "never seen"], grid="none")
    assert with_one_more.table["coverage"].max() > 0


def test_people_are_not_asked_twice(tmp_path):
    """Neither after a search that was killed (the cache) nor after an annotator that failed (the ledger)."""
    first = search(annotator=lambda ids: POOL[1][ids], cache=tmp_path)

    def nobody(ids):
        raise AssertionError("asked again")

    assert same(first, search(annotator=nobody, cache=tmp_path))

    def tires(ids):
        yield from POOL[1][ids[:25]]
        raise ConnectionError("gone home")

    with pytest.raises(AnnotatorError, match=r"gone home — 25 of the last \d+ labels") as caught:
        search(annotator=tires)
    asked: list[int] = []

    def goes_on(ids):
        asked.extend(ids)
        return POOL[1][ids]

    assert same(first, search(annotator=goes_on, ledger=caught.value.ledger))
    assert len(asked) == first.human_labels - 25


def test_answers_of_a_tired_annotator_are_in_the_cache(tmp_path):
    def tires(ids):
        yield from POOL[1][ids[:25]]
        raise ConnectionError("gone home")

    with pytest.raises(AnnotatorError):
        search(annotator=tires, cache=tmp_path)
    asked: list[int] = []

    def goes_on(ids):
        asked.extend(ids)
        return POOL[1][ids]

    assert search(annotator=goes_on, cache=tmp_path).human_labels == len(asked) + 25


# The command


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("digits")
    x, y = load_digits(return_X_y=True)
    np.save(folder / "x.npy", x[:900])
    np.save(folder / "y.npy", y[:900])
    (folder / "grid.toml").write_text(
        'extends = "none"\n[training.common]\nepochs = [1, 2]\nlearning_rate = [0.003, 0.01]\n'
        f"[confidence.dirichlet]\nl2 = {[0.01 * number for number in range(1, 11)]}\n",
        encoding="utf-8",
    )
    return folder / "x.npy", folder / "y.npy", folder / "grid.toml"


def arguments(digits: tuple[Path, Path, Path], *more: object) -> list[str]:
    x, y, grid = digits
    wanted = [
        "search", "--data", x, "--labels", y, "--grid", grid, "--classifier", "mlp", "--confidence", "dirichlet",
        "--train-budget", 150, "--validation-budget", 200, "--hyp-budget", 200, "--seeds", 2, "--tolerance", 0.1, *more,
    ]  # fmt: skip
    return [sys.executable, "-m", "labelsieve", *map(str, wanted)]


def command(digits: tuple[Path, Path, Path], *more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments(digits, *more), env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


def test_the_command_prints_what_can_be_pasted(digits, tmp_path):
    done = command(digits, "--out", tmp_path / "found.json", "--training", "crl")
    assert done.returncode == 0, done.stderr
    assert "training: 8 fits, 0 of them known" in done.stderr
    assert "8 of 8 fits done" in done.stderr
    record = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert record["python"] in done.stdout
    x, y = np.load(digits[0]), np.load(digits[1])
    names = {"pool": x, "annotator": ls.SimulatedAnnotator(y)}
    exec(record["python"], names)
    assert names["classifier"].learning_rate == record["training_parameters"]["learning_rate"]
    assert type(names["classifier"].training).__name__ == "CRL"
    assert names["confidence"].l2 == record["confidence_parameters"]["l2"]
    assert names["run"].settings["tolerance"] == 0.1
    assert names["run"].settings["seed_size"] == 60


def test_json_alone(digits):
    done = command(digits, "--json")
    record = json.loads(done.stdout, parse_constant=pytest.fail)
    assert set(record["training_parameters"]) == {"epochs", "learning_rate"}
    assert len(record["table"]) == 4 + 10


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--labels", "missing.npy"], "--labels must be a .npy file, as np.save writes it; missing.npy cannot be read"),
        (["--data", "pyproject.toml"], "--data must be a .npy file"),
        (["--grid", "papers"], "grid must be one of 'paper'"),
        (["--confidence", "magic"], "confidence must be one of"),
        (["--validation-budget", "2000"], "must fit into the pool of 900 points"),
        (["--workers", "2"], "--address, --workers and --gpus are for --executor ray"),
        (["--out", "docs"], "--out must name a file, but docs is a folder"),
        (["--threads", "0"], "threads must be a whole number from 1 on; got 0"),
    ],
)
def test_the_command_explains_what_is_wrong(digits, more, message):
    done = command(digits, *more)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a Unix thing")
def test_a_search_that_was_killed_goes_on_where_it_was(digits, tmp_path):
    """Killed for real, twice, in either phase; the winner and every number are those of a search nobody disturbed."""
    undisturbed = json.loads(command(digits, "--json").stdout)
    cache = tmp_path / "cache"
    seen = 0
    for enough in (3, 9):
        going = arguments(digits, "--cache", cache, "--chunk-size", 1)
        process = subprocess.Popen(going, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(list(cache.glob("*.json"))) < enough and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was over before it could be killed"
        seen = len(list(cache.glob("*.json")))
        assert enough <= seen < 4 * 2 + 10 * 2
    resumed = json.loads(command(digits, "--json", "--cache", cache).stdout)
    assert resumed["fits"] <= undisturbed["fits"] - seen
    assert resumed | {"fits": 0} == undisturbed | {"fits": 0}


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"confidence": "auto"}, "Auto learns from training points. Search with confidence='softmax'"),
        ({"training": "semi-supervised"}, "Search with training='vanilla'"),
    ],
)
def test_what_learns_from_other_points_is_refused(methods, message):
    x, y = np.random.default_rng(0).normal(size=(300, 4)), np.arange(300) % 2
    settings = {"classifier": "embedding", "confidence": "softmax", "progress": False} | methods
    with pytest.raises(ls.errors.ConfigurationError, match=message):
        ls.search(
            x[:100], ls.SimulatedAnnotator(y[:100]), validation=(x[100:200], y[100:200]), hyp=(x[200:], y[200:]),
            classes=2, train_budget=50, **settings,
        )  # fmt: skip
