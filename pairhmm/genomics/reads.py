"""One aligned read. Runs over files use `pairhmm.genomics.blocks.ReadBlock`, which packs many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.interface.display import short_repr

PAIRED, FIRST, SECOND = 0x1, 0x40, 0x80


@dataclass(slots=True)
class Alignment:
    """An aligned read, as SAM has it.

    Attributes
    ----------
    name : str
    sample : int
        Index into the list of samples.
    flag : int
        SAM flags.
    start, end : int
        Aligned reference bases, 0-based half-open.
    mapq : int
    bases : uint8[m]
        Letters, 0..4 for A C G T N; soft clips included.
    quals : uint8[m]
        Phred base qualities.
    cigar : list of (int, int)
        (operation as in BAM, length).
    """

    name: str
    sample: int
    flag: int
    start: int
    end: int
    mapq: int
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    cigar: list[tuple[int, int]]

    __repr__ = short_repr

    @property
    def mate(self) -> int:
        """1 or 2 of a pair; 0 for a read without a mate."""
        if not self.flag & PAIRED:
            return 0
        return 1 if self.flag & FIRST else 2 if self.flag & SECOND else 0
