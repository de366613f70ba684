"""Rates of gap openings by the copies of the tandem repeat at a base, as fits of both models estimate them.

Polymerases slip in tandem repeats, and an indel is likelier with more copies. GATK's PCR indel model and DRAGEN's
tables lower indel qualities by the number of copies. The class of a base is therefore the number of copies that GATK's
rule counts, and a fitted rate never falls with the copies.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pairhmm.fit.counts import Counts
from pairhmm.models.gatk import MOST_REPEATS

CLASSES = tuple(f"{copies} {'copy' if copies == 1 else 'copies'}" for copies in range(1, MOST_REPEATS + 1))
"""Names of the classes, "1 copy" (no repeat) to "20 copies". Each has a distribution: no gap, insertion, deletion."""

MOST_PRIOR = 1000.0
"""The most observations that a class's prior counts as.

A class of long repeats is a few sites of a genome. A variant that discovery missed at one of them looks like a slip of
every read there, and with a weaker prior the fit would call such slips common and explain real indels by them.
"""


def class_probabilities(
    insertion: NDArray[np.float64], deletion: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """The distribution float64[3] of each class, from the rates float64[20]."""
    values = np.stack([1 - insertion - deletion, insertion, deletion], axis=1)
    return dict(zip(CLASSES, values, strict=True))


def class_counts(counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Expected counts float64[blocks, 3] of each class, where a transition's place is its class."""
    within, of_first = counts.transition[:, :MOST_REPEATS], counts.transition[:, MOST_REPEATS:]
    # A read's first base takes no transition except those of deletions.
    deletion = within[:, :, 5] + of_first[:, :, 5]
    values = np.stack([within[:, :, 0], within[:, :, 3], deletion], axis=2)
    return {name: values[:, number] for number, name in enumerate(CLASSES)}


def likeliest_rates(
    counted: Mapping[str, NDArray[np.float64]], prior: Mapping[str, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rates of insertions and deletions (float64[20] each) that are likeliest given counts and prior, and never fall.

    Counts are those of `class_counts`; the prior has float64[3] of each class.
    """
    observed = np.array([counted[name].sum(axis=0) + prior[name] for name in CLASSES])
    # Deletions among all, then insertions among the rest: the likelihood is a product of the two.
    deletion = rising(observed[:, 2], observed.sum(axis=1))
    insertion = rising(observed[:, 1], observed[:, 0] + observed[:, 1]) * (1 - deletion)
    return insertion, deletion


def rising(events: NDArray[np.float64], trials: NDArray[np.float64]) -> NDArray[np.float64]:
    """The likeliest rates float64[k] that never fall from one class to the next (pool adjacent violators).

    `events` and `trials` are counts of each class; every class has trials.
    """
    pools: list[tuple[float, float, int]] = []  # events, trials and number of classes that share a rate
    for event, trial in zip(events.tolist(), trials.tolist(), strict=True):
        pool = (event, trial, 1)
        while pools and pools[-1][0] * pool[1] > pool[0] * pools[-1][1]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    return np.concatenate([np.full(size, event / trial) for event, trial, size in pools])
