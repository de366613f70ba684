"""Individuals: which samples are of one individual, by genotype, and their joint likelihoods.

A sample sheet is not consulted, since it may be wrong. A sample may show one allele only, or mostly, where another one
of its individual is heterozygous: a tumour with loss of heterozygosity, a cell line that lost copies of chromosomes,
RNA where one copy of a gene is read more often. By its genotypes, such a sample looks like a sibling of the other. So
each relation is scored once more with heterozygous sites of either sample whose reads may have any share of the
alternative allele. Relatives differ in other ways: siblings have opposite homozygotes, and a parent or child is
heterozygous where the other is not as often as the reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.drift import JointPriors, joint_priors, likelihoods_of_pairs, relation_likelihoods
from pairhmm.map.genotype_likelihoods import GENOTYPES, LEAST, Floats, LogLikelihoods, has_data, is_common, of_shares
from pairhmm.map.kinship import (
    FEW_SAMPLES,
    LEAST_LEAD,
    SharedAlleles,
    UncertainFrequencies,
    best_relations,
    log_likelihoods,
)
from pairhmm.map.sites import SiteEvidence, evidence_of
from pairhmm.objects import short_repr
from pairhmm.variants.genealogy import IDENTICAL

LEAST_LOST = 0.05
"""A smaller share of heterozygous sites without balance is not reported."""
ANY_FREQUENCY = 1 / 3
"""The drift about a half with which all frequencies are equally probable."""

Array = NDArray[np.float32]

_LOST = (0.0, 1.0)
_IMBALANCED = (0.05, 0.1, 0.15, 0.2, 0.25, 0.75, 0.8, 0.85, 0.9, 0.95)
# Shares of heterozygous sites that lack an allele, and that have an allele with few reads.
_SHARES = ((0.0, 0.0), (0.05, 0.02), (0.2, 0.02), (0.5, 0.02), (0.93, 0.05), (0.02, 0.2), (0.05, 0.5), (0.3, 0.3))
_FIRST_SHARES = ((0.0, 0.0), (0.05, 0.05), (0.3, 0.1), (0.9, 0.05))
# Sites for a first look, and for a decision, at most.
_FIRST_SITES, _LOSS_SITES = 2_000, 20_000
# A first look decides what is so much likelier, and believes no loss that gains less than the second number.
_HOPELESS, _LEAST_GAIN = 20.0, 5.0
# And the decision none that gains less than this: reads at low depth are as uneven by chance.
_SURE_GAIN = 30.0
_LOSS_ROUNDS = 20
# Far below the logarithm of the greatest float32.
_HIGHEST_LOG = 60.0


@dataclass(frozen=True, slots=True)
class Loss:
    """A sample's lost or imbalanced alleles at its individual's heterozygous sites."""

    sample: int
    sites: int  # where an allele is lost or rare
    of_sites: int  # heterozygous sites of the individual
    is_complete: bool  # whether most of them have no read of the other allele

    def note(self, name: str) -> str:
        """A note on the sample of that name."""
        what = "loss of heterozygosity" if self.is_complete else "allelic imbalance"
        return f"{what} in {name} at {self.sites} of {self.of_sites} heterozygous sites"


@dataclass(frozen=True, slots=True)
class _Likelihoods:
    """Those of the genotypes of a sample, and of heterozygotes without one of their alleles, and without balance."""

    genotypes: Array
    lost: Array
    imbalanced: Array

    def with_shares(self, lost: float, imbalanced: float) -> Array:
        """Likelihoods if these shares of heterozygous sites lack an allele, or balance: float32 (3, sites)."""
        result = self.genotypes.copy()
        result[1] = (1 - lost - imbalanced) * result[1] + lost * self.lost + imbalanced * self.imbalanced
        return result


class LossFinder:
    """Finds pairs of samples that are identical but for losses, at the sites that are kept.

    Without frequencies, each is as probable as any other.
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
        """The losses of two samples if they are of one individual; None if they are not, or without evidence."""
        fits = self._fits((first, second), _FIRST_SITES, _FIRST_SHARES)
        identical, others = fits[:, IDENTICAL], np.delete(fits, IDENTICAL, axis=1)
        if identical.max() < others[0].max() - _HOPELESS:
            return None
        if identical[0] > others.max() + _HOPELESS and identical.max() < identical[0] + _LEAST_GAIN:
            return []
        fits = self._fits((first, second), _LOSS_SITES, _SHARES)
        best = fits.max(axis=0)
        if best[IDENTICAL] - np.delete(best, IDENTICAL).max() < LEAST_LEAD:
            return None
        if best[IDENTICAL] - fits[0, IDENTICAL] < _SURE_GAIN:
            return []
        return self._losses((first, second))

    def _fits(self, pair: tuple[int, int], most: int, shares: Sequence[tuple[float, float]]) -> Floats:
        """Log-likelihoods of relations for all shares of both samples, no losses first: (shares, relations)."""
        step = -(-len(self._kept) // most) or 1
        first, second = ([self._of(sample, step).with_shares(*both)[None] for both in shares] for sample in pair)
        if step not in self._priors:
            self._priors[step] = joint_priors(self._frequencies[::step], self._drift)
        states = (likelihoods_of_pairs(left, right, self._priors[step]) for left, right in product(first, second))
        return np.concatenate([relation_likelihoods(state) for state in states])

    def _losses(self, numbers: tuple[int, int]) -> list[Loss]:
        """How often each sample lacks balance, by expectation maximisation."""
        pair = [self._of(reads, 1) for reads in numbers]
        priors = joint_priors(self._frequencies, self._drift)[2].reshape(GENOTYPES, GENOTYPES, -1)
        of_genotypes = np.stack([priors[number, number] for number in range(GENOTYPES)])
        shares = np.full((2, 2), 0.05)
        for _ in range(_LOSS_ROUNDS):
            mixed = [reads.with_shares(*share) for reads, share in zip(pair, shares.tolist(), strict=True)]
            joint = of_genotypes * mixed[0] * mixed[1]
            hets = joint[1] / joint.sum(axis=0)
            # For each sample, the probability at a heterozygous site that an allele is lost, or rare.
            states = [
                np.stack(
                    [share * state / mix[1] for share, state in zip(part, (reads.lost, reads.imbalanced), strict=True)]
                )
                for part, mix, reads in zip(shares.tolist(), mixed, pair, strict=True)
            ]
            sites = np.array([(hets * state).sum(axis=1, dtype=np.float64) for state in states])
            shares = np.clip(sites / max(float(hets.sum()), 1e-9), 1e-5, 1 - 1e-5)
        of_sites, losses = round(float(hets.sum())), []
        for number, state, other, (lost, rare) in zip(numbers, states, states[::-1], sites.tolist(), strict=True):
            # Where neither has balance, a homozygous individual and foreign reads explain the same.
            sure = float((hets * state.sum(axis=0) * (1 - other.sum(axis=0))).sum())
            if sure >= max(1.0, LEAST_LOST * of_sites):
                losses.append(Loss(number, round(lost + rare), of_sites, lost > rare))
        return losses

    def _of(self, sample: int, step: int) -> _Likelihoods:
        """Likelihoods of a sample at every `step`-th site."""
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
    return replace(evidence.rows_of_one(kept), sites=len(sites), site=site[kept])


def _mean_likelihood(evidence: SiteEvidence, shares: tuple[float, ...]) -> Array:
    """Likelihoods of allele shares, over the likelihood of the best genotype: float32 (sites,)."""
    logs = of_shares(evidence, shares)
    tiny = np.finfo(np.float32).tiny
    result: Array = np.maximum(np.exp(np.clip(logs, -_HIGHEST_LOG, _HIGHEST_LOG)).mean(axis=0), tiny).astype(np.float32)
    return result


# Less correlated samples are not tested for being of one individual. Parents and children have 0.5, and two
# samples with losses may have less.
_LEAST_CORRELATION = 0.4
# Samples before it that a sample is compared with, at most: one with losses may be more alike to a relative.
_MOST_COMPARED = 3
# Sites at which two samples are compared, at most.
_SITES = 20_000
_FEW_SITES = 4_000


@dataclass(frozen=True, slots=True)
class Individuals:
    """The individuals that samples are of."""

    of_sample: NDArray[np.int64]  # the number of each sample's individual, by their first samples
    first_sample: NDArray[np.int64]  # of each individual: the first one without losses, if there is one
    losses: dict[int, Loss] = field(default_factory=dict)  # what samples lack that others of their individual have

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
        return next((partner for partner in partners.tolist() if partner != sample), None)

    def likelihoods(self, of_samples: LogLikelihoods) -> LogLikelihoods:
        """Log-likelihoods of individuals' genotypes, float32 (individuals, sites, 3), the best 0."""
        if len(self.first_sample) == len(of_samples):
            return of_samples
        result, is_whole = of_samples[self.first_sample], self.is_whole
        for sample, individual in enumerate(self.of_sample.tolist()):
            if sample != self.first_sample[individual] and is_whole[sample]:
                result[individual] += of_samples[sample]
        return _best_is_0(result)

    def by_others(self, of_samples: LogLikelihoods, sample: int) -> LogLikelihoods:
        """Log-likelihoods of genotypes from the individual's other samples: float32 (sites, 3), the best 0."""
        is_other = (self.of_sample == self.of_sample[sample]) & self.is_whole
        is_other[sample] = False
        return _best_is_0(of_samples[is_other].sum(axis=0))


def find_individuals(
    likelihoods: LogLikelihoods,
    frequencies: Floats,
    correlations: NDArray[np.float32],
    are_given: bool,
    evidence: SiteEvidence | None = None,
) -> Individuals:
    """Find the samples that are of one individual: each is compared with those before it that are most alike.

    Frequencies are given if they are known of the population: those of `FEW_SAMPLES` samples are of no use. Losses are
    looked for among reads alone.
    """
    of_sample = np.arange(len(likelihoods))
    if len(likelihoods) < FEW_SAMPLES and not are_given:
        candidates = [(sample, before) for sample in range(len(likelihoods)) for before in range(sample)]
        shares = None
    else:
        candidates = [
            (sample, before)
            for sample in range(1, len(likelihoods))
            for before in np.argsort(-correlations[sample, :sample], kind="stable")[:_MOST_COMPARED].tolist()
            if correlations[sample, before] >= _LEAST_CORRELATION
        ]
        shares = frequencies
    finder = None
    if evidence is not None:
        kept = np.ones(len(frequencies), dtype=bool) if shares is None else is_common(shares)
        finder = LossFinder(evidence, likelihoods, shares, kept)
    for sample, before in candidates:
        if of_sample[sample] == sample and (
            _are_one(likelihoods[[before, sample]], shares)
            or (finder is not None and finder.find(before, sample) is not None)
        ):
            of_sample[sample] = of_sample[before]
    first_sample, numbers = np.unique(of_sample, return_inverse=True)
    losses = {} if finder is None else _losses(numbers, finder)
    individuals = Individuals(numbers, first_sample, losses)
    for individual, first in enumerate(first_sample.tolist()):
        if first in losses:
            first_sample[individual] = individuals.whole_partner(first) or first
    return individuals


def _losses(of_sample: NDArray[np.int64], finder: LossFinder) -> dict[int, Loss]:
    """Losses of samples, by the pair with the most sites."""
    losses: dict[int, Loss] = {}
    for individual in np.flatnonzero(np.bincount(of_sample) > 1).tolist():
        for first, second in combinations(np.flatnonzero(of_sample == individual).tolist(), 2):
            for loss in finder.find(first, second) or []:
                if loss.sample not in losses or loss.sites > losses[loss.sample].sites:
                    losses[loss.sample] = loss
    return losses


def _are_one(likelihoods: LogLikelihoods, frequencies: Floats | None) -> bool:
    """Whether two samples, float32 (2, sites, 3), are of one individual. None: frequencies are not known."""
    has_both = has_data(likelihoods).all(axis=0)
    if frequencies is not None:
        has_both &= is_common(frequencies)
    sites = np.flatnonzero(has_both)
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
