"""Allele frequencies of a cohort's population as Pólya urns, and the axes of ancestry that frequencies depend on.

A frequency that some samples tell is not certain. Were it taken as such, contamination would be underestimated: alleles
of the source that the frequency calls rare would need fewer foreign reads. So the frequency has a beta distribution. To
draw alleles with such a frequency is to draw from an urn that holds the alleles that were seen, where each is put back
with another one like it (Pólya's urn). So alleles that were drawn for one genotype count for the next.

Ancestry is the axes along which individuals of a cohort differ, from the correlations of their genotypes. Frequencies
of alleles depend on where an individual lies on these axes. Relatives are correlated too: the drift of their pair
tells them from members of a population (`pairhmm.map.drift`), and what they share counts for no axis, as in PC-AiR
(Conomos, Miller and Thornton 2015).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.genotype_likelihoods import PSEUDO_COUNT, Floats, genotype_priors
from pairhmm.objects import short_repr

CERTAIN = 1e6
"""Alleles of an urn whose frequency is given."""
RELATED = 0.2
"""Individuals that are as alike are relatives. Half-siblings have 0.25."""
# A frequency is at least this and at most 1 minus this.
_RAREST = 0.005
# The least information of a genotype, as a share of a certain one's, in the step that leaves samples out.
_LEAST_INFORMATION = 0.1
_PRIOR_ALLELES = 0.5, 5.0


@dataclass(frozen=True, slots=True)
class AlleleUrn:
    """The alleles of a population at some sites. They need not be whole."""

    alternative: Floats
    total: Floats

    __repr__ = short_repr

    @property
    def frequencies(self) -> Floats:
        """Frequencies of the alternative allele: float64 (sites,)."""
        return self.alternative / self.total

    @property
    def genotypes(self) -> Floats:
        """Probabilities of a genotype that is drawn: float64 (3, sites)."""
        own, other = self.alternative, self.total - self.alternative
        drawn = np.stack([other * (other + 1), 2 * own * other, own * (own + 1)])
        return drawn / (self.total * (self.total + 1))

    def after(self, genotype: int) -> AlleleUrn:
        """The urn after that genotype was drawn."""
        return AlleleUrn(self.alternative + genotype, self.total + 2)

    def at(self, sites: NDArray[np.int32]) -> AlleleUrn:
        """The urn of these sites."""
        return AlleleUrn(self.alternative[sites], self.total[sites])


class CohortAlleles:
    """The alleles of a cohort without some of its individuals, and without the relatives of these.

    Relatives share alleles. Those among the others tell less of the population than as many strangers. `is_given` says
    where a frequency is not of the individuals, but known of the population. With axes of ancestry, (individuals,
    axes), an individual's frequencies are those of its place on them.

    `weights` are probabilities of genotypes, (individuals, 3, sites). `correlations` of genotypes are about 1 for one
    individual, and 0.5 for parents and children; what the axes explain is left out.
    """

    def __init__(
        self,
        likelihoods: NDArray[np.float32],
        frequencies: Floats,
        is_given: NDArray[np.bool_] | None = None,
        axes: Floats | None = None,
    ) -> None:
        self.weights = genotype_weights(likelihoods, genotype_priors(frequencies))
        self._given = np.zeros(len(frequencies), dtype=bool) if is_given is None else is_given
        self._all = np.clip(frequencies, _RAREST, 1 - _RAREST)
        copies = self.weights[:, 1] + 2 * self.weights[:, 2]
        # The share that the reads tell of what certain genotypes would. Where it is less, an individual draws more.
        variances = 2 * self._all * (1 - self._all)
        uncertain = self.weights[:, 1] + 4 * self.weights[:, 2] - copies**2
        self._information = np.maximum(1 - uncertain.mean(axis=0) / variances, 0.0)
        self._excess: NDArray[np.float32] = (copies / 2 - self._all).astype(np.float32)
        of_each = 1 - (uncertain / variances.astype(np.float32)).mean(axis=1)
        information: NDArray[np.float32] = np.maximum(of_each, _LEAST_INFORMATION).astype(np.float32)
        self.correlations = _correlations(self._excess, variances, information)
        self._axes = np.empty((len(likelihoods), 0)) if axes is None else axes
        if self._axes.shape[1]:
            self.correlations -= (self._axes @ self._axes.T).astype(np.float32)
            self._use_axes(likelihoods, information)
        self._is_related = self.correlations >= RELATED
        np.fill_diagonal(self._is_related, True)
        # Covariances of what individuals tell of a frequency.
        self._shared = np.where(
            self._is_related, np.minimum(self.correlations, 1) * information[:, None] * information, 0
        )
        np.fill_diagonal(self._shared, information)
        self._own, self._sums = information.astype(np.float64), self._shared.sum(axis=1, dtype=np.float64)
        self._prior = _spectrum(*self._seen(np.empty(0, dtype=np.intp)))

    def _use_axes(self, likelihoods: NDArray[np.float32], information: NDArray[np.float32]) -> None:
        """Genotypes once more, with the frequencies of each individual's place."""
        design = self._design(np.arange(len(information)))
        solved = np.linalg.solve(design.T @ (design * information[:, None]), design.T).astype(np.float32) @ self._excess
        for individual, at in enumerate(design.astype(np.float32)):
            own = np.clip(self._all + at @ solved, _RAREST, 1 - _RAREST)
            self.weights[individual] = genotype_weights(likelihoods[[individual]], genotype_priors(own))[0]
        copies = self.weights[:, 1] + 2 * self.weights[:, 2]
        self._excess = (copies / 2 - self._all).astype(np.float32)

    def _design(self, individuals: NDArray[np.intp]) -> Floats:
        return np.column_stack([np.ones(len(individuals)), self._axes[individuals]])

    @property
    def has_axes(self) -> bool:
        """Whether individuals are of several ancestries."""
        return bool(self._axes.shape[1])

    def farthest(self, individual: int) -> int:
        """The individual whose place on the axes is farthest from another's."""
        return int(np.square(self._axes - self._axes[individual]).sum(axis=1).argmax())

    def without(self, *individuals: int, at: int | None = None) -> AlleleUrn:
        """Of the others that are no relatives of theirs, at the place of the first one or of another individual."""
        out = np.flatnonzero(self._is_related[list(individuals)].any(axis=0))
        seen, alleles = self._seen(out, individuals[0] if at is None else at)
        alternative, reference = self._prior
        total = np.where(self._given, CERTAIN, alleles + alternative + reference)
        return AlleleUrn(np.where(self._given, self._all * CERTAIN, seen * alleles + alternative), total)

    def _seen(self, out: NDArray[np.intp], at: int | None = None) -> tuple[Floats, Floats]:
        """Frequencies of the others, by one step of Newton's method, and the number of strangers' alleles."""
        if at is not None and self.has_axes:
            return self._seen_at(out, at)
        others = self._own.sum() - self._own[out].sum()
        covariances = self._sums.sum() - 2 * self._sums[out].sum() + self._shared[np.ix_(out, out)].sum()
        here = np.maximum(self._information, _LEAST_INFORMATION) / max(self._information.mean(), _LEAST_INFORMATION)
        frequencies = self._all - self._excess[out].sum(axis=0) / (others * here + PSEUDO_COUNT)
        # Without the copies that were added.
        seen = frequencies + (frequencies - 0.5) * PSEUDO_COUNT / np.maximum(others * here, 1)
        # A sum of correlated numbers varies as one of more numbers that are not.
        return np.clip(seen, 0, 1), here * 2 * others**2 / max(1.0, float(covariances))

    def _seen_at(self, out: NDArray[np.intp], at: int) -> tuple[Floats, Floats]:
        """`_seen` at an individual's place: what a line through the others says."""
        others = np.setdiff1d(np.arange(len(self._own)), out)
        design, information = self._design(others), self._own[others]
        weighted = design * information[:, None]
        inverse = np.linalg.pinv(design.T @ weighted)
        shares = weighted @ inverse @ self._design(np.array([at]))[0]
        frequencies = self._all + shares.astype(np.float32) @ self._excess[others]
        covariances = self._shared[np.ix_(others, others)] / (information[:, None] * information)
        alleles = 2 / max(1e-9, float(shares @ covariances @ shares))
        return np.clip(frequencies, 0, 1), np.full(len(self._all), alleles)


