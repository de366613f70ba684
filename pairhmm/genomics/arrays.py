"""Sequences laid end to end in one flat array, with the offset at which each begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def offsets(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each sequence begins, and where the last one ends: int64[len(lengths) + 1]."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def joined(arrays: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Arrays laid end to end; an empty array where there are none."""
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.uint8)
