"""Classical multidimensional scaling: the plane that keeps distances best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_SAMPLES = 2000
"""Samples that are scaled exactly: the time grows with their cube."""


def scaled(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions in the plane from distances (Torgerson 1952; Gower 1966), shape (samples, 2).

    They are the two largest principal axes of the doubly centred squares of distances. Of each axis, the coordinate
    that is farthest from 0 is positive.

    Parameters
    ----------
    distances : ndarray, shape (samples, samples), float64
        Symmetric; 0 on the diagonal.
    """
    squares = distances**2
    means = squares.mean(axis=0)
    centred = -0.5 * (squares - means - means[:, None] + means.mean())
    values, vectors = np.linalg.eigh(centred)
    axes = vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0))
    farthest = axes[np.abs(axes).argmax(axis=0), [0, 1]]
    positions: NDArray[np.float64] = axes * np.where(farthest < 0, -1, 1)
    return positions
