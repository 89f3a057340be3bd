"""Exact upper bounds on how many are wrong, from a random sample of which some are.

Three questions, three answers:

- *What share of the population is wrong?* ``binomial_upper`` (Clopper–Pearson).
- *How many of these M points, which I have not looked at, are wrong?* ``unseen_p_value`` and ``unseen_upper``: the m
  points looked at and the M others are a random split of M + m points, so the errors found are hypergeometric.
- *The same, but I look again and again and stop when I like?* ``anytime_evidence``: a martingale that is ever large
  with probability δ at most, if too many are wrong.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, betaln
from scipy.stats import hypergeom

from labelsieve.types import Array, Floats

Counts = npt.ArrayLike

_FEW, _NEGLIGIBLE = 1000, 1e-12


def binomial_upper(errors: Counts, points: Counts, delta: float) -> Floats:
    """Largest error rate under which ``errors`` or fewer of ``points`` have a probability above delta."""
    k, n = np.asarray(errors, dtype=np.float64), np.asarray(points, dtype=np.float64)
    safe = np.minimum(k, n - 1)  # all wrong: the bound is 1, and the formula has no answer
    return np.where(k >= n, 1.0, betaincinv(np.maximum(safe, 0) + 1, np.maximum(n - safe, 1), 1 - delta))


def unseen_p_value(errors: Counts, points: Counts, unseen: Counts, allowed: Counts) -> Floats:
    """p-value of "more than ``allowed`` of the ``unseen`` points are wrong", given ``errors`` among ``points``.

    P(Hypergeometric(total = unseen + points, wrong = errors + allowed + 1, drawn = points) ≤ errors). Whatever the true
    number of wrong points, the probability that this is at most δ *and* more than ``allowed`` unseen points are wrong
    is at most δ: docs/guarantees.md has the proof.
    """
    k, m, big = (np.asarray(values, dtype=np.int64) for values in (errors, points, unseen))
    wrong = k + np.asarray(allowed, dtype=np.int64) + 1
    possible = wrong - k <= big  # otherwise more than ``allowed`` cannot be wrong, and nothing needs to be shown
    total = np.minimum(wrong, k + big)
    return np.where(possible, hypergeometric_cdf(k, big + m, total, m), 0.0)


def hypergeometric_cdf(found: Counts, total: Counts, wrong: Counts, drawn: Counts) -> Floats:
    """Probability that at most ``found`` of ``drawn`` points are wrong, if ``wrong`` of all ``total`` are.

    Few are computed by scipy, to all digits. Of many, each would take it up to 0.1 ms: they are summed from ``found``
    downwards all at once, and are right to a millionth or better.
    """
    counts = (np.asarray(values, dtype=np.float64) for values in (found, total, wrong, drawn))
    k, n_all, n_wrong, n = np.broadcast_arrays(*counts)
    if k.size <= _FEW:
        return np.asarray(hypergeom.cdf(k, n_all, n_wrong, n))
    above_mean = k * n_all > n * n_wrong  # then the right ones are summed, which are the smaller tail
    n_wrong, k = np.where(above_mean, n_all - n_wrong, n_wrong), np.where(above_mean, n - k - 1, k)
    fewest = np.maximum(0.0, n + n_wrong - n_all)
    possible, k = k >= fewest, np.maximum(k, fewest)
    log_term = _log_choose(n_wrong, k) + _log_choose(n_all - n_wrong, n - k) - _log_choose(n_all, n)
    term = np.where(possible, np.exp(log_term), 0.0)
    tail = term.copy()
    while (term > _NEGLIGIBLE * tail).any():
        term = term * k * (n_all - n_wrong - n + k) / ((n_wrong - k + 1) * (n - k + 1))
        tail, k = tail + term, k - 1
    return np.where(above_mean, 1 - tail, tail)


def unseen_upper(errors: int, points: int, unseen: int, delta: float) -> int:
    """Upper bound, at confidence 1 − delta, on how many of the unseen points are wrong; by bisection."""
    lowest, highest = 0, unseen  # highest always holds: more than ``unseen`` cannot be wrong
    while lowest < highest:
        middle = (lowest + highest) // 2
        if unseen_p_value(errors, points, unseen, middle) <= delta:
            highest = middle
        else:
            lowest = middle + 1
    return lowest


def anytime_evidence(errors: Counts, points: Counts, total: int, allowed_rate: float) -> Array:
    """Logarithm of the evidence against "more than ``allowed_rate`` of the points not yet looked at are wrong".

    ``points`` of ``total`` were drawn without replacement and ``errors`` of them were wrong. Once this reaches
    log(1 / δ), one may stop and say that the rest is good enough; the probability of ever saying so wrongly is at most
    δ, however one decides when to look (the prior–posterior ratio martingale of Waudby-Smith and Ramdas 2020). The
    prior on the number of wrong points is beta-binomial with 1 and 2 / ``allowed_rate``: most of it lies below the
    allowed rate, which settles good label sets soonest; any prior is valid.
    """
    k, n = np.asarray(errors, dtype=np.float64), np.asarray(points, dtype=np.float64)
    return anytime_evidence_of_total(k, n, total, k + np.floor(allowed_rate * (total - n)), allowed_rate)


def anytime_evidence_of_total(errors: Counts, points: Counts, total: int, allowed: Counts, prior_rate: float) -> Array:
    """Logarithm of the evidence against "more than ``allowed`` of all ``total`` points are wrong", seen or not.

    With one ``prior_rate`` throughout, the probability that this ever reaches log(1 / δ) for an ``allowed`` that is
    broken is at most δ for all ``allowed`` at once, whenever and however they are chosen: each time, what is not
    refuted is a confidence set for the number of wrong points.
    """
    k, n = np.asarray(errors, dtype=np.float64), np.asarray(points, dtype=np.float64)
    a, b = 1.0, 2 / prior_rate
    unseen = total - n
    wrong = np.asarray(allowed, dtype=np.float64) + 1  # the smallest number of wrong points that breaks the promise
    too_many = np.clip(wrong - k, 0, unseen)  # clipped where the answer is known without the formula
    log_prior = _log_beta_binomial(k + too_many, total, a, b)
    log_posterior = _log_beta_binomial(too_many, unseen, a + k, b + n - k)
    # Below the most likely number of errors the ratio is not monotone, and nothing can be said.
    beyond_mode = (wrong * n >= k * (total + 1)) & (wrong > k)
    evidence = np.where(beyond_mode, log_prior - log_posterior, -np.inf)
    return np.where(wrong - k > unseen, np.inf, evidence)


def anytime_unseen_upper(errors: int, points: int, total: int, delta: float, prior_rate: float) -> int:
    """Upper bound on how many unseen points are wrong that holds at all stopping times together; by bisection."""
    lowest, highest = 0, total - points  # highest always holds: more than all of them cannot be wrong
    while lowest < highest:
        middle = (lowest + highest) // 2
        if anytime_evidence_of_total(errors, points, total, errors + middle, prior_rate) >= np.log(1 / delta):
            highest = middle
        else:
            lowest = middle + 1
    return lowest


def _log_beta_binomial(successes: Floats, trials: Floats | int, a: Floats | float, b: Floats | float) -> Floats:
    trials = np.asarray(trials, dtype=np.float64)
    return np.asarray(_log_choose(trials, successes) + betaln(successes + a, trials - successes + b) - betaln(a, b))


def _log_choose(things: Floats, chosen: Floats) -> Floats:
    return np.asarray(-np.log1p(things) - betaln(things - chosen + 1, chosen + 1))
