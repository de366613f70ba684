"""Blocks of records as read from one file: samples with their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.arrays import offsets
from pairhmm.scanning.batch import Samples

if TYPE_CHECKING:
    from pairhmm._cpu import _SampleBlock


@dataclass(frozen=True, slots=True)
class Names:
    """Names laid end to end: an object for each would take too much memory.

    Attributes
    ----------
    text : bytes
    end : int64[names]
        Where each name ends, and the next one begins.
    """

    text: bytes
    end: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[bytes]) -> Names:
        """Pack names."""
        return cls(b"".join(names), offsets([len(name) for name in names])[1:])

    def __len__(self) -> int:
        return len(self.end)

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def take(self, first: int, end: int) -> Names:
        """The names [first, end)."""
        begin = int(self.end[first - 1]) if first else 0
        stop = int(self.end[end - 1]) if end else 0
        return Names(self.text[begin:stop], self.end[first:end] - begin)

    def raw(self, index: int) -> bytes:
        """A name, as the bytes in the file."""
        return self.text[int(self.end[index - 1]) if index else 0 : int(self.end[index])]

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.raw(index).decode("utf-8", "replace")


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

    @classmethod
    def of(cls, taken: _SampleBlock, first_record: int | None = None) -> RecordBlock:
        """The block that the compiled part read. `first_record` is for formats whose reader does not count records."""
        letters, qualities, offset, names, name_end, counted, first_position, carried, unfinished = taken
        samples = Samples(letters, qualities, offset, carried)
        first = counted if first_record is None else first_record
        return cls(samples, Names(names, name_end), first, first_position, unfinished)
