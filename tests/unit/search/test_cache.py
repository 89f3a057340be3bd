"""Records that are whole or not there, and keys that tell apart what differs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import labelsieve as ls
from labelsieve.errors import ConfigurationError
from labelsieve.registry import create
from labelsieve.search.cache import Cache, described, fingerprint, key_of


def test_a_record_comes_back(tmp_path):
    cache = Cache(tmp_path / "made" / "on the way")
    assert cache.get("a") is None
    cache.put({"a": {"wrong": 3, "failure": None}, "b": {}})
    assert Cache(tmp_path / "made" / "on the way").get("a") == {"wrong": 3, "failure": None}


@pytest.mark.parametrize("content", [b"", b'{"wrong": ', b"\xff\xfe", b"[1, 2]", b"null"])
def test_a_record_that_cannot_be_read_is_missing(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    assert Cache(tmp_path).get("a") is None


def test_without_a_folder_nothing_is_kept():
    cache = Cache(None)
    cache.put({"a": {"wrong": 3}})
    assert cache.get("a") is None


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"cache must name a folder that can be written to; for .*file"):
        Cache(tmp_path / "file")


def test_fingerprints():
    x = np.arange(12.0).reshape(3, 4)
    changed = x.copy()
    changed[2, 3] += 1e-12
    others = [changed, x.reshape(4, 3), x.astype(np.float32), x[:2]]
    assert len({fingerprint(array) for array in [x, *others]}) == 5
    assert fingerprint(x) == fingerprint(np.asfortranarray(x))
    assert fingerprint(x, x[:1]) != fingerprint(x[:1], x)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (create("classifier", "mlp"), create("classifier", "mlp").set_params(weight_decay=0.5)),
        (create("classifier", "mlp"), create("classifier", "mlp-wide")),
        (create("classifier", "mlp"), create("classifier", "mlp").with_training(create("training", "crl"))),
        (create("classifier", "logistic"), create("classifier", "logistic").set_params(estimator__C=3)),
        (create("confidence", "margin"), create("confidence", "entropy")),
    ],
)
def test_another_method_or_parameter_is_another_key(one, other):
    assert key_of(described(one)) != key_of(described(other))


def build(shape, n_classes):
    """A network factory of somebody's own."""


DESCRIBE = (
    "import labelsieve as ls\n"
    "from sklearn.ensemble import RandomForestClassifier\n"
    "from tests.unit.search.test_cache import build, described, key_of\n"
    "print(key_of(described(ls.classifiers.TorchClassifier(build))),"
    " key_of(described(ls.classifiers.SklearnClassifier(RandomForestClassifier()))),"
    " key_of(described(ls.confidence.Colander(alpha=3))))"
)


def test_keys_are_the_same_in_every_process():
    printed = {subprocess.run([sys.executable, "-c", DESCRIBE], capture_output=True, text=True, check=True).stdout
               for _ in range(2)}  # fmt: skip
    assert len(printed) == 1
    assert len(set(printed.pop().split())) == 3


def test_what_has_no_name_in_another_process_is_refused():
    nameless = ls.classifiers.TorchClassifier(lambda shape, k: None)
    with pytest.raises(ConfigurationError, match=r"network=<function .* has no name there.*or search without cache="):
        described(nameless)
