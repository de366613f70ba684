"""Blocks of records as read from one file: samples with their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import Names, joined, offsets

# As the compiled part reads it: letters, qualities, offset, names and their ends, then the scalars that `of` names.
_Letters = NDArray[np.uint8]
_Ends = NDArray[np.int64]
SampleBlock = tuple[_Letters, _Letters | None, _Ends, bytes, _Ends, int, int, int, bool]


@dataclass(frozen=True, slots=True)
class Samples:
    """Segments laid end to end. A segment is a whole record, or a stretch of one that is longer than a block.

    Attributes
    ----------
    letters : uint8[bases]
        Sets of bases.
    qualities : uint8[bases] or None
        Phred; None where the records have none.
    offset : int64[segments + 1]
    carried : int
        How many bases at the start of the first segment repeat the end of the segment before. Matches that end within
        them, and their qualities, belong to that segment.
    """

    letters: NDArray[np.uint8]
    qualities: NDArray[np.uint8] | None
    offset: NDArray[np.int64]
    carried: int = 0

    __repr__ = short_repr

    @classmethod
    def of(
        cls, sequences: Sequence[NDArray[np.uint8]], qualities: Sequence[NDArray[np.uint8]] | None = None
    ) -> Samples:
        """Pack whole records."""
        lengths = [len(sequence) for sequence in sequences]
        if qualities is not None and [len(values) for values in qualities] != lengths:
            raise ValueError("sequences and qualities differ in length")
        return cls(joined(sequences), None if qualities is None else joined(qualities), offsets(lengths))

    def take(self, first: int, end: int) -> Samples:
        """Segments ``first`` to ``end - 1`` as samples of their own; the arrays are views."""
        offset = self.offset[first : end + 1]
        here = slice(int(offset[0]), int(offset[-1]))
        qualities = None if self.qualities is None else self.qualities[here]
        return Samples(self.letters[here], qualities, offset - offset[0], 0 if first else self.carried)

    def __len__(self) -> int:
        return len(self.offset) - 1


@dataclass(frozen=True, slots=True)
class RecordBlock:
    """Records of one file, in order.

    Attributes
    ----------
    samples : Samples
        One segment for each record. The first one may continue the last record of the block before, and the last one
        may be unfinished.
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
