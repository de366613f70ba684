"""The unpacked bytes of a BAM file: all records, or those at a place that an index gives.

Offsets are virtual: 48 bits of a block's place in the file, and 16 of a place in the unpacked block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.compiled import native
from pairhmm.io.alignments.bam_index import BamIndex
from pairhmm.io.files.ahead import read_ahead
from pairhmm.io.files.bgzf_blocks import Block, DamagedBlockError, ReadAt, blocks_from

_WITHIN = 0xFFFF


@dataclass(frozen=True, slots=True)
class BamRecords:
    """Where the records of a BAM file are.

    Attributes
    ----------
    open : callable
        Opens the file: gives a function to read from it, and one to close it.
    first : int
        Virtual offset of the first record.
    index : BamIndex or None
    reads_ahead : bool
        A thread unpacks blocks while the caller works.
    """

    open: Callable[[], tuple[ReadAt, Callable[[], None]]]
    first: int
    index: BamIndex | None
    reads_ahead: bool = False

    def whole(self) -> UnpackedBam:
        """All records."""
        return self.between(self.first, None)

    def between(self, begin: int, behind: int | None) -> UnpackedBam:
        """The records that begin at virtual offsets [begin, behind); None is the end of the file."""
        read, close = self.open()
        blocks = blocks_from(read, begin >> 16)
        return UnpackedBam(read_ahead(blocks) if self.reads_ahead else blocks, begin, behind, close)


@dataclass(frozen=True, slots=True)
class PipedRecords:
    """The records of a BAM file that comes through a pipe, which can be read once."""

    stream: UnpackedBam
    index: None = None

    def whole(self) -> UnpackedBam:
        """All records."""
        return self.stream

    def between(self, begin: int, behind: int | None) -> UnpackedBam:
        """Not for pipes: they have no index."""
        raise NotImplementedError


def read_header(batches: Iterator[list[Block]]) -> tuple[list[Block], int]:
    """Read on until the header is whole.

    Returns
    -------
    blocks : list of Block
        Those that were read.
    size : int
        Of the header, unpacked; 0 where there is none, or none that is whole.
    """
    blocks: list[Block] = []
    size = 0
    try:
        for batch in batches:
            blocks += batch
            data = b"".join(block.data for block in blocks)
            size, is_broken = native.take_bam_header(np.frombuffer(data, dtype=np.uint8))
            if size or is_broken:
                break
    except DamagedBlockError:
        pass
    return blocks, size


def first_record(read: ReadAt) -> int | None:
    """The virtual offset of the first record, behind the header; None where there is no whole header."""
    blocks, size = read_header(blocks_from(read, 0))
    for address, data in blocks if size else ():
        if size <= min(len(data), _WITHIN):
            return address << 16 | size
        size -= len(data)
    return None


def opener_of(path: str | int) -> Callable[[], tuple[ReadAt, Callable[[], None]]]:
    """The `open` of a regular file, or of a descriptor, whose position does not change."""

    def open_again() -> tuple[ReadAt, Callable[[], None]]:
        file = os.open(path, os.O_RDONLY) if isinstance(path, str) else os.dup(path)
        return lambda address, size: os.pread(file, size, address), lambda: os.close(file)

    return open_again


class UnpackedBam:
    """Unpacked bytes, of which the front is given up as records are taken.

    Parameters
    ----------
    batches : generator of lists of Block
        From the block at `begin` on.
    begin : int
        Virtual offset of the first record.
    behind : int or None
        Virtual offset behind which no record begins; None is the end of the file.
    close : callable

    Attributes
    ----------
    at : int
        Where the next record begins. The caller sets it.
    """

    def __init__(
        self, batches: Generator[list[Block]], begin: int, behind: int | None, close: Callable[[], None]
    ) -> None:
        self._batches, self._behind, self._close = batches, behind, close
        self._data, self.at, self._limit = b"", 0, -1
        self.extend()
        self.at = begin & _WITHIN
        if self.at > len(self._data):
            self.close()
            raise DamagedBlockError

    def held(self) -> tuple[NDArray[np.uint8], int, int]:
        """The bytes, where the next record begins in them, and where no more begin."""
        limit = len(self._data) if self._limit < 0 else min(self._limit, len(self._data))
        return np.frombuffer(self._data, dtype=np.uint8), self.at, limit

    def is_done(self) -> bool:
        """Whether all records were taken that begin before the end that was given."""
        return 0 <= self._limit <= self.at

    def extend(self) -> bool:
        """Unpack some more blocks behind the bytes that are left. Returns whether there are any.

        Raises
        ------
        DamagedBlockError
            For blocks that are damaged, and for a file that ends within a record.
        """
        batch = next(self._batches, None)
        left = self._data[self.at :]
        if batch is None:
            if left:
                raise DamagedBlockError
            return False
        if self._limit >= 0:
            self._limit -= self.at
        position = len(left)
        for address, data in batch:
            if self._behind is not None and self._limit < 0 and address >= self._behind >> 16:
                self._limit = position + (self._behind & _WITHIN if address == self._behind >> 16 else 0)
            position += len(data)
        self._data, self.at = b"".join([left, *(data for _, data in batch)]), 0
        return True

    def close(self) -> None:
        """Close the file."""
        self._batches.close()
        self._close()
