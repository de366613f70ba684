"""Which samples are of one individual, by their genotypes alone, and what all of them tell of that individual.

A sample sheet says so too. It is not asked, since it may be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.interface.display import short_repr
from pairhmm.relating.kinship import FEW, SharedAlleles, UncertainFrequencies, best_relations, log_likelihoods
from pairhmm.relating.likelihoods import LEAST, Floats, LogLikelihoods, has_data
from pairhmm.relating.relations import IDENTICAL

# Samples that are less alike are not asked whether they are of one individual. Parents and children have 0.5.
_LEAST_LIKENESS = 0.5
# Alleles that are rarer tell too much where a frequency is a little wrong.
_RAREST = 0.02
# Sites at which two samples are compared, at most.
_SITES = 20_000
_FEW_SITES = 4_000


@dataclass(frozen=True, slots=True)
class Individuals:
    """The individuals that samples are of.

    Attributes
    ----------
    of_sample : int64 (samples,)
        The number of each sample's individual. Individuals are numbered by their first samples.
    first_sample : int64 (individuals,)
    """

    of_sample: NDArray[np.int64]
    first_sample: NDArray[np.int64]

    __repr__ = short_repr

    def likelihoods(self, of_samples: LogLikelihoods) -> LogLikelihoods:
        """Those of the genotypes of individuals, float32 (individuals, sites, 3), the best 0.

        Parameters
        ----------
        of_samples : float32 (samples, sites, 3)
        """
        if len(self.first_sample) == len(of_samples):
            return of_samples
        result = of_samples[self.first_sample]
        for sample, individual in enumerate(self.of_sample.tolist()):
            if sample != self.first_sample[individual]:
                result[individual] += of_samples[sample]
        return _best_is_0(result)

    def by_others(self, of_samples: LogLikelihoods, sample: int) -> LogLikelihoods:
        """What the other samples of a sample's individual tell of its genotypes: float32 (sites, 3), the best 0."""
        is_other = self.of_sample == self.of_sample[sample]
        is_other[sample] = False
        return _best_is_0(of_samples[is_other].sum(axis=0))


def find_individuals(
    likelihoods: LogLikelihoods, frequencies: Floats, likeness: NDArray[np.float32], are_given: bool
) -> Individuals:
    """Find the samples that are of one individual: each is compared with the sample before it that is most alike.

    Parameters
    ----------
    likelihoods : float32 (samples, sites, 3)
        Of the samples' genotypes.
    frequencies : float64 (sites,)
        Of the alternative allele.
    likeness : float32 (samples, samples)
        Correlations of genotypes.
    are_given : bool
        Whether frequencies are known of the population. Those of `FEW` samples are of no use.
    """
    of_sample = np.arange(len(likelihoods))
    if len(likelihoods) < FEW and not are_given:
        candidates = [(sample, before) for sample in range(len(likelihoods)) for before in range(sample)]
        shares = None
    else:
        nearest = [int(likeness[sample, :sample].argmax()) for sample in range(1, len(likelihoods))]
        candidates = [
            (sample, before)
            for sample, before in enumerate(nearest, start=1)
            if likeness[sample, before] >= _LEAST_LIKENESS
        ]
        shares = frequencies
    for sample, before in candidates:
        if of_sample[sample] == sample and _are_one(likelihoods[[before, sample]], shares):
            of_sample[sample] = of_sample[before]
    first_sample, numbers = np.unique(of_sample, return_inverse=True)
    return Individuals(numbers, first_sample)


def _are_one(likelihoods: LogLikelihoods, frequencies: Floats | None) -> bool:
    """Whether two samples, float32 (2, sites, 3), are of one individual. None: frequencies are not known."""
    known = has_data(likelihoods).all(axis=0)
    if frequencies is not None:
        known &= (frequencies >= _RAREST) & (frequencies <= 1 - _RAREST)
    sites = np.flatnonzero(known)
    if not len(sites):
        return False
    sites = sites[:: -(-len(sites) // (_FEW_SITES if frequencies is None else _SITES))]
    here = likelihoods[:, sites]
    shared = UncertainFrequencies(here) if frequencies is None else SharedAlleles.of(here, frequencies[sites])
    fits = log_likelihoods(*shared.of_pairs(np.array([0]), np.array([1])))
    return bool(best_relations(fits)[0] == IDENTICAL)


def _best_is_0(likelihoods: LogLikelihoods) -> LogLikelihoods:
    likelihoods -= likelihoods.max(axis=-1, keepdims=True)
    return np.maximum(likelihoods, LEAST, out=likelihoods)
