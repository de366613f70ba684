"""Contamination model: the likelihood of a sample's reads for a share of foreign ones, and where it is highest.

A read of a sample with the genotype g1 and the share alpha of reads of somebody with the genotype g2 has the
alternative allele with probability ``q = (1 - alpha) g1 / 2 + alpha g2 / 2``, and the likelihood
``(1 - q) P(read | ref) + q P(read | alt)``. At each site this is summed over g1 and g2: Jun et al. (2012), "Detecting
and estimating contamination of human DNA samples in sequencing and array-based genotype data", American Journal of
Human Genetics 91:839.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.genotype_likelihoods import GENOTYPES, Floats, LogLikelihoods
from pairhmm.map.population import AlleleUrn
from pairhmm.map.sites import SiteEvidence
from pairhmm.variants.genealogy import IBD, IDENTICAL

JointGenotypes = NDArray[np.float32]
"""Probabilities of a sample's genotype and of that of the foreign reads: (relations, 3 own, 3 foreign, sites)."""

# The relations that two individuals may have; the last one is of cousins.
_RELATIONS = np.concatenate([IBD[:IDENTICAL], [[0.75, 0.25, 0]]])
# Nearly the logarithm of the greatest float32.
_HIGHEST_LOG = 80.0
_SMALLEST = np.float32(np.finfo(np.float32).tiny)


class MixedReads:
    """The reads of a sample. Sites with equal reads are computed at once: at low depth, there are few kinds of them.

    `sites` are those where it has reads, sorted by what these are. `others`, (sites, 3), are log-likelihoods of
    genotypes from other samples of the same individual.
    """

    def __init__(self, evidence: SiteEvidence, sample: int, others: LogLikelihoods) -> None:
        begin, end = evidence.begin[sample : sample + 2]
        sites, place = np.unique(evidence.site[begin:end], return_inverse=True)
        ratios, kind = np.unique(evidence.log10_ratio[begin:end], return_inverse=True)
        counts = np.zeros((len(sites), len(ratios)), dtype=np.uint32)
        np.add.at(counts, (place, kind), evidence.count[begin:end])
        order = np.lexsort(counts.T)
        counts = counts[order]
        is_first = np.ones(len(sites), dtype=bool)
        is_first[1:] = (counts[1:] != counts[:-1]).any(axis=1)
        self.sites = sites[order]
        self._odds = 10.0 ** ratios.astype(np.float64)
        self._counts = counts[is_first].T.astype(np.float64)
        self._begins = [*np.flatnonzero(is_first).tolist(), len(sites)]
        self._others = np.exp(others[self.sites].T)

    def log_likelihoods(self, shares: Floats, error: float, genotypes: JointGenotypes) -> Floats:
        """Of shares of foreign reads, maximised over relations.

        Genotypes are float32 (relations, 3 own, 3 foreign, sites), and `error` is the share of wrong reads
        beyond those that likelihoods of reads know of.
        """
        own, foreign = np.arange(GENOTYPES)[:, None, None] / 2, np.arange(GENOTYPES)[:, None] / 2
        logs = self._logs(own * (1 - shares) + foreign * shares, error)
        logs -= self._logs(np.arange(GENOTYPES) / 2, error).max(axis=0)
        of_kinds = np.exp(np.minimum(logs, _HIGHEST_LOG)).astype(np.float32)
        totals = [self._total(of_kinds, weights * self._others[:, None]) for weights in genotypes]
        result: Floats = np.max(totals, axis=0)
        return result

    def fit(self, error: float, genotypes: Floats) -> float:
        """Log-likelihood of an extra error without foreign reads, by probabilities of genotypes: float64 (3, sites)."""
        logs = self._logs(np.arange(GENOTYPES) / 2, error)
        best = logs.max(axis=0)
        of_kinds = np.exp(logs - best)[:, None].astype(np.float32)
        weights = genotypes.astype(np.float32) * self._others
        return float(self._total(of_kinds, weights)[0] + best @ np.diff(self._begins))

    def _total(self, of_kinds: NDArray[np.float32], weights: NDArray[np.float32]) -> Floats:
        """The sum over sites of the logarithm of the mean over genotypes: float64 (shares,).

        Tables of each kind of site are float32 (genotypes..., shares, kinds), weights (genotypes..., sites).
        """
        shares, kinds = of_kinds.shape[-2:]
        tables = np.ascontiguousarray(of_kinds.reshape(-1, shares, kinds).transpose(2, 1, 0))
        weights = weights.reshape(-1, weights.shape[-1])
        sites = np.empty((shares, weights.shape[-1]), dtype=np.float32)
        for table, (begin, end) in zip(tables, pairwise(self._begins), strict=True):
            np.matmul(table, weights[:, begin:end], out=sites[:, begin:end])
        np.log(np.maximum(sites, _SMALLEST, out=sites), out=sites)
        total: Floats = sites.sum(axis=1, dtype=np.float64)
        return total

    def _logs(self, q: Floats, error: float) -> Floats:
        """Log-likelihoods of the reads of each kind of site: float64 (..., kinds)."""
        q = q * (1 - 2 * error) + error
        return np.log1p(q[..., None] * (self._odds - 1)) @ self._counts


