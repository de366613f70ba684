"""Kinship: the relation of two samples, by the likelihoods of their genotypes.

Two samples of a relation have 0, 1 or 2 alleles from a common ancestor with probabilities k0, k1, k2
(`pairhmm.variants.genealogy.IBD`). The likelihood of a site is ``k0 A0 + k1 A1 + k2 A2``, where A0, A1 and A2 are
those of the data of both given 0, 1 or 2 such alleles, over that given 0. So A0 is 1. Thompson (1975); for likelihoods
of genotypes in place of genotypes, Korneliussen and Moltke (2015), "NgsRelate", and Lipatov et al. (2015), "lcMLkin".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.drift import DRIFTS, OUTLIERS, fit_drift, joint_priors, likelihoods_of_pairs
from pairhmm.map.genotype_likelihoods import Floats, LogLikelihoods, genotype_priors
from pairhmm.objects import short_repr
from pairhmm.variants.genealogy import IBD, IDENTICAL, RELATED, UNKNOWN, UNRELATED

LEAST_LEAD = float(np.log(100.0))
"""The best relation must be 100 times likelier than the next, or it is unknown."""
ALL_PAIRS = 20_000
"""Up to this many pairs, every pair is scored. Of more, only pairs whose score test hints at a relation."""
FEW_SAMPLES = 30
"""Fewer samples can't estimate frequencies well enough (`UncertainFrequencies`)."""
_LEAST_Z = 2.0
_STEPS = 12
# Steps end a little inside, where no site has the likelihood 0.
_INSIDE = 0.999
_LEAST_CURVATURE = 1e-9
_ROWS = 256
_SITES = 2048
# Frequencies at which the mean over all of them is taken (Gauss and Legendre).
_NODES = 12
# Elements of an array that holds all sites of some pairs.
_AT_ONCE = 1 << 20
# Sites at which the drift of a pair is fitted, at most.
_DRIFT_SITES = 20_000

Singles = NDArray[np.float32]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, slots=True)
class SharedAlleles:
    """Rows of samples, whose products add up to A1 and A2 of each pair: an allele, or the genotype, is shared.

    ``A1[i, j] = sum of one[:, i] * one[:, j]``, and ``A2[i, j] = sum of two[:, i] * two[:, j]``.
    """

    one: NDArray[np.float32]  # (2, samples, sites): the reference, or the alternative allele
    two: NDArray[np.float32]  # (3, samples, sites)
    frequencies: Floats

    __repr__ = short_repr

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return len(self.one[0])

    @property
    def sites(self) -> int:
        """How many sites there are."""
        return len(self.one[0, 0])

    @classmethod
    def of(cls, likelihoods: LogLikelihoods, frequencies: Floats) -> SharedAlleles:
        """From likelihoods of genotypes, float32 (samples, sites, 3), and frequencies of the alternative allele."""
        samples, sites = likelihoods.shape[:2]
        shared = cls(np.empty((2, samples, sites), np.float32), np.empty((3, samples, sites), np.float32), frequencies)
        priors = genotype_priors(frequencies)
        of_allele = np.stack([1 - frequencies, frequencies])
        for sample, of_sample in enumerate(likelihoods):
            weights = np.exp(of_sample.T.astype(np.float64))
            weights /= (weights * priors).sum(axis=0)
            shared.two[:, sample] = weights * np.sqrt(priors)
            # The other allele is drawn from the population.
            other = weights[:-1] * of_allele[0] + weights[1:] * of_allele[1]
            shared.one[:, sample] = other * np.sqrt(of_allele)
        return shared

    def of_pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> tuple[Singles, Singles]:
        """A1 and A2 of some pairs: float32 (pairs, sites) each."""
        a1, a2 = (sum(rows[first] * rows[second] for rows in table) for table in (self.one, self.two))
        return a1, a2

    def genotypes(self, samples: NDArray[np.intp], sites: slice) -> Singles:
        """Likelihoods of genotypes, up to a factor for each sample and site: float32 (samples, 3, sites)."""
        roots = np.sqrt(genotype_priors(self.frequencies[sites])).astype(np.float32)
        return self.two[:, samples, sites].swapaxes(0, 1) / roots


