"""Fields of SAM records: CIGAR operations, numbered as in BAM, and flags (SAM specification, section 1.4)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

CIGAR_LETTERS = "MIDNSHP=X"
"""The letter of each operation."""

MATCH, INSERTION, DELETION, SOFT_CLIP = 0, 1, 2, 4
"""The operations of an alignment. M is a column of two letters, equal or not."""

# An operation is stored in four bits, of which seven values are not in use.
_UNUSED = [0] * 7

ALIGNS = np.array([1, 0, 0, 0, 0, 0, 0, 1, 1, *_UNUSED], dtype=bool)
"""bool[16]: whether an operation aligns bases of the read with bases of the reference."""
CONSUMES_QUERY = np.array([1, 1, 0, 0, 1, 0, 0, 1, 1, *_UNUSED], dtype=np.int64)
"""int64[16]: 1 for operations that consume bases of the read."""
CONSUMES_REFERENCE = np.array([1, 0, 1, 1, 0, 0, 0, 1, 1, *_UNUSED], dtype=np.int64)
"""int64[16]: 1 for operations that consume bases of the reference."""


def packed_cigar(operations: Iterable[tuple[int, int]]) -> NDArray[np.uint32]:
    """``length << 4 | operation`` of each (operation, length): neighbours of a kind as one, none of length 0."""
    runs = groupby(((kind, length) for kind, length in operations if length), key=lambda one: one[0])
    return np.array([sum(length for _, length in run) << 4 | kind for kind, run in runs], dtype=np.uint32)


def cigar_texts(cigars: NDArray[np.uint32], offsets: NDArray[np.int64]) -> list[str]:
    """CIGARs that lie end to end, each as text: 5M1D3M. An empty one is ``*``, as in SAM."""
    words = cigars.tolist()
    # Few words differ, and most stand in many CIGARs.
    text_of = {word: f"{word >> 4}{CIGAR_LETTERS[word & 15]}" for word in set(words)}
    parts, ends = [text_of[word] for word in words], offsets.tolist()
    return ["".join(parts[begin:end]) or "*" for begin, end in pairwise(ends)]


PAIRED: Final = 0x1
PROPER_PAIR: Final = 0x2
UNMAPPED: Final = 0x4
MATE_UNMAPPED: Final = 0x8
REVERSE: Final = 0x10
MATE_REVERSE: Final = 0x20
FIRST: Final = 0x40
SECOND: Final = 0x80
SECONDARY: Final = 0x100
QC_FAIL: Final = 0x200
DUPLICATE: Final = 0x400
SUPPLEMENTARY: Final = 0x800

ReadKey = tuple[str, str, int]
"""Sample, name and mate of a read; the mate is that of `mate_of`."""


def mate_of(flag: int) -> int:
    """1 or 2 for the first or second read of a pair; 0 for a read without a mate."""
    if not flag & PAIRED:
        return 0
    return 1 if flag & FIRST else 2 if flag & SECOND else 0
