"""Sequences laid end to end in one flat array, with the offset at which each begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.native import native

_Kind = TypeVar("_Kind", bound=np.generic)


def offsets(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each sequence begins, and where the last one ends: int64[len(lengths) + 1]."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def joined(arrays: Sequence[NDArray[_Kind]], kind: type[_Kind] = np.uint8) -> NDArray[_Kind]:  # type: ignore[assignment]
    """Arrays of a kind laid end to end; an empty array where there are none."""
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=kind)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different values, in order. `numpy.unique` would import numpy.ma, which takes longer than all else here."""
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def gather(source: NDArray[np.uint8], starts: NDArray[np.int64], target_offset: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Slices of a flat array laid end to end: slice i begins at ``starts[i]`` and ends up at ``target_offset[i]``."""
    target = np.empty(int(target_offset[-1]), dtype=np.uint8)
    native.gather(source, np.ascontiguousarray(starts, dtype=np.int64), target_offset, target)
    return target
