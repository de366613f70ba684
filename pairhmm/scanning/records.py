"""Blocks of records as read from one file: samples with their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.names import Names
from pairhmm.scanning.batch import Samples

# As the compiled part reads it: letters, qualities, offset, names and their ends, then the scalars that `of` names.
_Letters = NDArray[np.uint8]
_Ends = NDArray[np.int64]
SampleBlock = tuple[_Letters, _Letters | None, _Ends, bytes, _Ends, int, int, int, bool]


@dataclass(frozen=True, slots=True)
class RecordBlock:
    """Records of one file, in order.

    Attributes
    ----------
    samples : Samples
        One segment for each record. The first one may continue the last record of the block before, and the last one
        may be unfinished.
    names : Names
    first_record : int
        Number of the first record in its file, from 0.
    first_position : int
        Where the first segment begins in its record, 0-based.
    unfinished : bool
        Whether the last record continues in the next block.
    """

    samples: Samples
    names: Names
    first_record: int
    first_position: int = 0
    unfinished: bool = False

    def take(self, first: int, end: int) -> RecordBlock:
        """The records ``first`` to ``end - 1``; the arrays are views."""
        is_last = end == len(self.names)
        return RecordBlock(
            self.samples.take(first, end),
            self.names.take(first, end),
            self.first_record + first,
            0 if first else self.first_position,
            self.unfinished and is_last,
        )

    @classmethod
    def of(cls, taken: SampleBlock, first_record: int | None = None) -> RecordBlock:
        """The block that the compiled part read. `first_record` is for formats whose reader does not count records."""
        letters, qualities, offset, names, name_end, counted, first_position, carried, unfinished = taken
        samples = Samples(letters, qualities, offset, carried)
        first = counted if first_record is None else first_record
        return cls(samples, Names(names, name_end), first, first_position, unfinished)
