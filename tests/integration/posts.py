"""A file of short texts, and projects made of it with the command line."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pandas as pd

from labelsieve.cli.main import main

CLASSES = ("animals", "food", "travel")
WORDS = {
    "animals": ["cat", "dog", "horse", "whiskers", "paw", "fur", "barks", "meows", "stable", "kitten", "puppy", "tail"],
    "food": [
        "bread",
        "cheese",
        "soup",
        "pepper",
        "oven",
        "tasty",
        "recipe",
        "sugar",
        "butter",
        "lemon",
        "dinner",
        "plate",
    ],
    "travel": [
        "train",
        "plane",
        "ticket",
        "hotel",
        "beach",
        "map",
        "passport",
        "luggage",
        "island",
        "tour",
        "museum",
        "station",
    ],
}


def write_posts(path: Path, n: int = 900) -> Path:
    """Short texts of three topics, with an id, a number and the truth."""
    rng = random.Random(0)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["post", "body", "likes", "topic"])
        for number in range(n):
            topic = rng.choice(CLASSES)
            words = [rng.choice(WORDS[topic if rng.random() < 0.8 else rng.choice(CLASSES)]) for _ in range(20)]
            writer.writerow([f"p{number:04d}", f"<b>{' '.join(words)}</b>", rng.randrange(50), topic])
    return path


def made(folder: Path, posts: Path, *more: str) -> Path:
    arguments = ["init", str(folder), "--data", str(posts), "--classes", ",".join(CLASSES), "--text", "body"]
    options = ["--id", "post", "--train-budget", "80", "--validation-budget", "150"]
    assert main([*arguments, *options, *more]) == 0
    return folder


def exported(folder: Path, *more: str) -> pd.DataFrame:
    out = folder / "labels.csv"
    assert main(["export", str(folder), "--out", str(out), *more]) == 0
    return pd.read_csv(out, dtype={"id": str})
