"""A small project whose people are needed."""

from __future__ import annotations

import csv
import random
from pathlib import Path

from labelsieve.cli.main import main

CLASSES = ("animals", "food & drink")
WORDS = {
    "animals": ("cat", "dog", "horse", "whiskers", "paw", "fur", "barks", "meows", "stable", "kitten", "tail"),
    "food & drink": ("bread", "cheese", "soup", "pepper", "oven", "tasty", "recipe", "sugar", "butter", "lemon"),
}


def write_posts(path: Path, n: int = 600) -> dict[str, str]:
    """Short texts of two topics; returns the topics by id."""
    rng = random.Random(0)
    truth = {f"p{number:04d}": rng.choice(CLASSES) for number in range(n)}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["post", "body"])
        for id_, topic in truth.items():
            words = rng.choices(WORDS[topic], k=12)
            writer.writerow([id_, f"<b>{' '.join(words)}</b> “ünïcode” 🙂"])
    return truth


def make_project(folder: Path, posts: Path) -> Path:
    """Asks its first question."""
    arguments = ["--data", str(posts), "--classes", ",".join(CLASSES), "--text", "body", "--id", "post"]
    assert main(["init", str(folder), *arguments, "--train-budget", "40", "--validation-budget", "150"]) == 0
    assert main(["run", str(folder)]) == 0
    return folder


def studio(action: str, folder: Path, *more: object) -> int:
    return main(["label-studio", action, str(folder), *map(str, more)])
