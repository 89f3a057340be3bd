"""When asking for more training labels pays, by estimates made up for it."""

from __future__ import annotations

import pytest

from labelsieve.engine.stopping import Estimate, asking_pays, reason_to_stop

BATCH = 50


def made(*machine_labels, first=100, within_reach=2000):
    """One estimate per batch."""
    return [
        Estimate(first + BATCH * number, labels, within_reach - BATCH * number)
        for number, labels in enumerate(machine_labels)
    ]


def test_before_anything_is_known_it_pays():
    assert asking_pays([], BATCH)
    assert asking_pays(made(None, None), BATCH)


def test_it_pays_until_a_perfect_model_could_not_make_up_for_the_points_of_a_batch():
    assert asking_pays(made(1949), BATCH)
    assert not asking_pays(made(1950), BATCH)
    assert asking_pays(made(1950), 10)


def test_while_nothing_is_expected_only_more_labels_can_help():
    assert asking_pays(made(*[0.0] * 20), BATCH)
    assert asking_pays(made(*[0.0] * 19, 500), BATCH)


def test_an_estimate_that_rises_goes_on_rising():
    for rounds in range(1, 13):
        assert asking_pays(made(*[200.0 + 10 * number for number in range(rounds)]), BATCH)


def test_an_estimate_that_stays_or_falls_ends_it_once_there_are_enough_of_both():
    """With 500 labels: three from 150 to 250, and five from 300 on."""
    for step in (0, -10):
        ends = [
            rounds
            for rounds in range(1, 12)
            if not asking_pays(made(*[300.0 + step * number for number in range(rounds)]), BATCH)
        ]
        assert ends == [9, 10, 11]


def test_one_low_estimate_does_not_end_it():
    rising = [200.0 + 30 * number for number in range(9)]
    assert asking_pays(made(*rising[:-1], 150.0), BATCH)


def test_rounds_that_had_no_idea_do_not_count():
    assert not asking_pays(made(None, 300, 300, 300, None, None, *[290.0] * 3), BATCH)
    assert asking_pays(made(300, 300, None, 300, *[290.0] * 5), BATCH)
    assert asking_pays(made(300, 300, 300, 300, *[290.0] * 4, None), BATCH)


@pytest.mark.parametrize(
    ("pays", "budget_left", "untrained", "reason"),
    [
        (False, 10, 0, "asking for more labels no longer pays"),
        (False, 10, 5, None),
        (False, 0, 0, "the train budget is used"),
        (True, 10, 0, None),
    ],
)
def test_reasons(pays, budget_left, untrained, reason):
    found = reason_to_stop(
        remaining=100, untrained_labels=untrained, train_budget_left=budget_left, rounds=1, max_rounds=None, pays=pays,
        validation_reason=None,
    )  # fmt: skip
    assert found == reason