class UncertainFrequencies:
    """A1 and A2 of pairs in a cohort that is too small to tell frequencies: the mean over what they may be.

    All frequencies are equally probable. Those of a few samples would be made of the pair itself and of its relatives,
    and hide that they are related.
    """

    def __init__(self, likelihoods: LogLikelihoods) -> None:
        self.samples, self.sites = likelihoods.shape[:2]
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        self._frequencies = (nodes + 1) / 2
        self._priors = genotype_priors(self._frequencies)
        self._own = np.exp(likelihoods.astype(np.float64))
        self._weights = (weights / 2)[:, None]

    def of_pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> tuple[Singles, Singles]:
        """As `SharedAlleles.of_pairs`."""
        pairs = [self._of_pair(left, right) for left, right in zip(first.tolist(), second.tolist(), strict=True)]
        a1, a2 = np.array(pairs, dtype=np.float32).reshape(-1, 2, self.sites).transpose(1, 0, 2)
        return a1, a2

    def _of_pair(self, first: int, second: int) -> tuple[Floats, Floats]:
        first_own, second_own = self._own[first].T, self._own[second].T
        none = (self._priors.T @ first_own) * (self._priors.T @ second_own) * self._weights
        total = none.sum(axis=0)
        p = self._frequencies[:, None]
        a1 = np.zeros(self.sites)
        for allele, share in enumerate((1 - p, p)):
            # The allele that is not shared is drawn from the population.
            sums = [(1 - p) * weights[allele] + p * weights[allele + 1] for weights in (first_own, second_own)]
            a1 += (self._weights * share * sums[0] * sums[1]).sum(axis=0)
        a2 = (self._priors @ self._weights)[:, 0] @ (first_own * second_own)
        return a1 / total, a2 / total


@dataclass(frozen=True, slots=True)
class Kinship:
    """Relations of pairs of samples, an element a pair."""

    relation: NDArray[np.int8]  # numbers of `pairhmm.variants.genealogy`; `UNKNOWN` where the data can't tell
    relatedness: NDArray[np.float32]  # ``k1 / 2 + k2`` by maximum likelihood; NaN where it was not asked for

    __repr__ = short_repr


def all_pairs(samples: int) -> Pairs:
    """Pairs (0, 1), (0, 2), ... (1, 2), ..."""
    first, second = np.triu_indices(samples, 1)
    return first, second


def kinship(shared: SharedAlleles | UncertainFrequencies, wanted: NDArray[np.bool_]) -> Kinship:
    """The relation of each two samples, and the relatedness of wanted pairs."""
    first, second = all_pairs(shared.samples)
    relation = np.full(len(first), UNKNOWN, dtype=np.int8)
    relatedness = np.full(len(first), np.nan, dtype=np.float32)
    if len(first) <= ALL_PAIRS or isinstance(shared, UncertainFrequencies):
        scored = np.arange(len(first))
    else:
        z, information = _score_test(shared)
        scored = np.flatnonzero(z >= _LEAST_Z)
        # Expected lead of no relation over one of the second degree, of which an allele is shared at half of the sites.
        relation[information * IBD[1, 1] ** 2 / 2 >= LEAST_LEAD] = UNRELATED
        # One step of Newton's method from k1 = 0.
        k1 = np.clip(z / np.sqrt(np.maximum(information, 1e-9)), 0, 1)
        relatedness[wanted] = k1[wanted] / 2
    for part in _parts(scored, shared.sites):
        a1, a2 = shared.of_pairs(first[part], second[part])
        relation[part] = best_relations(log_likelihoods(a1, a2))
        asked = wanted[part]
        relatedness[part[asked]] = _estimated_relatedness(a1[asked], a2[asked])
    if isinstance(shared, SharedAlleles):
        _ask_drift(shared, relation, relatedness)
    return Kinship(relation, relatedness)


