"""The oracle of graphs of haplotypes: one read in log space, in plain NumPy. It is slow, but nothing underflows.

States are kept apart by the length of the path so far, so that each path's likelihood has its own 1/n.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.haplotype_graph import HaplotypeGraph, WeightedAllele

States = NDArray[np.float64]
"""Natural logarithms, float64[4, m + 1], behind a letter: M, I and D in each row, and what has ended so far."""


def log10_likelihood(rows: NDArray[np.float64], graph: HaplotypeGraph) -> float:
    """log10 of the weighted sum over all paths, for rows float64[m, 12] with GATK's start."""
    with np.errstate(divide="ignore"):
        return _log10_likelihood(np.log(rows), graph)


def _log10_likelihood(rows: NDArray[np.float64], graph: HaplotypeGraph) -> float:
    start = np.full((4, len(rows) + 1), -np.inf)
    start[2, 0] = 0
    by_length = {0: start}
    for site in graph.sites:
        behind: dict[int, list[States]] = defaultdict(list)
        for length, states in by_length.items():
            for allele in site:
                behind[length + len(allele.letters)].append(_behind_allele(rows, allele, states))
        by_length = {length: _log_sum(parts) for length, parts in behind.items()}
    return float(_log_sum(states[3, 0] - np.log(length) for length, states in by_length.items()) / np.log(10))


def _behind_allele(rows: NDArray[np.float64], allele: WeightedAllele, states: States) -> States:
    states = states + np.log(allele.weight)
    for letter in allele.letters.tolist():
        states = _behind_letter(rows, letter, states)
    return states


def _behind_letter(rows: NDArray[np.float64], letter: int, left: States) -> States:
    mm, im, dm, mi, ii, md, dd = rows[:, 5:].T
    states = np.full_like(left, -np.inf)
    match, insertion, deletion, ended = states
    deletion[0] = left[2, 0]
    deletion[1:] = np.logaddexp(md + left[0, 1:], dd + left[2, 1:])
    match[1:] = rows[:, letter] + _log_sum([mm + left[0, :-1], im + left[1, :-1], dm + left[2, :-1]])
    for i in range(1, len(rows) + 1):
        insertion[i] = np.logaddexp(mi[i - 1] + match[i - 1], ii[i - 1] + insertion[i - 1])
    ended[0] = _log_sum([left[3, 0], match[-1], insertion[-1]])
    return states


def _log_sum(terms: Iterable[States | np.float64]) -> States:
    total: States = np.logaddexp.reduce(np.stack(list(terms)), axis=0)
    return total
