"""CIGAR operations, numbered as BAM numbers them: M I D N S H P = X (SAM specification, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

LETTERS = "MIDNSHP=X"
"""The letter of each operation."""

MATCH, INSERTION, DELETION, SOFT_CLIP = 0, 1, 2, 4
"""Those of an alignment. M is a column of two letters, equal or not."""

# An operation is stored in four bits, of which seven values are not in use.
_UNUSED = [0] * 7

ALIGNS = np.array([1, 0, 0, 0, 0, 0, 0, 1, 1, *_UNUSED], dtype=bool)
"""bool[16]: whether an operation aligns bases of the read with bases of the reference."""
CONSUMES_QUERY = np.array([1, 1, 0, 0, 1, 0, 0, 1, 1, *_UNUSED], dtype=np.int64)
"""int64[16]: 1 for operations that consume bases of the read."""
CONSUMES_REFERENCE = np.array([1, 0, 1, 1, 0, 0, 0, 1, 1, *_UNUSED], dtype=np.int64)
"""int64[16]: 1 for operations that consume bases of the reference."""


def packed(operations: Iterable[tuple[int, int]]) -> NDArray[np.uint32]:
    """``length << 4 | operation`` of each (operation, length): neighbours of a kind as one, none of length 0."""
    runs = groupby(((kind, length) for kind, length in operations if length), key=lambda one: one[0])
    return np.array([sum(length for _, length in run) << 4 | kind for kind, run in runs], dtype=np.uint32)


def texts(cigars: NDArray[np.uint32], offsets: NDArray[np.int64]) -> list[str]:
    """CIGARs that lie end to end, each as text: 5M1D3M. An empty one is ``*``, as in SAM."""
    words = cigars.tolist()
    # Few words differ, and most stand in many CIGARs.
    text_of = {word: f"{word >> 4}{LETTERS[word & 15]}" for word in set(words)}
    parts, ends = [text_of[word] for word in words], offsets.tolist()
    return ["".join(parts[begin:end]) or "*" for begin, end in pairwise(ends)]
