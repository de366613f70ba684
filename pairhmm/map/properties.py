"""Properties of samples as sets of tokens, and neighbours, both as compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TokenSets:
    """A set of tokens for each sample.

    Attributes
    ----------
    tokens : ndarray, shape (tokens,), uint32
        Below 2**31 - 1. Those of a sample are distinct and sorted.
    offsets : ndarray, shape (samples + 1,), int64
        Where each sample's begin in `tokens`.
    """

    tokens: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbours of each sample.

    Attributes
    ----------
    indices : ndarray, shape (neighbours,), int32
        Samples.
    offsets : ndarray, shape (samples + 1,), int64
        Where each sample's neighbours begin in `indices`.
    """

    indices: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1
