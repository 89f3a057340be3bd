"""What a run tells about itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import make_blobs

import labelsieve as ls
from labelsieve.engine.entries import Assigned
from labelsieve.errors import AnnotatorError, ConfigurationError, DataError
from tests.problems import of_unit_length, striped_images


def test_labels_and_evaluation_by_hand(small_run, blobs):
    run = small_run()
    machine = run.labels.query("source == 'machine'")
    wrong = machine["label"].to_numpy() != blobs[1][machine["id"]]
    outcome = run.evaluate(blobs[1])
    assert outcome.error == pytest.approx(wrong.mean())
    assert outcome.coverage == run.coverage == len(machine) / 300
    assert outcome.per_class["machine_labels"].sum() == outcome.per_round["machine_labels"].sum() == len(machine)
    assert outcome.per_class["wrong"].sum() == wrong.sum()
    assert sorted(outcome.wrong["id"]) == sorted(machine["id"][wrong])
    assert list(run.labels.columns) == ["id", "label", "source", "role", "round", "confidence", "threshold"]


def test_a_run_introduces_itself(small_run):
    run = small_run()
    expected = f"Run(300 points: {run.machine_labels} labelled by machine ({run.coverage:.1%}), "
    assert repr(run).startswith(expected + f"{run.human_labels} by humans, in {len(run.rounds)} rounds; ended because")


def test_strings_as_ids_and_labels(blobs):
    x, y = blobs
    ids = [f"row-{i}" for i in range(len(x))]
    names = np.array(["ant", "bee", "cat"])[y]
    run = ls.autolabel(
        ls.Pool(x, ids=ids),
        ls.SimulatedAnnotator(names, ids=ids),
        train_budget=60,
        validation_budget=90,
        progress=False,
        thresholds="paper",
    )
    assert set(run.labels["label"]) == {"ant", "bee", "cat"} == set(run.classes)
    by_array, by_id = run.evaluate(names), run.evaluate(dict(zip(ids, names, strict=True)))
    assert by_array.error == by_id.error
    assert by_array.error < 0.2


def test_strings_beside_numbers_as_labels(blobs):
    x, y = blobs
    names = [("a", 1, "1")[code] for code in y]
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(names), train_budget=60, validation_budget=90, progress=False, thresholds="paper"
    )
    assert set(run.classes) == {"a", 1, "1"}
    plain = ls.autolabel(
        x, ls.SimulatedAnnotator(y), train_budget=60, validation_budget=90, progress=False, thresholds="paper"
    )
    assert run.evaluate(names).error == run.evaluate(dict(enumerate(names))).error == plain.evaluate(y).error


def test_truth_with_gaps(small_run, blobs):
    known = dict(enumerate(blobs[1].tolist()))
    del known[7]
    with pytest.raises(DataError, match="no label for 1 points; the first is 7"):
        small_run().evaluate(known)


def test_answers_by_mapping_and_by_tensor(small_run, blobs):
    by_id = small_run(annotator=lambda ids: {int(id_): int(blobs[1][id_]) for id_ in reversed(ids)})
    by_tensor = small_run(annotator=lambda ids: torch.tensor(blobs[1][ids]))
    assert by_id.labels.equals(small_run().labels)
    assert by_tensor.labels.equals(small_run().labels)


def test_no_machine_labels_no_error(small_run, blobs):
    run = small_run(thresholds=ls.thresholds.PaperRule(min_coverage=1.1))
    assert run.machine_labels == 0
    assert run.evaluate(blobs[1]).error is None
    assert run.stop_reason == "the train budget is used"


def test_truth_of_the_wrong_length(small_run, blobs):
    with pytest.raises(DataError, match=r"one label per point of the pool \(300\); got 299"):
        small_run().evaluate(blobs[1][:-1])


def test_given_validation_is_not_part_of_the_output(blobs):
    x, y = blobs
    run = ls.autolabel(
        x[:200], ls.SimulatedAnnotator(y[:200]), validation=(x[200:], y[200:]), train_budget=40,
        classifier="logistic", progress=False, thresholds="paper",
    )  # fmt: skip
    assert run.human_labels == 40
    assert set(run.labels["role"]) <= {"train", "machine"}
    assert run.rounds[0].threshold_points == 100


def test_auto_picks_by_shape(blobs):
    rng = np.random.default_rng(0)
    for shape, expected in [
        ((3,), "logistic was chosen"),
        ((8, 8), "logistic was chosen"),
        ((20, 20), "ResNet"),
        ((20, 20, 3), "CNN"),
    ]:
        x = rng.normal(size=(60, *shape))
        run = ls.autolabel(
            x,
            lambda ids: ids % 2,
            train_budget=12,
            validation_budget=12,
            max_rounds=1,
            progress=False,
            confidence="softmax",  # trains one network, not five
            thresholds="paper",
        )
        assert expected in run.settings["classifier"]


def test_given_validation_is_thinned_and_certifies_the_last_round():
    x, y = make_blobs(n_samples=1500, centers=3, cluster_std=2.0, random_state=7)
    run = ls.autolabel(
        x[:1000],
        ls.SimulatedAnnotator(y[:1000]),
        validation=(x[1000:], y[1000:]),
        classes=3,
        train_budget=60,
        confidence="evidence",
        stop_early=False,
        progress=False,
    )
    assert [report.train_points for report in run.rounds] == [24, 36, 48, 60]
    assert [report.threshold_points > 0 for report in run.rounds] == [False, False, False, True]
    assert all(report.retired_validation > 0 for report in run.rounds)
    assert sum(report.retired_validation for report in run.rounds) == 500
    assert run.settings["certified"]
    assert run.coverage > 0.2
    assert run.stop_reason == "the labels to check with are used up: each serves one test"


def test_certified_rounds_draw_fresh_labels_and_use_each_once():
    x, y = make_blobs(n_samples=3000, centers=3, cluster_std=2.5, random_state=7)
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(y), train_budget=60, validation_budget=600, certified_rounds=2, progress=False,
        confidence="evidence",
    )  # fmt: skip
    tested = [report.number for report in run.rounds if report.threshold_points]
    assert tested == [3, 4]
    assert [run.rounds[number - 1].threshold_points for number in tested] == [300, 300]
    jobs = [entry.points for entry in run.ledger if isinstance(entry, Assigned) and len(entry.points)]
    assert len(np.unique(np.concatenate(jobs))) == 600
    assert run.settings["certified"]
    assert run.evaluate(y).error <= 0.05


def test_continuing_a_certified_run_spends_delta_only_once():
    x, y = make_blobs(n_samples=3000, centers=3, cluster_std=2.5, random_state=7)
    settings = {"validation_budget": 300, "progress": False}
    run = ls.autolabel(x, ls.SimulatedAnnotator(y), train_budget=60, **settings)
    annotator = ls.SimulatedAnnotator(y)
    more = ls.autolabel(x, annotator, train_budget=200, ledger=run, **settings)
    assert annotator.asked == []
    assert more.labels.equals(run.labels)
    assert more.stop_reason == "the labels to check with are used up: each serves one test"
    with pytest.raises(ConfigurationError, match="over 1 tests"):
        ls.autolabel(x, annotator, train_budget=200, certified_rounds=2, ledger=run, **settings)
    with pytest.raises(ConfigurationError, match="fresh validation labels"):
        ls.autolabel(x, annotator, train_budget=200, validation_reuse="reuse", ledger=run, **settings)


def test_reuse_is_said_not_to_be_certified():
    x, y = make_blobs(n_samples=1500, centers=3, cluster_std=2.0, random_state=7)
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(y), train_budget=60, validation_budget=300, validation_reuse="reuse", progress=False
    )
    assert not run.settings["certified"]
    assert len([report for report in run.rounds if report.threshold_points]) > 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delta": 0}, "delta must lie strictly between 0 and 1"),
        ({"delta": 1.5}, "delta must lie strictly between 0 and 1"),
        ({"validation_reuse": "sometimes"}, "'folds' or 'reuse'; got 'sometimes'"),
        ({"certified_rounds": 0}, "certified_rounds must be a whole number from 1 on"),
        ({"validation_budget": 100}, "at least 118 validation points"),
        ({"thresholds": ls.thresholds.CertifiedRule(delta=0.2)}, "delta=0.2, the run for delta=0.05"),
        ({"thresholds": ls.thresholds.CertifiedRule(groups="some")}, "groups must be .* got 'some'"),
    ],
)
def test_certified_settings_that_cannot_work(settings, message):
    x, y = make_blobs(n_samples=1500, centers=3, random_state=7)
    with pytest.raises(ConfigurationError, match=message):
        ls.autolabel(x, ls.SimulatedAnnotator(y), **{"train_budget": 60, "progress": False} | settings)


def test_truth_in_another_form_is_refused(small_run, blobs):
    with pytest.raises(DataError, match=r"no label that is a class of this run: got '.' \(str\)"):
        small_run().evaluate(blobs[1].astype(str))


def test_the_index_of_a_data_frame_names_the_points(blobs):
    frame = pd.DataFrame(blobs[0], index=[f"row-{i}" for i in range(300)])
    truth = dict(zip(frame.index, blobs[1].tolist(), strict=True))
    run = ls.autolabel(
        frame, ls.SimulatedAnnotator(truth), train_budget=60, validation_budget=90, thresholds="paper", progress=False
    )
    assert run.labels["id"].str.startswith("row-").all()
    assert run.evaluate(truth).error < 0.1


def test_audit_of_a_run(blobs):
    x, y = make_blobs(n_samples=3000, centers=3, cluster_std=1.5, random_state=7)
    run = ls.autolabel(x, ls.SimulatedAnnotator(y), train_budget=60, validation_budget=300, progress=False)
    found = run.audit(ls.SimulatedAnnotator(y), max_labels=800)
    assert found.certified
    assert found.verdict.bound <= 0.05


def test_a_query_that_chooses_badly_is_named(small_run):
    class Few(ls.queries.Random):
        def _select(self, candidates, trained, n, rng):
            chosen = super()._select(candidates, trained, n, rng)
            return ls.queries.Selection(chosen.rows[1:], chosen.probabilities[1:])

    with pytest.raises(ConfigurationError, match=r"Few must choose 12 different rows from 0 to .* it returned 11 rows"):
        small_run(query=Few())


def test_a_score_of_the_wrong_length_is_named(small_run):
    class Short(ls.confidence.Softmax):
        def _score(self, outputs):
            return super()._score(outputs)[:3]

    with pytest.raises(DataError, match=r"Short must give one score per point, shape \(\d+,\); got \(3,\)"):
        small_run(confidence=Short())


def test_validation_labels_beforehand_need_named_classes():
    x, y = make_blobs(n_samples=1500, centers=3, random_state=7)
    with pytest.raises(ConfigurationError, match=r"Name the classes \(classes=...\)"):
        ls.autolabel(x[:1000], ls.SimulatedAnnotator(y[:1000]), validation=(x[1000:], y[1000:]), train_budget=60)


@pytest.mark.parametrize("given", [False, True])
def test_held_out_and_pool_points_are_scored_in_one_pass(given):
    """The last digits of a score depend on its batch; copies of a point must not tell by them who is held out."""

    class OfTheBatch(ls.confidence.Softmax):
        """As if every batch were rounded in its own way; remembers whom it has met."""

        batches: ClassVar[list[np.ndarray]] = []

        def _score(self, outputs):
            self.batches.append(outputs.features[:, 0])
            return super()._score(outputs)

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 3)), rng.integers(2, size=3000)
    x[:, 1] += 3 * y
    x[:, 0] = np.arange(3000) / 3000  # who is who
    settings = {"classes": 2, "train_budget": 40, "validation_budget": 300, "classifier": "logistic", "progress": False}
    if given:
        settings["validation"] = (x[2500:], y[2500:])
    run = ls.autolabel(x[:2500], ls.SimulatedAnnotator(y), confidence=OfTheBatch(), **settings)
    (scored,) = [batch for batch in OfTheBatch.batches if len(batch) > 1000][-1:]
    OfTheBatch.batches.clear()
    n_held_out = run.rounds[-1].threshold_points
    assert len(scored) == run.rounds[-1].machine_labelled + run.rounds[-1].remaining + n_held_out
    if given:  # spread among the pool's, not in a block of their own
        places = np.flatnonzero(np.isin(np.round(np.sort(scored) * 3000), np.arange(2500, 3000)))
        assert len(places)
        in_order = np.argsort(np.argsort(scored))
        outside = np.flatnonzero(in_order >= len(scored) - n_held_out)
        assert outside.min() < 0.1 * len(scored)
        assert np.diff(outside).max() < 0.1 * len(scored)


@pytest.mark.filterwarnings("ignore::labelsieve.errors.UnseenClassWarning")
def test_labels_that_only_held_out_points_have_do_not_shape_the_model():
    """A rare class turns up in validation alone: the model has the outputs it would have had without it."""
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2)) + 4]
    y = np.repeat(["a", "b"], 1000).astype(object)
    settings = {"train_budget": 40, "validation_budget": 400, "classifier": "mlp", "progress": False}
    first = ls.autolabel(x, ls.SimulatedAnnotator(y), **settings)
    held_out = first.labels.loc[first.labels["role"] == "threshold", "id"].to_numpy()
    with_rare = y.copy()
    with_rare[held_out[:3]] = "rare"
    second = ls.autolabel(x, ls.SimulatedAnnotator(with_rare), **settings)
    assert "rare" in second.classes
    assert [r.model_fingerprint for r in second.rounds] == [r.model_fingerprint for r in first.rounds]


def test_looking_for_a_second_class_does_not_cost_the_certified_round():
    rng = np.random.default_rng(0)
    for seed in range(6):
        y = (rng.uniform(size=3000) < 0.12).astype(int)
        x = rng.normal(size=(3000, 2)) + 4 * y[:, None]
        run = ls.autolabel(
            x, ls.SimulatedAnnotator(y), classes=2, train_budget=60, seed_size=5, batch_size=20, validation_budget=400,
            classifier="logistic", random_state=seed, progress=False,
        )  # fmt: skip
        assert sum(report.threshold_points > 0 for report in run.rounds) == 1


def test_interrupted_while_validation_is_asked_for_near_the_end_of_the_pool():
    """Labels that were paid for are used, although asking for them anew would not pay."""
    x, y = make_blobs(n_samples=1500, centers=3, cluster_std=1.0, random_state=7)
    settings = {
        "classes": 3, "train_budget": 100, "validation_budget": 800, "classifier": "logistic", "progress": False,
    }  # fmt: skip
    whole = ls.autolabel(x, ls.SimulatedAnnotator(y), **settings)

    def tired(ids):
        if len(ids) == 800:
            raise RuntimeError("enough for today")
        return y[ids]

    with pytest.raises(AnnotatorError) as caught:
        ls.autolabel(x, tired, **settings)
    resumed = ls.autolabel(x, ls.SimulatedAnnotator(y), ledger=caught.value.ledger, **settings)
    assert whole.machine_labels > 0
    assert resumed.labels.equals(whole.labels)


def test_no_batch_is_asked_for_when_the_next_test_would_not_pay():
    """After the first of two tests 43 points are left, and the second would take 300 labels."""
    x, y = make_blobs(n_samples=1000, centers=3, cluster_std=2.2, random_state=7)
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(y), classes=3, train_budget=100, validation_budget=600, certified_rounds=2,
        classifier="logistic", progress=False,
    )  # fmt: skip
    assert run.rounds[-1].threshold_points == 300
    assert 0 < run.rounds[-1].remaining < 300
    assert run.rounds[-1].queried_next == 0


def test_a_finished_run_that_is_opened_with_other_methods_says_what_it_was_made_with():
    x, y = striped_images(300)
    settings = {"train_budget": 30, "validation_budget": 150, "classes": 3, "progress": False, "classifier": "logistic"}
    run = ls.autolabel(x, ls.SimulatedAnnotator(y), training="semi-supervised", **settings)
    assert "SemiSupervised" in run.settings["classifier"]
    assert "; labels " in run.settings["classifier"]
    again = ls.autolabel(x, ls.SimulatedAnnotator(y), ledger=run, **settings)
    assert len(again.rounds) == len(run.rounds)
    assert again.settings == run.settings


@pytest.mark.parametrize("training", [None, "vanilla"])
def test_embeddings_learn_from_points_without_labels_unless_told_otherwise(training):
    x, y = make_blobs(400, n_features=5, centers=3, random_state=0)
    run = ls.autolabel(
        of_unit_length(x), ls.SimulatedAnnotator(y), classes=3, train_budget=60, validation_budget=150, progress=False,
        **({} if training is None else {"training": training}),
    )  # fmt: skip
    assert ("SemiSupervised" in run.settings["classifier"]) == (training is None)
