"""What a plan rests on and what it comes to, in sentences."""

from __future__ import annotations

from labelsieve.planner.budgets import Budgets, least_budget
from labelsieve.planner.result import Basis, Case, Status, Verdict
from labelsieve.planner.scenarios import ASSUMED_ACCURACY, ASSUMED_AUROC, SCENARIOS
from labelsieve.planner.settings import PlanSettings


def assumptions(
    settings: PlanSettings, basis: Basis, pilot_accuracy: float | None, pilot_points: int | None
) -> tuple[str, ...]:
    """Everything the forecast takes for granted; the second says what it knows of the classifier."""
    auroc = f"{ASSUMED_AUROC[0]:g} to {ASSUMED_AUROC[1]:g}"
    known = {
        "assumptions": f"No pilot: accuracy anywhere from {_percent(ASSUMED_ACCURACY[0])} to "
        f"{_percent(ASSUMED_ACCURACY[1])}, and scores that tell right from wrong with an AUROC of {auroc}. Both are "
        "guesses; a pilot of 100 labelled points narrows the range.",
        "pilot accuracy": f"Accuracy of {_percent(pilot_accuracy or 0)}, taken as exact; scores that tell right from "
        f"wrong with an AUROC of {auroc}, a guess. A pilot with scores would replace it.",
        "pilot": f"Accuracy and AUROC as in the pilot of {pilot_points or 0:,} points, with the uncertainty of so few "
        f"({SCENARIOS} bootstrap samples). The final classifier is taken to be as good as the pilot's; the pilot's "
        "own labels are not counted.",
    }
    return (
        "A forecast, not a promise: if the rest of this list holds, 90 of 100 runs end between low and high.",
        known[basis],
        "Scores of right and of wrong predictions are bell-shaped with equal spread (binormal model).",
        "One certified round with one threshold for all classes, tested as a run with the default settings tests it"
        + (f", with {settings.candidates} candidates" if settings.candidates else "")
        + "; every validation label serves the threshold, and the confidence function knows what coverage to expect. "
        "More rounds, or a function that learns from validation labels or expects the wrong thing, leave less.",
        "Validation points are a random part of the pool, and human labels are right. What more training labels do "
        "for accuracy is not modelled.",
        "Per class: classes of equal size.",
        "An audit asks at random, looks often, has its own delta and keeps none of it for rollback; in the low, "
        "middle and high case a half, a third and none of the tolerance is wrong.",
        "Labels saved are machine labels less the audit: points that nobody labels by machine are labelled by hand.",
    )


def verdict(
    settings: PlanSettings, budgets: Budgets, basis: Basis, support: int | None, cases: tuple[Case, Case, Case]
) -> Verdict:
    """Does it pay? ``support``: validation points needed at the very least; ``cases`` from low to high."""
    low, middle, high = (case.labels_saved for case in cases)
    if support is None:
        return Verdict("cannot", (_pool_too_small(settings),))
    if budgets.recommended_validation is None:
        return Verdict("cannot", (_never(settings, support),))
    if budgets.validation < support:
        return Verdict("cannot", (_too_few(settings, budgets, support),))
    share = f"{_percent(low / settings.pool_size)} to {_percent(high / settings.pool_size)}"
    saving = f"{low:,} to {high:,} labels saved ({share} of the pool), {middle:,} in the middle case"
    spent = budgets.train + budgets.validation + cases[1].audit_labels
    status: Status = "doubtful"
    if high == 0:
        reasons = [_nothing_saved(budgets, support, cases[2])]
    elif middle < spent:
        reasons = [
            f"Auto-labelling may pay: {saving}. But training, validation and audit take {spent:,} labels, more than "
            "the middle case saves: labelling everything by hand is a serious alternative."
        ]
    elif low == 0:
        status = "likely"
        reasons = [f"Auto-labelling will probably pay, but may save nothing: {saving}."]
    else:
        status = "pays"
        reasons = [f"Auto-labelling is forecast to pay: {saving}."]
    if status != "pays" and basis != "pilot":
        reasons.append("Little is known yet: label a pilot of 100 points or more, and plan again with it.")
    return Verdict(status, tuple(reasons))


def _pool_too_small(settings: PlanSettings) -> str:
    return (
        f"Auto-labelling cannot pay: with {settings.pool_size:,} points, no number of validation labels can show that "
        f"at most {_percent(settings.tolerance)} of the other labels are wrong at {_percent(1 - settings.delta)} "
        "confidence. Label by hand, or allow a larger tolerance or delta."
    )


def _never(settings: PlanSettings, support: int) -> str:
    return (
        f"Auto-labelling cannot pay: of the pool of {settings.pool_size:,} points, {support:,} would have to be "
        "validation labels at the very least, all of them right, and no number of them is forecast to certify a "
        "threshold. Label by hand, allow a larger tolerance or delta, or find a better classifier."
    )


def _too_few(settings: PlanSettings, budgets: Budgets, support: int) -> str:
    remedy = f"Raise the validation budget to {support:,} at the very least."
    if settings.budget is not None:
        remedy = f"A budget to be split needs {least_budget(support, settings.classes):,} at the very least."
    return (
        f"Auto-labelling cannot pay: {budgets.validation:,} validation labels cannot certify any threshold, even "
        f"with all of them right; {support:,} are needed. {remedy}"
    )


def _nothing_saved(budgets: Budgets, support: int, case: Case) -> str:
    why = (
        f"even in the high case no threshold passes with {budgets.validation:,} validation labels. {support:,} are "
        "enough only if hardly any of them is wrong"
    )
    if case.machine_labels:
        why = (
            f"even in the high case the machine labels {case.machine_labels:,} points, and auditing them takes "
            f"{case.audit_labels:,} labels"
        )
    return (
        f"Auto-labelling is not forecast to pay: {why}. Label by hand, allow a larger tolerance, or plan with other "
        f"validation labels ({budgets.recommended_validation:,} are recommended) or a better classifier."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
