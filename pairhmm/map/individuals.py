"""Which samples are of one individual, by their genotypes alone, and what all of them tell of that individual.

A sample sheet says so too. It is not asked, since it may be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.evidence import SiteEvidence
from pairhmm.map.kinship import FEW, SharedAlleles, UncertainFrequencies, best_relations, log_likelihoods
from pairhmm.map.likelihoods import LEAST, Floats, LogLikelihoods, has_data
from pairhmm.map.losses import Loss, LossFinder
from pairhmm.objects import short_repr
from pairhmm.variants.genealogy import IDENTICAL

# Samples that are less alike are not asked whether they are of one individual. Parents and children have 0.5, and two
# samples with losses may have less.
_LEAST_LIKENESS = 0.4
# Samples before it that a sample is compared with, at most: one with losses may be more alike to a relative.
_MOST_COMPARED = 3
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
        The first one without losses, if there is one.
    losses : dict of int to Loss
        What samples lack that other samples of their individual have. Most samples are not there.
    """

    of_sample: NDArray[np.int64]
    first_sample: NDArray[np.int64]
    losses: dict[int, Loss] = field(default_factory=dict)

    __repr__ = short_repr

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """Whether a sample has no losses: bool (samples,)."""
        result = np.ones(len(self.of_sample), dtype=bool)
        result[list(self.losses)] = False
        return result

    def whole_partner(self, sample: int) -> int | None:
        """Another sample of the individual that has no losses."""
        partners = np.flatnonzero((self.of_sample == self.of_sample[sample]) & self.is_whole)
        return next((one for one in partners.tolist() if one != sample), None)

    def likelihoods(self, of_samples: LogLikelihoods) -> LogLikelihoods:
        """Those of the genotypes of individuals, float32 (individuals, sites, 3), the best 0.

        Parameters
        ----------
        of_samples : float32 (samples, sites, 3)
        """
        if len(self.first_sample) == len(of_samples):
            return of_samples
        result, is_whole = of_samples[self.first_sample], self.is_whole
        for sample, individual in enumerate(self.of_sample.tolist()):
            if sample != self.first_sample[individual] and is_whole[sample]:
                result[individual] += of_samples[sample]
        return _best_is_0(result)

    def by_others(self, of_samples: LogLikelihoods, sample: int) -> LogLikelihoods:
        """What the other samples of a sample's individual tell of its genotypes: float32 (sites, 3), the best 0."""
        is_other = (self.of_sample == self.of_sample[sample]) & self.is_whole
        is_other[sample] = False
        return _best_is_0(of_samples[is_other].sum(axis=0))


def find_individuals(
    likelihoods: LogLikelihoods,
    frequencies: Floats,
    likeness: NDArray[np.float32],
    are_given: bool,
    evidence: SiteEvidence | None = None,
) -> Individuals:
    """Find the samples that are of one individual: each is compared with those before it that are most alike.

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
    evidence : SiteEvidence, optional
        The reads of the samples. Without them, losses are not looked for.
    """
    of_sample = np.arange(len(likelihoods))
    if len(likelihoods) < FEW and not are_given:
        candidates = [(sample, before) for sample in range(len(likelihoods)) for before in range(sample)]
        shares = None
    else:
        candidates = [
            (sample, before)
            for sample in range(1, len(likelihoods))
            for before in np.argsort(-likeness[sample, :sample], kind="stable")[:_MOST_COMPARED].tolist()
            if likeness[sample, before] >= _LEAST_LIKENESS
        ]
        shares = frequencies
    finder = None
    if evidence is not None:
        kept = np.ones(len(frequencies), dtype=bool) if shares is None else _tells(shares)
        finder = LossFinder(evidence, likelihoods, shares, kept)
    for sample, before in candidates:
        if of_sample[sample] == sample and (
            _are_one(likelihoods[[before, sample]], shares)
            or (finder is not None and finder.find(before, sample) is not None)
        ):
            of_sample[sample] = of_sample[before]
    first_sample, numbers = np.unique(of_sample, return_inverse=True)
    losses = {} if finder is None else _losses(numbers, finder)
    found = Individuals(numbers, first_sample, losses)
    for individual, first in enumerate(first_sample.tolist()):
        if first in losses:
            first_sample[individual] = found.whole_partner(first) or first
    return found


def _losses(of_sample: NDArray[np.int64], finder: LossFinder) -> dict[int, Loss]:
    """Those of samples, by the pair that tells of most sites."""
    losses: dict[int, Loss] = {}
    for individual in np.flatnonzero(np.bincount(of_sample) > 1).tolist():
        for one, other in combinations(np.flatnonzero(of_sample == individual).tolist(), 2):
            for loss in finder.find(one, other) or []:
                if loss.sample not in losses or loss.sites > losses[loss.sample].sites:
                    losses[loss.sample] = loss
    return losses


def _tells(frequencies: Floats) -> NDArray[np.bool_]:
    """Sites whose rarer allele is not too rare."""
    return (frequencies >= _RAREST) & (frequencies <= 1 - _RAREST)


def _are_one(likelihoods: LogLikelihoods, frequencies: Floats | None) -> bool:
    """Whether two samples, float32 (2, sites, 3), are of one individual. None: frequencies are not known."""
    known = has_data(likelihoods).all(axis=0)
    if frequencies is not None:
        known &= _tells(frequencies)
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
