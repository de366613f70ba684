"""Samples of one individual, of which one shows one allele only, or mostly, where the other is heterozygous.

That is what a tumour with loss of heterozygosity has, a cell line that lost copies of chromosomes, and RNA where one
copy of a gene is read more often. By its genotypes, such a sample looks like a sibling of the other. So each relation
is scored once more with heterozygous sites of either sample whose reads may have any share of the alternative allele.
Relatives differ in other ways: siblings have opposite homozygotes, and a parent or child is heterozygous where the
other is not as often as the reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.cohort import evidence_of
from pairhmm.map.drift import JointPriors, joint_priors, likelihoods_of_pairs, relation_likelihoods
from pairhmm.map.evidence import SiteEvidence
from pairhmm.map.kinship import LEAST_LEAD, OUTLIERS
from pairhmm.map.likelihoods import GENOTYPES, Floats, LogLikelihoods, of_shares
from pairhmm.variants.genealogy import IDENTICAL

LEAST_LOST = 0.05
"""A smaller share of heterozygous sites without balance is not told."""
ANY_FREQUENCY = 1 / 3
"""The drift about a half with which all frequencies are equally probable."""

Array = NDArray[np.float32]

_LOST = (0.0, 1.0)
_IMBALANCED = (0.05, 0.1, 0.15, 0.2, 0.25, 0.75, 0.8, 0.85, 0.9, 0.95)
# Shares of heterozygous sites that lack an allele, and that have an allele with few reads.
_SHARES = ((0.0, 0.0), (0.05, 0.02), (0.2, 0.02), (0.5, 0.02), (0.93, 0.05), (0.02, 0.2), (0.05, 0.5), (0.3, 0.3))
_FIRST_SHARES = ((0.0, 0.0), (0.05, 0.05), (0.3, 0.1), (0.9, 0.05))
# Sites for a first look, and for a decision, at most.
_FIRST_SITES, _SITES = 2_000, 20_000
# A first look decides what is so much likelier, and believes no loss that gains less than the second number.
_HOPELESS, _LEAST_GAIN = 20.0, 5.0
# And the decision none that gains less than this: reads at low depth are as uneven by chance.
_SURE_GAIN = 30.0
_ROUNDS = 20
# Far below the logarithm of the greatest float32.
_HIGHEST_LOG = 60.0


@dataclass(frozen=True, slots=True)
class Loss:
    """What a sample lacks where its individual is heterozygous.

    Attributes
    ----------
    sample : int
    sites, of_sites : int
        Sites where an allele is lost or rare, of so many heterozygous sites of the individual.
    is_complete : bool
        Whether most of them have no read of the other allele.
    """

    sample: int
    sites: int
    of_sites: int
    is_complete: bool

    def told(self, name: str) -> str:
        """What is said of the sample, which has that name."""
        what = "loss of heterozygosity" if self.is_complete else "allelic imbalance"
        return f"{what} in {name} at {self.sites} of {self.of_sites} heterozygous sites"


@dataclass(frozen=True, slots=True)
class _Likelihoods:
    """Those of the genotypes of a sample, and of heterozygotes without one of their alleles, and without balance."""

    genotypes: Array
    lost: Array
    imbalanced: Array

    def with_shares(self, lost: float, imbalanced: float) -> Array:
        """Of genotypes if so many of the heterozygous sites lack an allele, or balance: float32 (3, sites)."""
        result = self.genotypes.copy()
        result[1] = (1 - lost - imbalanced) * result[1] + lost * self.lost + imbalanced * self.imbalanced
        return result


class LossFinder:
    """Finds pairs of samples that are identical but for losses.

    Parameters
    ----------
    evidence : SiteEvidence
    likelihoods : float32 (samples, sites, 3)
        Of genotypes.
    frequencies : float64 (sites,), optional
        Of the alternative allele. Without them, each is as probable as any other.
    kept : bool (sites,)
        Sites that are looked at.
    """

    def __init__(
        self, evidence: SiteEvidence, likelihoods: LogLikelihoods, frequencies: Floats | None, kept: NDArray[np.bool_]
    ) -> None:
        self._evidence, self._likelihoods = evidence, likelihoods
        self._kept = np.flatnonzero(kept)
        self._frequencies = np.full(len(self._kept), 0.5) if frequencies is None else frequencies[self._kept]
        self._drift = ANY_FREQUENCY if frequencies is None else 0.0
        self._of_sample: dict[tuple[int, int], _Likelihoods] = {}
        self._priors: dict[int, JointPriors] = {}

    def find(self, first: int, second: int) -> list[Loss] | None:
        """The losses of two samples if they are of one individual; None if they are not, or if nothing tells."""
        fits = self._fits((first, second), _FIRST_SITES, _FIRST_SHARES)
        identical, others = fits[:, IDENTICAL], np.delete(fits, IDENTICAL, axis=1)
        if identical.max() < others[0].max() - _HOPELESS:
            return None
        if identical[0] > others.max() + _HOPELESS and identical.max() < identical[0] + _LEAST_GAIN:
            return []
        fits = self._fits((first, second), _SITES, _SHARES)
        best = fits.max(axis=0)
        if best[IDENTICAL] - np.delete(best, IDENTICAL).max() < LEAST_LEAD:
            return None
        if best[IDENTICAL] - fits[0, IDENTICAL] < _SURE_GAIN:
            return []
        return self._losses((first, second))

    def _fits(self, pair: tuple[int, int], most: int, shares: Sequence[tuple[float, float]]) -> Floats:
        """Log-likelihoods of relations for all shares of both samples, no losses first: (shares, relations)."""
        step = -(-len(self._kept) // most) or 1
        own, other = ([self._of(sample, step).with_shares(*both)[None] for both in shares] for sample in pair)
        if step not in self._priors:
            self._priors[step] = joint_priors(self._frequencies[::step], self._drift)
        states = (likelihoods_of_pairs(one, two, self._priors[step]) for one, two in product(own, other))
        return np.concatenate([relation_likelihoods(one, OUTLIERS) for one in states])

    def _losses(self, numbers: tuple[int, int]) -> list[Loss]:
        """How often each sample lacks balance, by expectation maximisation."""
        pair = [self._of(sample, 1) for sample in numbers]
        priors = joint_priors(self._frequencies, self._drift)[2].reshape(GENOTYPES, GENOTYPES, -1)
        of_genotypes = np.stack([priors[number, number] for number in range(GENOTYPES)])
        shares = np.full((2, 2), 0.05)
        for _ in range(_ROUNDS):
            mixed = [one.with_shares(*own) for one, own in zip(pair, shares.tolist(), strict=True)]
            joint = of_genotypes * mixed[0] * mixed[1]
            hets = joint[1] / joint.sum(axis=0)
            # Of each sample: how probable it is at a heterozygous site that an allele is lost, or rare.
            states = [
                np.stack(
                    [share * state / own[1] for share, state in zip(part, (one.lost, one.imbalanced), strict=True)]
                )
                for part, own, one in zip(shares.tolist(), mixed, pair, strict=True)
            ]
            sites = np.array([(hets * own).sum(axis=1, dtype=np.float64) for own in states])
            shares = np.clip(sites / max(float(hets.sum()), 1e-9), 1e-5, 1 - 1e-5)
        of_sites, losses = round(float(hets.sum())), []
        for number, own, other, (lost, rare) in zip(numbers, states, states[::-1], sites.tolist(), strict=True):
            # Where neither has balance, a homozygous individual and foreign reads explain the same.
            sure = float((hets * own.sum(axis=0) * (1 - other.sum(axis=0))).sum())
            if sure >= max(1.0, LEAST_LOST * of_sites):
                losses.append(Loss(number, round(lost + rare), of_sites, lost > rare))
        return losses

    def _of(self, sample: int, step: int) -> _Likelihoods:
        """Likelihoods of a sample at every so many sites."""
        if (sample, step) not in self._of_sample:
            sites = self._kept[::step]
            genotypes = np.exp(self._likelihoods[sample, sites].T)
            evidence = _at(evidence_of(self._evidence, sample), sites)
            has_reads = np.bincount(evidence.site, minlength=evidence.sites) > 0
            # Without reads, a heterozygote that lost an allele has the likelihood of one of the homozygotes.
            without_reads = (genotypes[0] + genotypes[2]) / 2
            lost, imbalanced = (
                np.where(has_reads, _mean_likelihood(evidence, shares), without_reads)
                for shares in (_LOST, _IMBALANCED)
            )
            self._of_sample[sample, step] = _Likelihoods(genotypes, lost, imbalanced)
        return self._of_sample[sample, step]


def _at(evidence: SiteEvidence, sites: NDArray[np.intp]) -> SiteEvidence:
    """The reads of one sample at some sites, which are numbered anew."""
    number = np.full(evidence.sites, -1, dtype=np.int32)
    number[sites] = np.arange(len(sites))
    site = number[evidence.site]
    kept = site >= 0
    begin = np.array([0, np.count_nonzero(kept)])
    return SiteEvidence(
        evidence.samples, len(sites), begin, site[kept], evidence.log10_ratio[kept], evidence.count[kept]
    )


def _mean_likelihood(evidence: SiteEvidence, shares: tuple[float, ...]) -> Array:
    """Of some shares of the alternative allele, over the likelihood of the best genotype: float32 (sites,)."""
    logs = of_shares(evidence, shares)
    tiny = np.finfo(np.float32).tiny
    result: Array = np.maximum(np.exp(np.clip(logs, -_HIGHEST_LOG, _HIGHEST_LOG)).mean(axis=0), tiny).astype(np.float32)
    return result
