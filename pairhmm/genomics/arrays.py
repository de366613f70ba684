"""Many sequences as one flat array, with the offsets that each begins at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def offsets(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Running sum that starts at zero: int64[len(lengths) + 1]."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def joined(arrays: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Arrays end to end, none at all among them."""
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.uint8)
