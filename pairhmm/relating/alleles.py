"""What a cohort tells of the alleles of its population: an urn at each site, from which genotypes are drawn.

A frequency that some samples tell is not certain. Were it taken as such, contamination would be underestimated: alleles
of the source that the frequency calls rare would need fewer foreign reads. So the frequency has a beta distribution. To
draw alleles with such a frequency is to draw from an urn that holds the alleles that were seen, where each is put back
with another one like it (Pólya's urn). So alleles that were drawn for one genotype count for the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.interface.display import short_repr
from pairhmm.relating.likelihoods import PSEUDO_COUNT, Floats, genotype_priors

CERTAIN = 1e6
"""Alleles of an urn whose frequency is given."""
# A frequency is at least this and at most 1 minus this.
_RAREST = 0.005
# At least so much of what certain genotypes would tell is told, for the step that leaves samples out.
_LEAST_TOLD = 0.1


@dataclass(frozen=True, slots=True)
class AlleleUrn:
    """The alleles of a population at some sites.

    Attributes
    ----------
    alternative, total : float64 (sites,)
        Alternative alleles, and all alleles. They need not be whole.
    """

    alternative: Floats
    total: Floats

    __repr__ = short_repr

    @property
    def frequencies(self) -> Floats:
        """Of the alternative allele: float64 (sites,)."""
        result: Floats = self.alternative / self.total
        return result

    @property
    def genotypes(self) -> Floats:
        """Probabilities of a genotype that is drawn: float64 (3, sites)."""
        own, other = self.alternative, self.total - self.alternative
        drawn = np.stack([other * (other + 1), 2 * own * other, own * (own + 1)])
        result: Floats = drawn / (self.total * (self.total + 1))
        return result

    def after(self, genotype: int) -> AlleleUrn:
        """The urn after that genotype was drawn."""
        return AlleleUrn(self.alternative + genotype, self.total + 2)

    def at(self, sites: NDArray[np.int32]) -> AlleleUrn:
        """The urn of these sites."""
        return AlleleUrn(self.alternative[sites], self.total[sites])


class CohortAlleles:
    """The alleles of a cohort without some of its samples.

    Parameters
    ----------
    likelihoods : float32 (samples, sites, 3)
        Of genotypes.
    frequencies : float64 (sites,)
        Of the alternative allele, by all samples.
    is_given : bool (sites,), optional
        Where the frequency is not of the samples, but known of the population.

    Attributes
    ----------
    weights : float32 (samples, 3, sites)
        Probabilities of genotypes.
    """

    def __init__(
        self, likelihoods: NDArray[np.float32], frequencies: Floats, is_given: NDArray[np.bool_] | None = None
    ) -> None:
        self.weights = genotype_weights(likelihoods, genotype_priors(frequencies))
        self._given = np.zeros(len(frequencies), dtype=bool) if is_given is None else is_given
        self._all = np.clip(frequencies, _RAREST, 1 - _RAREST)
        copies = self.weights[:, 1] + 2 * self.weights[:, 2]
        # The share of what certain genotypes would tell that the reads tell. Where it is less, a sample draws more.
        uncertain = (self.weights[:, 1] + 4 * self.weights[:, 2] - copies**2).sum(axis=0)
        self._told = np.maximum(1 - uncertain / (2 * len(copies) * self._all * (1 - self._all)), 0.0)
        told = np.maximum(self._told, _LEAST_TOLD).astype(np.float32)
        self._excess = (copies / 2 - self._all.astype(np.float32)) / told

    def without(self, *samples: int) -> AlleleUrn:
        """Of the other samples. Their frequencies are by one step of Newton's method."""
        left = max(1, len(self._excess) - len(samples))
        excess = np.where(self._given, 0, self._excess[list(samples)].sum(axis=0) / left)
        total = np.where(self._given, CERTAIN, 2 * left * self._told + 2 * PSEUDO_COUNT)
        return AlleleUrn(np.clip(self._all - excess, _RAREST, 1 - _RAREST) * total, total)

    def likeness(self, sample: int) -> NDArray[np.float32]:
        """Correlations of a sample's genotypes with those of each sample: float32 (samples,).

        They are about 1 for samples of one individual, and 0.5 for parents and children.
        """
        variances = (self._all * (1 - self._all) / 2).astype(np.float32)
        found: NDArray[np.float32] = self._excess @ (self._excess[sample] / variances) / max(1, len(variances))
        # Two samples of n draw the frequencies to themselves, which makes them less alike by a share of 3 / n.
        samples = len(found)
        return found * np.float32(samples / max(1, samples - 3))


def genotype_weights(likelihoods: NDArray[np.float32], priors: Floats) -> NDArray[np.float32]:
    """Probabilities of genotypes: float32 (samples, 3, sites).

    Parameters
    ----------
    likelihoods : float32 (samples, sites, 3)
    priors : float64 (3, sites)
    """
    weights = np.exp(likelihoods.transpose(0, 2, 1)) * priors.astype(np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
