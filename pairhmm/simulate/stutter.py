"""PCR stutter: reads whose copy of a tandem repeat has gained or lost units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.sequences.tandem_repeats import Tracts
from pairhmm.sequences.tandem_repeats import find_tracts as repeats_of

PERIODS = 6
"""Bases of the longest unit that stutters."""

MOST_COPIES = 20
"""Copies of a unit beyond which a repeat stutters no more often."""

LEAST_COPIES = (4, 3, 3, 3, 3, 3)
"""Copies from which on a repeat stutters, by the bases of its unit from 1 on."""

GROWTH = (1.75, 1.70, 1.50, 1.50, 1.40, 1.40)
"""How many times as often a repeat stutters with each further copy, by the bases of its unit from 1 on."""

BASE = 1e-5, 2e-5, 2e-5, 2e-5, 2e-5, 2e-5
"""P(change) of a single copy that `GROWTH` multiplies, by the bases of a unit, in a library without PCR."""

HIGHEST_RATE = 0.15
"""P(change) that no repeat exceeds."""

LOSS_SHARE = 0.7
"""Share of the changes that lose units."""

FURTHER_UNIT = 0.1
"""P(a change is of one more unit)."""

MARGIN = 2
"""Bases of a read on both sides of a repeat that changes in it, at least: an aligner shows no gap nearer to an end."""

Rates = NDArray[np.float64]
"""float64[periods, copies]: P(a read's copy of a repeat has changed), by the bases of the unit and the copies.

Both are from 1 on. The last column is for all repeats with more copies.
"""


def stutter_rates() -> Rates:
    """The rates of a library without PCR. They grow geometrically with the copies, up to a highest."""
    rates = np.zeros((PERIODS, MOST_COPIES))
    for unit in range(PERIODS):
        copies = np.arange(LEAST_COPIES[unit], MOST_COPIES + 1)
        rates[unit, copies - 1] = np.minimum(HIGHEST_RATE, BASE[unit] * GROWTH[unit] ** (copies - 1))
    return rates


def find_tracts(codes: NDArray[np.uint8], rates: Rates) -> Tracts:
    """The tandem repeats of a sequence that stutter."""
    least = [int(np.argmax(of_unit > 0)) + 1 if of_unit.any() else len(codes) for of_unit in rates]
    return repeats_of(codes, least)


def draw_stutter(
    rng: np.random.Generator,
    codes: NDArray[np.uint8],
    tracts: Tracts,
    rates: Rates,
    begin: NDArray[np.int64],
    length: int,
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Reads of one length from a haplotype, whose repeats gain or lose units, each read by itself.

    A repeat changes only in reads that hold it whole, with `MARGIN` bases on both sides, before and after the change.

    Parameters
    ----------
    codes : uint8[n]
        The haplotype.
    tracts : Tracts
        From `find_tracts` of the same haplotype and rates.
    begin : int64[reads]
        Where each read begins; `begin + length` is at most n.
    length : int
        Bases a read.

    Returns
    -------
    source : int64[reads, length]
        Haplotype position of each base. The bases of a gained unit have the positions of the unit that they copy.
    gained : bool[reads, length]
        The bases of gained units. They come first in their repeat, as alignments are written.
    changed : bool[reads]
        The reads with a gain or a loss.
    """
    source = begin[:, None] + np.arange(length)
    gained = np.zeros(source.shape, dtype=bool)
    changed = np.zeros(len(begin), dtype=bool)
    read, tract, size = _draw_changes(rng, tracts, rates, begin, length)
    edges = np.searchsorted(read, np.arange(len(begin) + 1))
    for row in np.unique(read).tolist():
        some = slice(edges[row], edges[row + 1])
        of_row = (column[tract[some]].tolist() for column in tracts)
        changes = list(zip(*of_row, size[some].tolist(), strict=True))
        stuttered = _with_changes(int(begin[row]), length, len(codes), changes)
        if stuttered is not None:
            source[row], gained[row] = stuttered
            changed[row] = True
    return source, gained, changed


def _draw_changes(
    rng: np.random.Generator, tracts: Tracts, rates: Rates, begin: NDArray[np.int64], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The read and the tract of each change, in their order, and the bases gained (or lost, below 0)."""
    first = np.searchsorted(tracts.start, begin + MARGIN)
    last = np.searchsorted(tracts.start, begin + length - MARGIN)
    count = last - first
    read = np.repeat(np.arange(len(begin)), count)
    tract = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    rate = rates[tracts.unit - 1, np.minimum(tracts.copies, rates.shape[1]) - 1][tract]
    hit = (rng.random(len(read)) < rate) & (tracts.end[tract] <= begin[read] + length - MARGIN)
    read, tract = read[hit], tract[hit]
    loses = rng.random(len(read)) < LOSS_SHARE
    units = rng.geometric(1 - FURTHER_UNIT, len(read))
    # One copy stays.
    units = np.where(loses, -np.minimum(units, tracts.copies[tract] - 1), units)
    return read, tract, units * tracts.unit[tract]


def _with_changes(
    begin: int, length: int, end: int, changes: list[tuple[int, int, int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """Source and gained bases of a read with (start, end, unit, size) of its changes; None where none has room."""
    stretches, gains = [], []
    done, at = 0, begin
    for start, stop, unit, size in changes:
        # A repeat stays if what the last one lost reaches into it, or if it would leave the read or the contig.
        if start < at:
            continue
        if done + (stop - at) + size + MARGIN > length or at + max(0, -size) + length - done > end:
            continue
        stretches.append(np.arange(at, start))
        gains.append(np.zeros(start - at, dtype=bool))
        done += start - at
        if size > 0:
            stretches.append(start + np.arange(size) % unit)
            gains.append(np.ones(size, dtype=bool))
            done += size
        at = start + max(0, -size)
    if not stretches:
        return None
    stretches.append(np.arange(at, at + length - done))
    gains.append(np.zeros(length - done, dtype=bool))
    return np.concatenate(stretches), np.concatenate(gains)
