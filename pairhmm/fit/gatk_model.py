"""GATK's model for a fit: gap openings by the copies of the tandem repeat at a base, and one gap continuation.

The values of the options follow from the rates by copies: one insertion quality, one deletion quality, and the PCR
indel model that caps them.

GATK's recurrence gives each inserted letter probability 1. Summed over all reads, that is more than 1, and the maximum
lies where every base is inserted. A fit takes 1/4 for each letter. Its rates are what indel qualities stand for: how
often gaps open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from pairhmm.fit.by_copies import CLASSES, MOST_PRIOR, class_counts, class_probabilities, likeliest_rates
from pairhmm.fit.counts import QUALITIES, SYMBOLS, Counts, RowTables, places_by_copies, with_free_start
from pairhmm.fit.pairs import FitPairs
from pairhmm.fit.profile_model import normalised, prior_counts
from pairhmm.models.gatk import ERROR, MOST_REPEATS, START, GatkOptions, PcrModel, pcr_quality

INSERTED = 0.25
"""Probability of an inserted letter in a fit."""

MOST_PRIOR_OF_OPTIONS = 10_000.0
"""The most observations that the prior counts as outside repeats. Few reads without a gap do not rule gaps out."""

HIGHEST_FITTED = 93
"""The highest Phred quality that is tried for an option: the highest that a FASTQ file can hold."""


@dataclass(frozen=True, slots=True)
class GatkFit:
    """GATK's model during a fit."""

    # float64[20]: probabilities that a gap opens in a repeat of 1, 2, ... 20 copies. One copy means no repeat.
    insertion: NDArray[np.float64]
    deletion: NDArray[np.float64]
    gap: float  # Probability that a gap continues
    # dict of str to float64[k]: counts of the prior, which are added to those of the data
    prior: Mapping[str, NDArray[np.float64]]

    @classmethod
    def of(cls, options: GatkOptions) -> GatkFit:
        """Make the model with the rates that options stand for."""
        cap = pcr_quality(options.pcr_indel_model)[1:]
        first = cls(
            ERROR[np.minimum(options.insertion_quality, cap)],
            ERROR[np.minimum(options.deletion_quality, cap)],
            float(ERROR[options.gap_quality]),
            {},
        )
        return replace(first, prior={name: prior_counts(p, MOST_PRIOR) for name, p in first.probabilities().items()})

    def tables(self, pairs: FitPairs) -> RowTables:
        """The rows of the reads."""
        transition = np.empty((MOST_REPEATS, 7))
        transition[:, 0] = 1 - np.minimum(1.0, self.insertion + self.deletion)
        transition[:, 1] = transition[:, 2] = 1 - self.gap
        transition[:, 3], transition[:, 5] = self.insertion, self.deletion
        transition[:, 4] = transition[:, 6] = self.gap
        return RowTables(places_by_copies(pairs), _emission(), with_free_start(transition), START)

    def distributions(self, counts: Counts) -> dict[str, NDArray[np.float64]]:
        """Expected counts float64[blocks, k] of each distribution, by its name in `probabilities`."""
        within, of_first = counts.transition[:, :MOST_REPEATS], counts.transition[:, MOST_REPEATS:]
        counted = class_counts(counts)
        closing = within[:, :, 1] + within[:, :, 2]
        going_on = within[:, :, 4] + within[:, :, 6] + of_first[:, :, 6]
        counted["gap"] = np.stack([closing.sum(axis=1), going_on.sum(axis=1)], axis=1)
        return counted

    def probabilities(self) -> dict[str, NDArray[np.float64]]:
        """The parameters, by name of the distribution."""
        result = class_probabilities(self.insertion, self.deletion)
        result["gap"] = np.array([1 - self.gap, self.gap])
        return result

    def updated(self, counts: Counts) -> GatkFit:
        """The model with the parameters that are likeliest given these counts, where no rate falls with the copies."""
        counted = self.distributions(counts.total())
        gap = normalised(counted["gap"][0] + self.prior["gap"], self.probabilities()["gap"])
        insertion, deletion = likeliest_rates(counted, self.prior)
        return replace(self, insertion=insertion, deletion=deletion, gap=float(gap[1]))


def best_options(fit: GatkFit, counts: Counts, options: GatkOptions) -> GatkOptions:
    """`options` with the qualities and the PCR indel model that are likeliest given the expected counts under `fit`."""
    counted = fit.distributions(counts.total())
    classes = np.array([counted[name][0] for name in CLASSES])
    opened = ERROR[options.insertion_quality], ERROR[options.deletion_quality]
    classes[0] += prior_counts(np.array([1 - sum(opened), *opened]), MOST_PRIOR_OF_OPTIONS)
    quality = np.arange(1, HIGHEST_FITTED + 1)
    best, chosen = -np.inf, options
    for model in get_args(PcrModel):
        insertion, deletion, likelihood = _best_qualities(classes, quality, model)
        if likelihood > best:
            best = likelihood
            chosen = replace(options, insertion_quality=insertion, deletion_quality=deletion, pcr_indel_model=model)
    gap = int(np.clip(np.rint(-10 * np.log10(fit.gap)), 1, HIGHEST_FITTED))
    return replace(chosen, gap_quality=gap)


def _best_qualities(
    classes: NDArray[np.float64], quality: NDArray[np.int64], model: PcrModel
) -> tuple[int, int, float]:
    """The best insertion and deletion quality under a PCR indel model, with the logarithm of their likelihood."""
    rate = ERROR[np.minimum(quality[:, None], pcr_quality(model)[1:])]  # [quality, class]
    stay = np.maximum(1 - rate[:, None, :] - rate[None, :, :], np.finfo(float).tiny)
    value = (np.log(stay) * classes[:, 0]).sum(axis=2)
    value += (np.log(rate) @ classes[:, 1])[:, None] + (np.log(rate) @ classes[:, 2])[None, :]
    insertion, deletion = np.unravel_index(int(value.argmax()), value.shape)
    return int(quality[insertion]), int(quality[deletion]), float(value.max())


def parameter_names(distribution: str) -> tuple[str, ...]:
    """Names of a distribution's parameters in tables."""
    if distribution == "gap":
        return ("gap closes", "gap continues")
    return tuple(f"{kind}, {distribution}" for kind in ("no gap", "insertion", "deletion"))


def _emission() -> NDArray[np.float64]:
    """float64[symbols, 6]: 1-e on a match or where either letter is N, else e/3; 1/4 for an insertion."""
    symbols = np.arange(SYMBOLS)
    base, error = symbols // QUALITIES, ERROR[symbols % QUALITIES]
    letters = np.arange(5)
    matches = (letters == base[:, None]) | (letters == 4) | (base == 4)[:, None]
    beside = np.where(matches, 1 - error[:, None], error[:, None] / 3)
    return np.concatenate([beside, np.full((SYMBOLS, 1), INSERTED)], axis=1)
