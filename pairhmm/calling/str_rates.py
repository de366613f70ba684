"""How often repeats stutter, from the reads over each: rates by unit and copies.

A repeat is homozygous, or heterozygous with half of its reads elsewhere; an expectation-maximisation in each class of
unit and copies tells these apart. Classes of a unit share a rate that grows geometrically with the copies, where they
have few reads, and no rate falls with the copies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.calling.str_counts import Site
from pairhmm.models.str_parameters import HIGHEST_RATE, LEAST_COPIES, LOSS_SHARE
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS

ROUNDS = 30
"""Rounds of expectation-maximisation: more change no figure that is written."""

HETEROZYGOUS = 0.02
"""The share of heterozygous repeats before any is seen, with the weight of `PRIOR_SITES` repeats."""

PRIOR_SITES = 20.0

PRIOR_READS = 200.0
"""Prior of each class, in reads of the common rate."""

GROWTH, GROWTH_SPREAD = 1.5, 0.2
"""The growth of rates with each copy before any read is seen, and the standard deviation of its logarithm."""

FIRST_RATE, FIRST_SPREAD = 1e-4, 1.0
"""The rate at the fewest copies before any read is seen, and the standard deviation of its logarithm."""

PRIOR_CHANGES = 10.0
"""The weight of the built-in share of changes that lose units, in changes."""

Floats = NDArray[np.float64]

_GROWTHS = np.linspace(0.0, np.log(2.5), 80)
_FIRSTS = np.linspace(np.log(1e-6), np.log(0.1), 160)


@dataclass(frozen=True, slots=True)
class StrRates:
    """Rates of a calibration, and the reads behind them.

    Attributes
    ----------
    gain, loss : float64[8, 20]
        P(a read's copy of a repeat has gained or lost units), by the bases of the unit and the copies.
    repeats, reads, changes : int64[8, 20]
        What the sample had of each: repeats, reads over them, and changes in these.
    """

    gain: Floats
    loss: Floats
    repeats: NDArray[np.int64]
    reads: NDArray[np.int64]
    changes: NDArray[np.int64]


def estimate_rates(sites: Counter[Site]) -> StrRates:
    """The rates that make the reads of all repeats likely, with the priors above.

    Parameters
    ----------
    sites : Counter
        From `pairhmm.calling.str_counts.count_changes`.
    """
    shape = LONGEST_REPEAT_UNIT, MOST_REPEATS
    gain, loss = np.zeros(shape), np.zeros(shape)
    repeats, reads, changes = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    by_class = defaultdict[tuple[int, int], list[tuple[tuple[int, int, int], int]]](list)
    for site, count in sites.items():
        by_class[site[:2]].append((site[2:], count))
    for unit, least in enumerate(LEAST_COPIES, start=1):
        observed, changed = np.zeros(MOST_REPEATS), np.zeros(MOST_REPEATS)
        lost = 0.0
        for copies in range(least, MOST_REPEATS + 1):
            mine = by_class[unit, copies]
            if not mine:
                continue
            depth, fewer, more = np.array([site for site, _ in mine], dtype=np.float64).T
            number = np.array([count for _, count in mine], dtype=np.float64)
            weight = number * _homozygous(depth, fewer + more, number)
            observed[copies - 1], changed[copies - 1] = (weight * depth).sum(), (weight * (fewer + more)).sum()
            lost += float((weight * fewer).sum())
            repeats[unit - 1, copies - 1] = int(number.sum())
            reads[unit - 1, copies - 1] = round(observed[copies - 1])
            changes[unit - 1, copies - 1] = round(changed[copies - 1])
        rates = _smoothed(observed, changed, least)
        share = (lost + LOSS_SHARE * PRIOR_CHANGES) / (changed.sum() + PRIOR_CHANGES)
        loss[unit - 1], gain[unit - 1] = share * rates, (1 - share) * rates
    return StrRates(gain, loss, repeats, reads, changes)


def _homozygous(depth: Floats, changed: Floats, number: Floats) -> Floats:
    """P(each repeat of a class is homozygous)."""
    few = changed < 0.25 * depth
    rate = (changed[few] * number[few]).sum() / max(1.0, (depth[few] * number[few]).sum())
    share, certain = HETEROZYGOUS, np.ones(len(depth))
    for _ in range(ROUNDS):
        rate = float(np.clip(rate, 1e-6, HIGHEST_RATE))
        alone = np.log1p(-share) + changed * np.log(rate) + (depth - changed) * np.log1p(-rate)
        both = np.log(share) + depth * np.log(0.5)
        certain = 1 / (1 + np.exp(np.clip(both - alone, -500, 500)))
        weight = number * certain
        rate = float((weight * changed).sum() / max((weight * depth).sum(), 1e-9))
        share = float(((number * (1 - certain)).sum() + HETEROZYGOUS * PRIOR_SITES) / (number.sum() + PRIOR_SITES))
    return certain


def _smoothed(observed: Floats, changed: Floats, least: int) -> Floats:
    """float64[20]: the rate of each number of copies, from the reads and the changes among them."""
    steps = np.arange(MOST_REPEATS - least + 1)
    seen, hits = observed[least - 1 :], changed[least - 1 :]
    known = np.flatnonzero(seen)
    log_rate = np.minimum(np.log(HIGHEST_RATE), _FIRSTS[:, None, None] + _GROWTHS[None, :, None] * steps[known])
    likelihood = (hits[known] * log_rate + (seen - hits)[known] * np.log1p(-np.exp(log_rate))).sum(axis=2)
    prior = ((_FIRSTS - np.log(FIRST_RATE)) / FIRST_SPREAD)[:, None] ** 2
    prior = prior + (((_GROWTHS - np.log(GROWTH)) / GROWTH_SPREAD) ** 2)[None, :]
    first, growth = np.unravel_index(int(np.argmax(likelihood - prior / 2)), likelihood.shape)
    common = np.minimum(HIGHEST_RATE, np.exp(_FIRSTS[first] + _GROWTHS[growth] * steps))
    rates = np.zeros(MOST_REPEATS)
    weight = seen + PRIOR_READS
    rates[least - 1 :] = _ascending((hits + PRIOR_READS * common) / weight, weight)
    return np.minimum(rates, HIGHEST_RATE)


def _ascending(values: Floats, weights: Floats) -> Floats:
    """The nearest values that never fall, by weighted squares: neighbours that fall share their mean."""
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (left, of_left, size), (right, of_right, more) = blocks[-2:]
            blocks[-2:] = [
                ((left * of_left + right * of_right) / (of_left + of_right), of_left + of_right, size + more)
            ]
    return np.repeat([value for value, _, _ in blocks], [size for _, _, size in blocks])