def _spectrum(seen: Floats, alleles: Floats) -> tuple[float, float]:
    """The beta distribution of frequencies over sites, by its moments: alleles that an urn has before any is seen."""
    mean, by_chance = seen.mean(), (seen * (1 - seen) / np.maximum(alleles - 1, 1)).mean()
    size = mean * (1 - mean) / max(seen.var() - by_chance, 1e-3) - 1
    size = float(np.clip(size, *_PRIOR_ALLELES))
    return size * mean, size * (1 - mean)


def _correlations(
    excess: NDArray[np.float32], variances: Floats, information: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Correlations of genotypes, whose variances shrink to the share that is known (`information`)."""
    deviations = np.sqrt(variances / 4 * len(variances)).astype(np.float32)
    scaled = excess / (deviations * information[:, None])
    # Two of n individuals draw the frequencies to themselves, which makes them less alike by a share of 3 / n.
    individuals = len(scaled)
    return scaled @ scaled.T * np.float32(individuals / max(1, individuals - 3))


def genotype_weights(likelihoods: NDArray[np.float32], priors: Floats) -> NDArray[np.float32]:
    """Probabilities of genotypes, (samples, 3, sites), by priors of (3, sites)."""
    weights = np.exp(likelihoods.transpose(0, 2, 1)) * priors.astype(np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


Pairs = NDArray[np.intp]
AreRelated = Callable[[Pairs, Pairs], NDArray[np.bool_]]
"""Whether pairs of individuals are relatives: bool (pairs,) of the numbers of both."""

MOST_AXES = 5
LEAST_INDIVIDUALS = 4.0
"""An axis that fewer individuals make is of a family, or of somebody alone."""

# Correlations that are asked about, and those that are not needed to see whether there is an axis.
_LEAST_CORRELATION, _CLOSE = 0.08, 0.35
# Axes are longer than the longest one of noise by this factor.
_LEAST_LENGTH, _LEAST_EIGENVALUE = 1.5, 0.3
# The part of an axis that members of a population share: half without noise.
_LEAST_ALIKE = 0.25
_ROUNDS = 10
# A standard deviation by the median of absolute deviations.
_DEVIATION = 1.4826
_RIDGE = 1e-6


def find_axes(correlations: NDArray[np.float32], are_related: AreRelated) -> Floats:
    """The axes of ancestry, scaled so that their products are correlations of genotypes: (individuals, axes)."""
    count = len(correlations)
    close = correlations >= _CLOSE
    if not _axes(correlations, close).shape[1]:
        return np.empty((count, 0))
    first, second = np.nonzero(np.triu(correlations >= _LEAST_CORRELATION, 1))
    result = are_related(first, second)
    relatives = np.zeros_like(close)
    relatives[first[result], second[result]] = relatives[second[result], first[result]] = True
    return _axes(correlations, relatives)


def _axes(correlations: NDArray[np.float32], unknown: NDArray[np.bool_]) -> Floats:
    """Axes of a matrix whose diagonal, and some entries, are of something else than ancestry."""
    count = len(correlations)
    known = ~unknown
    np.fill_diagonal(known, False)
    entries = correlations[known]
    noise = np.median(np.abs(entries - np.median(entries))) * _DEVIATION if len(entries) else 0.0
    least = max(_LEAST_LENGTH * 2 * float(noise) * np.sqrt(count), _LEAST_EIGENVALUE)
    matrix = np.where(known, correlations, 0).astype(np.float64)
    values, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-values)[:MOST_AXES]
    spread = 1 / (vectors[:, order] ** 4).sum(axis=0)
    # A family draws frequencies to itself, which makes it unlike others; members of a population are alike as well.
    sides = np.maximum(vectors[:, order], 0), np.maximum(-vectors[:, order], 0)
    alike = sum(np.einsum("ik,ij,jk->k", side, matrix, side) for side in sides)
    kept = order[(values[order] > least) & (spread >= LEAST_INDIVIDUALS) & (alike >= _LEAST_ALIKE * values[order])]
    axes: Floats = vectors[:, kept] * np.sqrt(values[kept])
    if len(kept):
        # Entries that are not known count as 0 so far, which draws places to 0: least squares by the others.
        for _ in range(_ROUNDS):
            squares = np.einsum("ij,jk,jl->ikl", known, axes, axes) + _RIDGE * np.eye(len(kept))
            products = matrix @ axes
            axes = (axes + np.linalg.solve(squares, products[..., None])[..., 0]) / 2
    return axes
