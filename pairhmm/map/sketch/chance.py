"""How many equal slots samples have that share nothing."""

from __future__ import annotations

from functools import lru_cache
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.sketches import Scheme

FALSE_ALARMS = 0.001
"""Share of collections without any relation in which a pair is taken to be above chance."""

_MOST_SLOTS, _MOST_BITS = 8192, 16
# In simulations, 2 is enough (tests/map/sketch/test_chance.py).
_CLUMPS = 4
# Numbers of slots that are told apart between a number and twice as many.
_STEPS = 8


def least_above_chance(scheme: Scheme, kmers: NDArray[np.float64], pairs: int) -> NDArray[np.int64]:
    """The fewest equal slots that are above chance, of a sample with any other one: int64 (samples,).

    Slots of samples that share nothing are equal with the probability p = 2^-b, so that K slots have K p equal ones in
    the mean, with a standard error of sqrt(K p (1 - p)). What is above chance is the binomial distribution's upper end,
    which one of `FALSE_ALARMS` collections reaches by its most alike pair. Slots that a small sample could not fill are
    copies of its n filled ones, so that several may be equal at once: they count as fewer, K / (1 + 4 K / n^2).

    Parameters
    ----------
    scheme : Scheme
    kmers : float64 (samples,)
        Distinct k-mers.
    pairs : int
        Pairs that are compared.
    """
    filled = scheme.slots * -np.expm1(-np.maximum(kmers, 1) / scheme.slots)
    independent = scheme.slots / (1 + _CLUMPS * scheme.slots / filled**2)
    # Rounded down, so that the tails of a few numbers of slots are summed.
    rounded = np.maximum(2 ** (np.floor(np.log2(independent) * _STEPS + 0.01) / _STEPS), 1).astype(np.int64)
    found = {slots: least_of_slots(slots, 2.0**-scheme.bits, pairs) for slots in set(rounded.tolist())}
    return np.array([-(-found[slots] * scheme.slots // slots) for slots in rounded.tolist()], dtype=np.int64)


@lru_cache(maxsize=256)
def least_of_slots(slots: int, by_chance: float, pairs: int) -> int:
    """`least_above_chance` of filled slots that are equal by chance with a probability."""
    equal = np.arange(slots + 1)
    logs = np.array([lgamma(slots + 1) - lgamma(one + 1) - lgamma(slots - one + 1) for one in equal.tolist()])
    logs += equal * np.log(by_chance) + (slots - equal) * np.log1p(-by_chance)
    tails = np.cumsum(np.exp(logs)[::-1])[::-1]
    below = np.flatnonzero(tails * max(1, pairs) <= FALSE_ALARMS)
    return int(below[0]) if len(below) else slots + 1


def chance_text(scheme: Scheme) -> str:
    """What chance gives, and what would help, for messages."""
    by_chance = scheme.slots * 2.0**-scheme.bits
    number = f"{by_chance:,.0f}" if by_chance >= 1 else f"{by_chance:.2g}"
    bits = "1 bit" if scheme.bits == 1 else f"{scheme.bits} bits"
    return f"Of {scheme.slots:,} slots of {bits}, {number} are equal by chance: {_cure(scheme)}"


def _cure(scheme: Scheme) -> str:
    more = []
    if scheme.name == "permutation":
        more += [f"--bits {_MOST_BITS}"] if scheme.bits < _MOST_BITS else []
        more += [f"--slots {_MOST_SLOTS}"] if scheme.slots < _MOST_SLOTS else []
    ways = [" and ".join(more)] if more else []
    return f"sketch with {' or '.join([*ways, f'a smaller --k ({scheme.k} now)'])} to see what is fainter"
