"""The order in which machine labels are checked."""

from __future__ import annotations

from labelsieve.seeding import generator
from labelsieve.types import Ints


def audit_order(total: int, seed: int) -> Ints:
    """All positions 0 … total − 1 in uniformly random order; the audit asks from its start.

    The first n of a random permutation are a sample of n without replacement, whatever n is: so the audit may stop
    anywhere, and go on later from where it stopped. It depends on nothing but the number of labels and the seed, both
    known before anyone answers. A default seed is an advantage here: who tries seeds until one passes has to show it.

    The draw is uniform, not stratified by round or class. Strata would need a martingale for each and one over them
    to stay valid at any stopping time, and gain little where errors are rare everywhere.
    """
    return generator(seed, "audit").permutation(total)
