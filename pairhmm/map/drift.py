"""Population drift: relations of pairs whose population has other allele frequencies than the cohort.

In a cohort of several ancestries, two strangers of a minority share alleles that are rare in the cohort. With the
cohort's frequencies they look like relatives. What tells them apart is that such alleles stand together within an
individual as well: a minority's members have more homozygous sites than the cohort's frequencies say, while relatives
have not. So the frequencies of a pair are drawn anew from a beta distribution about those of the cohort, whose width is
the drift F of the pair's population (Balding and Nichols 1995), and F is what fits best for each relation. It is 0 in a
cohort of one ancestry, where nothing is lost; with a large F, the cohort's frequencies tell nothing, as in KING-robust
(Manichaikul et al. 2010), which needs none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.genotype_likelihoods import GENOTYPES, Floats, LogLikelihoods, is_common
from pairhmm.variants.genealogy import IBD, UNRELATED

DRIFTS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Values of F that are tried."""
_FEW_SITES = 5_000
OUTLIERS = 0.01
"""Share of sites where a pair counts as unrelated: a genotype may be wrong in a way that no likelihood knows."""
_PAIRS_OF_GENOTYPES = GENOTYPES**2
# How many ways a genotype's two alleles have.
_WAYS = (1, 2, 1)

JointPriors = NDArray[np.float32]
"""P(both genotypes | 0, 1, 2 alleles from a common ancestor): (3, 9, sites)."""


def joint_priors(frequencies: Floats, drift: float) -> JointPriors:
    """Probabilities of the genotypes of two samples, by the cohort's frequencies and F, 0 to below 1."""

    def drawn(alternative: int, reference: int) -> Floats:
        """The probability to draw these counts of alleles, in one order, from an urn with (1 - F) / F alleles."""
        result = np.ones_like(frequencies)
        for number in range(alternative):
            result *= (1 - drift) * frequencies + drift * number
        for number in range(reference):
            result *= (1 - drift) * (1 - frequencies) + drift * number
        for number in range(alternative + reference):
            result /= 1 - drift + drift * number
        return result

    priors = np.zeros((3, GENOTYPES, GENOTYPES, len(frequencies)), dtype=np.float32)
    for first in range(GENOTYPES):
        priors[2, first, first] = _WAYS[first] * drawn(first, 2 - first)
        for second in range(GENOTYPES):
            priors[0, first, second] = _WAYS[first] * _WAYS[second] * drawn(first + second, 4 - first - second)
            for shared in range(2):
                left, right = first - shared, second - shared
                if {left, right} <= {0, 1}:
                    alternative = shared + left + right
                    priors[1, first, second] += drawn(alternative, 3 - alternative)
    return priors.reshape(3, _PAIRS_OF_GENOTYPES, -1)


def likelihoods_of_pairs(
    first: NDArray[np.float32], second: NDArray[np.float32], priors: JointPriors
) -> NDArray[np.float32]:
    """P(data of both | 0, 1, 2 alleles from a common ancestor): (pairs, 3, sites).

    The likelihoods of genotypes of each sample, (pairs, 3, sites), are no logarithms.
    """
    both = (first[:, :, None] * second[:, None]).reshape(len(first), _PAIRS_OF_GENOTYPES, -1)
    result = np.empty((len(first), 3, both.shape[-1]), dtype=np.float32)
    for number, prior in enumerate(priors):
        np.einsum("pgs,gs->ps", both, prior, out=result[:, number])
    return result


def relation_likelihoods(of_states: NDArray[np.float32]) -> Floats:
    """Log-likelihood of each relation: float64 (pairs, relations)."""
    result = np.empty((len(of_states), len(IBD)))
    for number, shares in enumerate(IBD * (1 - OUTLIERS) + np.array([OUTLIERS, 0, 0])):
        sites = sum(np.float32(share) * of_states[:, state] for state, share in enumerate(shares) if share)
        result[:, number] = np.log(sites).sum(axis=1, dtype=np.float64)
    return result


def fit_drift(
    first: NDArray[np.float32], second: NDArray[np.float32], priors: Sequence[JointPriors]
) -> tuple[Floats, NDArray[np.intp]]:
    """Log-likelihoods of the relations of pairs, each with the drift that fits it best, and the number of that drift.

    Both are (pairs, relations). Likelihoods of genotypes are (pairs, 3, sites), and there are priors of each of
    `DRIFTS`.
    """
    fits = np.stack([relation_likelihoods(likelihoods_of_pairs(first, second, prior)) for prior in priors])
    return fits.max(axis=0), fits.argmax(axis=0)


class DriftedPairs:
    """Tells relatives from members of a population, at some of the sites."""

    def __init__(self, likelihoods: LogLikelihoods, frequencies: Floats) -> None:
        common = np.flatnonzero(is_common(frequencies))
        self._sites = common[:: -(-len(common) // _FEW_SITES) or 1]
        self._likelihoods, self._frequencies = likelihoods, frequencies[self._sites]

    def are_related(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether pairs have any relation: bool (pairs,)."""
        priors = [joint_priors(self._frequencies, drift) for drift in DRIFTS] if len(first) else []
        result = np.zeros(len(first), dtype=bool)
        for pair in range(len(first)):
            left, right = (np.exp(self._likelihoods[row, self._sites].T)[None] for row in (first[pair], second[pair]))
            fits, _ = fit_drift(left, right, priors)
            result[pair] = fits[0].argmax() != UNRELATED
        return result
