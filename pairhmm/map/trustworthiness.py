"""How far neighbours on a map are neighbours in truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def trustworthiness(distances: NDArray[np.float64], positions: NDArray[np.float64], neighbours: int) -> float | None:
    """The trustworthiness of a map (Venna and Kaski 2001): 1 if near samples on the map are near in truth.

    ``1 - 2 / (n k (2 n - 3 k - 1)) * sum of (r(i, j) - k)``, over samples j that are among the k nearest of i on the
    map, and not in truth. r(i, j) is 1 more than the number of samples that are truly nearer to i than j is, so that
    equal distances count for the map.

    Parameters
    ----------
    distances : ndarray, shape (samples, samples), float64
        The true ones.
    positions : ndarray, shape (samples, 2), float64
    neighbours : int
        k; fewer where samples are no more than twice as many.

    Returns
    -------
    float or None
        None for fewer than three samples.
    """
    count = len(positions)
    k = min(neighbours, (count - 1) // 2)
    if k < 1:
        return None
    penalty = 0
    others = ~np.eye(count, dtype=bool)
    for sample in range(count):
        is_other = others[sample]
        on_map = np.square(positions[is_other] - positions[sample]).sum(axis=1)
        nearest = np.argsort(on_map, kind="stable")[:k]
        truth = distances[sample][is_other]
        ranks = np.searchsorted(np.sort(truth), truth[nearest]) + 1
        penalty += int(np.maximum(ranks - k, 0).sum())
    return 1 - 2 * penalty / (count * k * (2 * count - 3 * k - 1))
