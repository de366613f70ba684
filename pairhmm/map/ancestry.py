"""Ancestry as axes along which individuals of a cohort differ, from the correlations of their genotypes.

Frequencies of alleles depend on where an individual lies on these axes. Relatives are correlated too. They are told
from members of a population by the drift of their pair (`pairhmm.map.drift`), and what they have in common counts
for no axis, as in PC-AiR (Conomos, Miller and Thornton 2015).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.likelihoods import Floats

Pairs = NDArray[np.intp]
AreRelated = Callable[[Pairs, Pairs], NDArray[np.bool_]]
"""Whether pairs of individuals are relatives: bool (pairs,) of the numbers of both."""

MOST_AXES = 5
LEAST_INDIVIDUALS = 4.0
"""An axis that fewer individuals make is of a family, or of somebody alone."""

# Correlations that are asked about, and those that are not needed to see whether there is an axis.
_LEAST_LIKENESS, _CLOSE = 0.08, 0.35
# Axes are longer than the longest one of noise by this factor.
_LEAST_LENGTH, _LEAST_EIGENVALUE = 1.5, 0.3
# What members of a population have in common with each other, as a part of an axis: half without noise.
_LEAST_ALIKE = 0.25
_ROUNDS = 10
# A standard deviation by the median of absolute deviations.
_DEVIATION = 1.4826
_RIDGE = 1e-6


def find_axes(likeness: NDArray[np.float32], are_related: AreRelated) -> Floats:
    """The axes of ancestry, scaled so that their products are correlations: float64 (individuals, axes).

    Parameters
    ----------
    likeness : float32 (individuals, individuals)
        Correlations of genotypes.
    are_related : callable
    """
    count = len(likeness)
    close = likeness >= _CLOSE
    if not _axes(likeness, close).shape[1]:
        return np.empty((count, 0))
    first, second = np.nonzero(np.triu(likeness >= _LEAST_LIKENESS, 1))
    found = are_related(first, second)
    relatives = np.zeros_like(close)
    relatives[first[found], second[found]] = relatives[second[found], first[found]] = True
    return _axes(likeness, relatives)


def _axes(likeness: NDArray[np.float32], unknown: NDArray[np.bool_]) -> Floats:
    """Axes of a matrix whose diagonal, and some entries, are of something else than ancestry."""
    count = len(likeness)
    known = ~unknown
    np.fill_diagonal(known, False)
    entries = likeness[known]
    noise = np.median(np.abs(entries - np.median(entries))) * _DEVIATION if len(entries) else 0.0
    least = max(_LEAST_LENGTH * 2 * float(noise) * np.sqrt(count), _LEAST_EIGENVALUE)
    matrix = np.where(known, likeness, 0).astype(np.float64)
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