def of_population(urn: AlleleUrn, others: Sequence[AlleleUrn] = ()) -> JointGenotypes:
    """Foreign reads are of somebody of the population: of the sample's own, or of one of the others."""
    strangers = [_of_stranger(urn), *(other.genotypes[None] for other in others)]
    return np.stack([stranger * urn.genotypes[:, None] for stranger in strangers]).astype(np.float32)


def of_informed_population(
    urn: AlleleUrn, of_relative: NDArray[np.float32], others: Sequence[AlleleUrn] = ()
) -> JointGenotypes:
    """Foreign reads are of somebody of the population, and another individual tells of the sample's own genotype.

    The urn is without both, and others are of other populations that foreign reads may be of.
    """
    of_own = (_given_another(urn) * of_relative).sum(axis=2)
    strangers = [_of_stranger(urn), *(other.genotypes[None] for other in others)]
    return np.concatenate([of_own[:, :, None] * stranger for stranger in strangers]).astype(np.float32)


def of_source(urn: AlleleUrn, of_individual: NDArray[np.float32]) -> JointGenotypes:
    """Foreign reads are of an individual of the cohort. The urn is without the sample and the source."""
    return (_given_another(urn) * of_individual).astype(np.float32)


def _of_stranger(urn: AlleleUrn) -> Floats:
    """P(foreign genotype | own genotype), (3 own, 3 foreign, sites)."""
    return np.stack([urn.after(own).genotypes for own in range(GENOTYPES)])


def _given_another(urn: AlleleUrn) -> Floats:
    """P(own genotype | genotype of another, relation), (relations, 3 own, 3 genotypes of the other, sites).

    Shares of IBD states between those of relations would hide foreign reads: these make a sample a little more alike to
    their source. So only relations count.
    """
    states = np.zeros((3, GENOTYPES, GENOTYPES, len(urn.total)))
    for other in range(GENOTYPES):
        left = urn.after(other)
        p = left.frequencies
        states[0, :, other] = left.genotypes
        # One allele of the other, and one of the urn.
        states[1, 0, other] = (1 - p) * (2 - other) / 2
        states[1, 1, other] = (p * (2 - other) + (1 - p) * other) / 2
        states[1, 2, other] = p * other / 2
        states[2, other, other] = 1
    return np.tensordot(_RELATIONS, states, axes=1)


Profile = Callable[[Floats], Floats]
"""Log-likelihoods of shares."""
HALF_WIDTH = 1.92
"""The log-likelihood falls by so much from its maximum to the ends of a 95% interval."""

_COARSE = np.array(
    [0, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.045, 0.065, 0.09, 0.12, 0.16, 0.22, 0.3, 0.4, 0.5]
)
_FINE = 6
_MOST_REFINEMENTS = 4
# Points are at most this part of the interval apart at the end.
_NARROW = 0.1


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest point of a profile."""

    share: float  # the likeliest one
    low: float  # the ends of its interval
    high: float
    height: float  # log-likelihood of that share
    gain: float  # over the log-likelihood of no foreign reads


def peak_of(profile: Profile, half_width: float = HALF_WIDTH) -> Peak:
    """The highest point of a profile, from 0 to 0.5, by a grid that is made finer at the top and at the ends.

    The log-likelihood falls by `half_width` to the ends of the interval.
    """
    shares, values = _COARSE, profile(_COARSE)
    for _ in range(_MOST_REFINEMENTS):
        best = int(values.argmax())
        low, high = _last_outside(values, best, half_width)
        ends = shares[max(low, 0)], shares[min(high, len(shares) - 1)]
        if np.diff(shares[max(best - 1, 0) : best + 2]).min() <= _NARROW * (ends[1] - ends[0]):
            break
        cells = {max(best - 1, 0), min(best, len(shares) - 2), max(low, 0), min(high - 1, len(shares) - 2)}
        finer = np.concatenate([np.linspace(shares[cell], shares[cell + 1], _FINE)[1:-1] for cell in sorted(cells)])
        shares, values = np.concatenate([shares, finer]), np.concatenate([values, profile(finer)])
        order = np.argsort(shares)
        shares, values = shares[order], values[order]
    best = int(values.argmax())
    low, high = _last_outside(values, best, half_width)
    above = values - values[best] + half_width
    first = _crossing(shares, above, low) if low >= 0 else 0.0
    last = _crossing(shares, above, high - 1) if high < len(shares) else float(shares[-1])
    return Peak(float(shares[best]), first, last, float(values[best]), float(values[best] - values[0]))


def _last_outside(values: Floats, best: int, half_width: float) -> tuple[int, int]:
    """The points next to the interval, outside: -1 and the number of points where there is none."""
    is_outside = values < values[best] - half_width
    left, right = np.flatnonzero(is_outside[:best]), np.flatnonzero(is_outside[best:])
    return (int(left[-1]) if len(left) else -1), (int(right[0]) + best if len(right) else len(values))


def _crossing(shares: Floats, above: Floats, index: int) -> float:
    """Where a line through a point and the next is 0."""
    (x, following), (y, next_y) = shares[index : index + 2], above[index : index + 2]
    return float(x - y * (following - x) / (next_y - y))