def _ask_drift(shared: SharedAlleles, relation: NDArray[np.int8], relatedness: NDArray[np.float32]) -> None:
    """Find whether relatives are only of another ancestry than most samples; both arrays are changed."""
    first, second = all_pairs(shared.samples)
    doubtful = np.flatnonzero((relation != UNRELATED) & (relation != IDENTICAL))
    sites = slice(None, None, -(-shared.sites // _DRIFT_SITES) or 1)
    priors = [joint_priors(shared.frequencies[sites], drift) for drift in DRIFTS] if len(doubtful) else []
    for part in _parts(doubtful, len(DRIFTS) * len(shared.frequencies[sites])):
        genotypes, others = (shared.genotypes(some[part], sites) for some in (first, second))
        fits, drifts = fit_drift(genotypes, others, priors)
        relation[part] = [_agreed(int(inferred), fit) for inferred, fit in zip(relation[part], fits, strict=True)]
        for number, pair in enumerate(part.tolist()):
            if not np.isnan(relatedness[pair]):
                best = priors[drifts[number, fits[number].argmax()]]
                none, a1, a2 = likelihoods_of_pairs(genotypes[[number]], others[[number]], best)[0]
                relatedness[pair] = _estimated_relatedness((a1 / none)[None], (a2 / none)[None])[0]


def _agreed(relation: int, fits: Floats) -> int:
    """The relation that was found by the cohort's frequencies, if no drift explains the same without it."""
    if relation != UNKNOWN:
        fewer = fits[:RELATED] if relation == RELATED else fits[: RELATED + 1]
        if fits[relation] - fewer.max() >= LEAST_LEAD and fits.max() - fits[relation] < LEAST_LEAD:
            return relation
    return int(best_relations(fits[None])[0])


def _parts(pairs: NDArray[np.intp], sites: int) -> Iterator[NDArray[np.intp]]:
    size = max(1, _AT_ONCE // max(1, sites))
    return (pairs[begin : begin + size] for begin in range(0, len(pairs), size))


def log_likelihoods(a1: Singles, a2: Singles) -> Floats:
    """Log-likelihood of each relation over that of none, from A1 and A2, (pairs, sites): float64 (pairs, relations)."""
    result = np.zeros((len(a1), len(IBD)))
    for number, (k0, k1, k2) in enumerate(IBD * (1 - OUTLIERS)):
        if number != UNRELATED:
            sites = np.float32(k1) * a1 + np.float32(k2) * a2 + np.float32(k0 + OUTLIERS)
            result[:, number] = np.log(sites, out=sites).sum(axis=1, dtype=np.float64)
    return result


def best_relations(likelihoods: Floats) -> NDArray[np.int8]:
    """The likeliest relation of each pair: int8 (pairs,); `UNKNOWN` where it leads by less than `LEAST_LEAD`."""
    order = np.sort(likelihoods, axis=1)
    best: NDArray[np.int8] = likelihoods.argmax(axis=1).astype(np.int8)
    best[order[:, -1] - order[:, -2] < LEAST_LEAD] = UNKNOWN
    return best


def _estimated_relatedness(a1: Singles, a2: Singles) -> Singles:
    """k1 / 2 + k2 by maximum likelihood, (pairs,). NaN where no site tells.

    The log-likelihood is concave. Each step goes to the top of its parabola (Newton's method) within k1, k2 >= 0 and
    k1 + k2 <= 1. Expectation maximisation takes hundreds of steps where reads are few.
    """
    k = np.full((len(a1), 2), 1 / 3)
    for _ in range(_STEPS):
        total = 1 + k[:, :1] * (a1 - 1) + k[:, 1:] * (a2 - 1)
        slopes = [(part - 1) / total for part in (a1, a2)]
        gradient = np.stack([slope.mean(axis=1, dtype=np.float64) for slope in slopes], axis=1)
        curvature = np.empty((len(a1), 2, 2))
        for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
            curvature[:, row, column] = np.einsum("ps,ps->p", slopes[row], slopes[column]) / a1.shape[1]
        k += _INSIDE * (_top_in_triangle(k, gradient, curvature) - k)
    result: Singles = (k[:, 0] / 2 + k[:, 1]).astype(np.float32)
    result[~(a1 != 1).any(axis=1)] = np.nan
    return result


def _top_in_triangle(k: Floats, gradient: Floats, curvature: Floats) -> Floats:
    """The highest points of parabolas at k, (pairs, 2), within k1, k2 >= 0 and k1 + k2 <= 1."""
    curvature = curvature + _LEAST_CURVATURE * np.eye(2)
    free = k + np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
    places = [free]
    for begin, end in (([0, 0], [1, 0]), ([0, 0], [0, 1]), ([1, 0], [0, 1])):
        along = np.array(end) - begin
        slope = (gradient - np.einsum("pij,pj->pi", curvature, begin - k)) @ along
        places.append(begin + np.clip(slope / (curvature @ along @ along), 0, 1)[:, None] * along)
    steps = np.stack(places) - k
    heights = np.einsum("cpi,pi->cp", steps, gradient) - np.einsum("cpi,pij,cpj->cp", steps, curvature, steps) / 2
    is_inside = (free.min(axis=1) >= 0) & (free.sum(axis=1) <= 1)
    best = np.where(is_inside, 0, 1 + heights[1:].argmax(axis=0))
    return np.stack(places)[best, np.arange(len(k))]


def _score_test(shared: SharedAlleles) -> tuple[Singles, Singles]:
    """The score test of k1 = 0 against k1 > 0 for each pair: z, and the information; float32 (pairs,) each.

    The log-likelihood is concave in k1, and its slope at 0 is the sum of ``A1 - 1``. For all pairs these sums are
    products of matrices.
    """
    samples, sites = shared.samples, shared.sites
    reference, alternative = shared.one
    z, information = [], []
    for first in range(0, samples, _ROWS):
        rows = min(_ROWS, samples - first)
        slope, square = np.zeros((2, rows, samples - first))
        for begin in range(0, sites, _SITES):
            x, y = (table[first:, begin : begin + _SITES] for table in (reference, alternative))
            sums = x[:rows] @ x.T + y[:rows] @ y.T
            # The square of x x' + y y'.
            mixed = x * y
            squares = (x * x)[:rows] @ (x * x).T + (y * y)[:rows] @ (y * y).T + 2 * (mixed[:rows] @ mixed.T)
            slope += sums - x.shape[1]
            square += squares - 2 * sums + x.shape[1]
        later = np.triu_indices(rows, 1, samples - first)
        z.append((slope[later] / np.sqrt(np.maximum(square[later], 1e-9))).astype(np.float32))
        information.append(square[later].astype(np.float32))
    return np.concatenate(z), np.concatenate(information)
