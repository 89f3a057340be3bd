"""Grids: what ships, what a user's own may say, and what is refused."""

from __future__ import annotations

import pytest

import labelsieve as ls
from labelsieve import registry
from labelsieve.errors import ConfigurationError
from labelsieve.search.grids import combinations, shipped_grids
from labelsieve.search.parameters import check_values


def sizes(grid, classifier="mlp", training="vanilla", confidence="softmax"):
    made = registry.create("classifier", classifier)
    if training != "vanilla":
        made = made.with_training(registry.create("training", training))
    of_classifier, of_confidence = combinations(grid, made, registry.create("confidence", confidence))
    return len(of_classifier), len(of_confidence)


def test_the_paper_s_tables():
    """Numbers of combinations, counted in the appendix: 3 learning rates × 3 weight decays, and so on."""
    assert sizes("paper") == sizes(None) == (9, 1)
    assert sizes("paper", training="crl") == (27, 1)
    assert sizes("paper", training="fmfp") == (9, 1)
    fitted_in_a_search = [
        name for name in registry.names("confidence") if not registry.create("confidence", name).training_folds
    ]
    by_name = {name: sizes("paper", confidence=name)[1] for name in fitted_in_a_search}
    assert by_name == {
        "softmax": 1, "temperature": 9, "top-label-binning": 2, "scaling-binning": 2, "dirichlet": 3, "colander": 36,
        "margin": 1, "entropy": 1, "energy": 1, "isotonic": 1,
    }  # fmt: skip


def test_the_other_grids():
    assert sizes("tiny-imagenet") == (36, 1)
    assert sizes("tiny-imagenet", confidence="colander") == (36, 36)
    extended = shipped_grids()["extended"]["confidence"]["colander"]
    assert {0.01, 0.1, 1.0, 10.0, 50.0} == set(extended["alpha"])
    default = ls.confidence.Colander()
    assert default.penalty in extended["penalty"]
    assert default.learning_rate in extended["learning_rate"]
    assert default.alpha in extended["alpha"]


@pytest.mark.parametrize("name", shipped_grids())
def test_shipped_values_pass_their_own_checks(name):
    for group, methods in shipped_grids()[name].items():
        for method, parameters in methods.items():
            created = registry.create(*("classifier", "mlp") if method == "common" else (group, method))
            for parameter, values in parameters.items():
                check_values(created, parameter, values, method)


def test_values_of_one_s_own_replace_the_shipped_ones():
    grid = {"training": {"common": {"learning_rate": [0.05]}}, "confidence": {"colander": {"alpha": [10, 50]}}}
    assert sizes(grid, confidence="colander") == (3, 24)
    assert sizes({"extends": "none", **grid}, confidence="colander") == (1, 2)
    assert sizes({"extends": "tiny-imagenet", **grid}) == (12, 1)
    assert sizes("none", training="crl", confidence="colander") == (1, 1)


def test_a_classifier_that_is_no_network_stays_as_it_is_unless_told():
    assert sizes("paper", classifier="logistic") == (1, 1)
    assert sizes({"training": {"common": {"estimator__C": [0.01, 0.1, 1.0]}}}, classifier="logistic") == (3, 1)


def test_parameters_of_the_train_time_method_are_parts_of_the_classifier():
    classifier = registry.create("classifier", "mlp").with_training(registry.create("training", "crl"))
    (first, *_), _ = combinations("paper", classifier, ls.confidence.Softmax())
    assert classifier.set_params(**first).training.rank_weight == first["training__rank_weight"] == 0.7


def test_a_method_nobody_registered_goes_by_its_class():
    class Mine(ls.confidence.ConfidenceFunction):
        def __init__(self, sharpness: float = 1.0) -> None:
            self.sharpness = sharpness

        def _score(self, outputs):
            return outputs.margins * self.sharpness

    grid = {"confidence": {"Mine": {"sharpness": [1, 2, 3]}}}
    assert len(combinations(grid, registry.create("classifier", "logistic"), Mine())[1]) == 3


def test_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "extended"\n[confidence.colander]\npenalty = [5.0]\n', encoding="utf-8")
    assert sizes(file, confidence="colander") == sizes(str(file), confidence="colander") == (9, 45)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (
            "papers",
            r"one of 'paper', 'tiny-imagenet', 'extended', the path of a .toml file, or a mapping .*got 'papers'",
        ),
        (7, "grid must be one of .* got 7"),
        ("missing.toml", "missing.toml cannot be read"),
        ({"extends": "all"}, "extends one of 'paper', .* or 'none' to begin with nothing; got 'all'"),
        ({"extends": ["paper"]}, r"extends one of .* got \['paper'\]"),
        ({"posthoc": {}}, "groups 'training' and 'confidence', .* got 'posthoc'"),
        ({"confidence": {"collander": {}}}, "one of 'softmax', 'temperature'.* got 'collander'"),
        ({"training": {"adam": {}}}, "one of 'vanilla', .*'common'; got 'adam'"),
        ({"confidence": {"colander": {"lambda": [1]}}}, "Colander has no parameter 'lambda'; it has 'alpha'.*Correct"),
        ({"training": {"common": {"lr": [1]}}}, "TorchClassifier has no parameter 'lr'; it has .*'learning_rate'"),
        ({"confidence": {"dirichlet": {"L2": [1]}}}, "Dirichlet has no parameter 'L2'"),  # although not in use
        ({"confidence": {"colander": {"alpha": []}}}, "alpha must have at least one value; got an empty list. Leave"),
        ({"confidence": {"colander": {"alpha": 10}}}, r"a list of values to try; got 10. For one value, write \[10\]"),
        ({"confidence": {"colander": {"alpha": ["10"]}}}, r"alpha must be a number; got '10' \(str\)"),
        ({"confidence": {"colander": {"alpha": [True]}}}, r"alpha must be a number; got True \(bool\)"),
        ({"confidence": {"colander": {"alpha": [float("nan")]}}}, "alpha must be a number; got nan"),
        ({"confidence": {"colander": {"epochs": [2.5]}}}, r"epochs must be a whole number; got 2.5 \(float\)"),
        ({"confidence": {"colander": {"batch_size": ["all"]}}}, "batch_size must be a whole number or None; got 'all'"),
        ({"confidence": {"colander": {"features": ["all"]}}}, "'prelogits' or 'evidence'; got 'all'"),
        ({"confidence": {"colander": {"per_class": [1]}}}, r"per_class must be true or false; got 1 \(int\)"),
        ({"confidence": {"colander": {"alpha": [1.0, 2.0, 1.0]}}}, r"each value once; got \[1.0, 2.0, 1.0\]"),
        ({"confidence": {"colander": [1]}}, r"confidence.colander: expected a table .* got \[1\]"),
        ({"confidence": 3}, "confidence: expected a table .* got 3"),
    ],
)
def test_refused(grid, message):
    with pytest.raises(ConfigurationError, match=message):
        sizes(grid, confidence="colander")


def test_a_broken_file(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text("[confidence.colander\n", encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=r"TOML file such as docs/search.md shows; .*broken.toml cannot be read"
    ):
        sizes(file)
