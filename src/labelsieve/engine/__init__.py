"""The loop: ask, train, score, set thresholds, label by machine, ask again."""
