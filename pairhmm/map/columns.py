"""The z-scores of signatures' slots and their projection, as one affine form that GPU kernels apply.

Kernels add up whole numbers, so the sums of a slot's values and of their squares are exact, and nothing depends on how
samples are cut into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.published import SLOTS

FORM_WORDS = 4
"""Words of a slot in `form_of`."""


@dataclass(frozen=True, slots=True)
class SlotSums:
    """Sums over the samples that have tokens.

    Attributes
    ----------
    samples : int
    values, squares : ndarray, shape (128,), object
        Of each slot: Python's integers, which have no limit.
    """

    samples: int
    values: NDArray[np.object_]
    squares: NDArray[np.object_]

    def __add__(self, other: SlotSums) -> SlotSums:
        return SlotSums(self.samples + other.samples, self.values + other.values, self.squares + other.squares)


def form_of(sums: SlotSums, matrix: NDArray[np.float32]) -> NDArray[np.uint32]:
    """What kernels project a signature's values by.

    The projection is the sum over slots of ``(value - mean) / deviation * matrix``. With a whole number m next to the
    mean, it is the sum of ``(value - m) * weight``, and a constant. The difference is exact, so no digits are lost
    where a slot hardly varies.

    Parameters
    ----------
    sums : SlotSums
    matrix : ndarray, shape (128, 2), float32

    Returns
    -------
    ndarray, shape (129, 4), uint32
        Of each slot m (int32), and the weights of x and y (float32); then 0, and the constants of x and y. The last
        column is 0.
    """
    count = max(1, sums.samples)
    middle = (2 * sums.values + count) // (2 * count)
    beyond = ((count * middle - sums.values) / count).astype(np.float64)
    variances = count * sums.squares - sums.values**2
    deviations = np.sqrt(variances.astype(np.float64)) / count
    varies = deviations > 0
    weights = np.where(varies[:, None], matrix, 0.0) / np.where(varies, deviations, 1.0)[:, None]
    form = np.zeros((SLOTS + 1, FORM_WORDS), dtype=np.uint32)
    form[:SLOTS, 0] = middle.astype(np.uint32)
    form[:SLOTS, 1:3] = weights.astype(np.float32).view(np.uint32)
    form[SLOTS, 1:3] = (beyond[:, None] * weights).sum(axis=0).astype(np.float32).view(np.uint32)
    return form
