"""The page: self-contained, escaped, and true."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import labelsieve as ls
from labelsieve.reports.page import page_html
from labelsieve.reports.summary import summarise
from labelsieve.reports.wording import percent
from tests.unit.reports.runs import Labelled, label_blobs

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$x_{$", "\x00\x1b]]>", "{{ 7 * 7 }}", "日本"]


class Elements(HTMLParser):
    """Every element with its attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def page(run: ls.Run, y_true: Any = None, title: str = "Test") -> str:
    """The page of a run, without writing it down."""
    return page_html(run, summarise(run, y_true), title)


def read(folder: Path) -> str:
    """A page that was written."""
    return (folder / "report.html").read_text(encoding="utf-8")


def words(html: str) -> str:
    """The text with every run of white space as one plain space."""
    return " ".join(Elements(html).text.replace("\u00a0", " ").split())


def images(html: str) -> list[ET.Element]:
    """All drawings; parsing fails if one is not well-formed."""
    return [ET.fromstring(base64.b64decode(data)) for data in re.findall(r"base64,([\w+/=]+)", html)]


def test_nothing_is_loaded_from_elsewhere(with_truth: Path) -> None:
    html = read(with_truth)
    elements = Elements(html)
    sources = [
        value
        for _, attributes in elements.found
        for name, value in attributes.items()
        if name in {"src", "srcset", "href", "action", "data", "poster"}
    ]
    assert sources
    assert all(source is not None and source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert {"script", "link", "iframe", "object", "base"}.isdisjoint(tag for tag, _ in elements.found)
    assert not re.search(r"https?://|@import|url\(", html)
    for image in images(html):
        links = [element.get("{http://www.w3.org/1999/xlink}href", "#") for element in image.iter()]
        assert all(link.startswith("#") for link in links)


def test_it_can_be_read_without_seeing_it(with_truth: Path) -> None:
    elements = Elements(read(with_truth))
    assert elements.all("html") == [{"lang": "en"}]
    assert len(elements.all("h1")) == 1
    assert elements.all("img")
    assert all(len(image["alt"] or "") > 20 for image in elements.all("img"))


def test_hostile_names_are_text() -> None:
    found = label_blobs(HOSTILE, n=600, validation_budget=200)
    html = page(found.run, y_true=found.truth, title="<b>bold</b> & co")
    elements = Elements(html)
    assert not elements.all("script")
    assert all((source["src"] or "").startswith("data:") for source in elements.all("img"))
    assert "<b>bold</b> & co" in elements.text
    for name in HOSTILE[:3] + HOSTILE[4:]:
        assert name in elements.text
    assert "\x00" not in html
    bars = "".join(images(html)[-1].itertext())
    assert "<script>alert(1)</scrip…" in bars
    assert "$x_{$" in bars
    assert "日本" in bars


def test_error_against_the_truth(labelled: Labelled, with_truth: Path) -> None:
    text = words(read(with_truth))
    evaluation = labelled.run.evaluate(labelled.truth)
    assert evaluation.error is not None
    wrong, machine = len(evaluation.wrong), labelled.run.machine_labels
    verdict = "within" if evaluation.error <= 0.1 else "above"
    assert f"{wrong} of {machine}, against the truth; {verdict} the tolerance of 10 %" in text
    assert percent(evaluation.error).replace("\u00a0", " ") in text
    assert percent(labelled.run.coverage).replace("\u00a0", " ") in text


def test_without_truth_it_says_estimate(labelled: Labelled, without_truth: Path) -> None:
    text = words(read(without_truth))
    held_out = summarise(labelled.run).held_out
    assert "against the truth" not in text.lower()
    assert "The error is an estimate" in text
    assert f"{held_out.wrong} of {held_out.of} held-out points at or above the thresholds" in text


def test_no_error_seen_is_not_zero_percent() -> None:
    found = label_blobs(["a", "b"], spread=0.5)
    assert found.run.machine_labels
    text = words(page(found.run))
    held_out = summarise(found.run).held_out
    assert f"Wrong, estimated 0 seen in {held_out.of}" in text


def test_paper_rule_is_said_to_promise_nothing(labelled: Labelled, without_truth: Path) -> None:
    text = words(read(without_truth))
    weakest = summarise(labelled.run).weakest
    assert weakest is not None
    assert "PaperRule, promises nothing" in text
    assert f"in round {weakest.round_number} rest on {weakest.held_out.of} held-out points" in text


def test_no_machine_labels_is_not_an_error_of_zero(unlabelled: Labelled) -> None:
    for truth in (None, unlabelled.truth):
        text = words(page(unlabelled.run, truth))
        assert "Wrong machine labels no machine labels so there is no error to report" in text
        assert "against the truth;" not in text


def test_a_certificate_about_no_labels_is_none() -> None:
    found = label_blobs(["a", "b"], n=600, spread=50.0, thresholds="certified", train_budget=40, validation_budget=150)
    assert not found.run.machine_labels
    text = words(page(found.run))
    assert "Nothing is promised" in text
    assert "Certified: with" not in text


def test_a_run_without_rounds() -> None:
    found = label_blobs(["a", "b"], n=100, train_budget=40, seed_size=40, validation_budget=60)
    assert not found.run.rounds
    text = words(page(found.run, y_true=found.truth))
    assert "No model was trained" in text
    assert "Round by round" not in text


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("n_classes", [2, 60])
def test_few_and_many_classes(n_classes: int, known: bool) -> None:
    found = label_blobs(range(n_classes), n=2000, spread=1.0, train_budget=300, validation_budget=900)
    html = page(found.run, y_true=found.truth if known else None)
    elements = Elements(html)
    panels = [image for image in elements.all("img") if (image["alt"] or "").startswith("Scores of")]
    assert len(panels) == min(n_classes, 12)
    assert len(images(html)) == 2 * len(elements.all("img"))
    cut = f"of {n_classes} classes with the most labels" in words(html)
    assert cut == (n_classes == 60)
    rows = html.split('id="classes"')[1].count('<th scope="row">')
    assert rows == n_classes


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.05, "5 %"),
        (0.0332, "3.32 %"),
        (0.0504, "5.04 %"),
        (0.99999, "> 99.9 %"),
        (1e-9, "< 0.001 %"),
        (0.0004, "0.04 %"),
    ],
)
def test_percent_never_rounds_to_a_claim(share: float, text: str) -> None:
    assert percent(share) == text.replace(" %", "\u00a0%")


@pytest.mark.filterwarnings("ignore::labelsieve.errors.CalibrationWarning")
def test_a_round_that_fell_back_to_softmax_says_so():
    easy = label_blobs(["a", "b"], spread=0.1, confidence="temperature")
    assert easy.run.rounds[0].confidence_fallback
    assert "Round 1 used plain softmax as confidence: the classifier is right on all 75" in words(page(easy.run))


@pytest.mark.parametrize(("thresholds", "said"), [("certified", "promise allows for"), ("paper", "to be higher")])
def test_an_estimate_from_the_points_thresholds_were_chosen_on(thresholds: str, said: str) -> None:
    found = label_blobs(["a", "b"], n=600, thresholds=thresholds, train_budget=40, validation_budget=150)
    assert found.run.machine_labels
    assert said in words(page(found.run))
