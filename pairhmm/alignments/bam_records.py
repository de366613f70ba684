"""A stream of the unpacked bytes of a BAM file (BGZF): all records, or those at an offset of its index."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.bam_index import BamIndex
from pairhmm.files import formats
from pairhmm.files.background import prefetch
from pairhmm.files.bgzf import Block, DamagedBlockError, ReadAt, blocks_from
from pairhmm.native import native

if TYPE_CHECKING:
    from pairhmm._cpu import AlignmentParser

_WITHIN = 0xFFFF
# Batches behind which a thread begins. An index leads to a window of 16,384 bases, of which 30 reads a base take four
# batches: what a thread had unpacked behind them would mostly be in vain.
_ALONE = 3


@dataclass(frozen=True, slots=True)
class BamRecords:
    """Where the records of a BAM file are.

    `open`: opens the file: gives a function to read from it, and one to close it. `first`: virtual offset of the first
    record. `reads_ahead`: a thread unpacks blocks while the caller works.
    """

    open: Callable[[], tuple[ReadAt, Callable[[], None]]]
    first: int
    index: BamIndex | None
    reads_ahead: bool = False

    @property
    def has_index(self) -> bool:
        """Whether there is an index."""
        return self.index is not None

    def mapped_reads(self, tid: int) -> int | None:
        """The number of mapped reads on a contig by the index, if there is one."""
        return None if self.index is None else self.index.mapped_reads(tid)

    def unplaced_reads(self) -> int:
        """The number of reads without a contig, by the index."""
        assert self.index is not None
        return self.index.unplaced_reads

    def whole(self) -> BamStream:
        """All records."""
        return self._between(self.first, None)

    def through_index(self, tid: int, start: int, end: int) -> Iterator[BamStream]:
        """Records that overlap [start, end) of a contig, and others beside them."""
        assert self.index is not None
        enough = self.index.before(tid, end - 1)
        for begin, behind in self.index.places(tid, start, end):
            yield self._between(begin, behind, enough)

    def _between(self, begin: int, behind: int | None, enough: int | None = None) -> BamStream:
        """The records that begin at virtual offsets [begin, behind); None is the end of the file.

        Few records behind `enough` are needed.
        """
        read, close = self.open()
        blocks = blocks_from(read, begin >> 16, None if enough is None else enough >> 16)
        return BamStream(ahead_to(blocks, behind) if self.reads_ahead else blocks, begin, behind, close)


def ahead_to(batches: Generator[list[Block]], behind: int | None) -> Generator[list[Block]]:
    """Let a thread unpack the batches up to a virtual offset. Those behind it are unpacked when they are asked for."""
    within = _up_to(batches, behind)
    yield from islice(within, _ALONE)
    yield from prefetch(within)
    yield from batches


def _up_to(batches: Iterator[list[Block]], behind: int | None) -> Iterator[list[Block]]:
    for batch in batches:
        yield batch
        if behind is not None and batch and batch[-1].address >= behind >> 16:
            return


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
    data, size = bytearray(), 0
    try:
        for batch in batches:
            blocks += batch
            data += b"".join(block.data for block in batch)
            if not data.startswith(formats.BAM[: len(data)]):
                break
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


def opener_of(path: str | int, stays_open: bool = True) -> Callable[[], tuple[ReadAt, Callable[[], None]]]:
    """The `open` of a regular file, or of a descriptor, whose position does not change.

    A path that does not stay open is opened for each piece that is read.
    """

    def open_again() -> tuple[ReadAt, Callable[[], None]]:
        file = os.open(path, os.O_RDONLY) if isinstance(path, str) else os.dup(path)
        return lambda address, size: os.pread(file, size, address), lambda: os.close(file)

    def read_once(address: int, size: int) -> bytes:
        read, close = open_again()
        try:
            return read(address, size)
        finally:
            close()

    return open_again if stays_open else lambda: (read_once, lambda: None)


class BamStream:
    """Unpacked bytes, of which the front is given up as records are taken.

    Parameters
    ----------
    batches : generator of lists of Block
        From the block at `begin` on.
    begin : int
        Virtual offset of the first record.
    behind : int or None
        Virtual offset behind which no record begins; None is the end of the file.

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
        try:
            self.extend()
            self.at = begin & _WITHIN
            if self.at > len(self._data):
                raise DamagedBlockError
        except BaseException:
            self.close()
            raise

    def held(self) -> tuple[NDArray[np.uint8], int, int]:
        """The bytes, where the next record begins in them, and where no more begin."""
        limit = len(self._data) if self._limit < 0 else min(self._limit, len(self._data))
        return np.frombuffer(self._data, dtype=np.uint8), self.at, limit

    def parse(self, parser: AlignmentParser, room: int) -> str:
        """Let the parser take records until it stops. Returns why; "more" is the end of the records."""
        while True:
            stop, self.at = parser.parse(*self.held(), room)
            if stop != "more" or self._is_done() or not self.extend():
                return stop

    def _is_done(self) -> bool:
        """Whether all records were taken that begin before the end that was given."""
        return 0 <= self._limit <= self.at

    def extend(self) -> bool:
        """Unpack some more blocks behind the bytes that are left. Returns whether there are any.

        Raises DamagedBlockError for blocks that are damaged, and for a file that ends within a record.
        """
        batch = next(self._batches, None)
        left = self._data[self.at :]
        if batch is None:
            if left:
                raise DamagedBlockError
            return False
        # They are joined once for each record, since a long one, or a damaged size, takes many batches.
        blocks, size = list(batch), sum(len(block.data) for block in batch)
        while len(left) + size < _end_of_record(left) and (batch := next(self._batches, None)):
            blocks += batch
            size += sum(len(block.data) for block in batch)
        if self._limit >= 0:
            self._limit -= self.at
        position = len(left)
        for address, data in blocks:
            if self._behind is not None and self._limit < 0 and address >= self._behind >> 16:
                self._limit = position + (self._behind & _WITHIN if address == self._behind >> 16 else 0)
            position += len(data)
        self._data, self.at = b"".join([left, *(data for _, data in blocks)]), 0
        return True

    def close(self) -> None:
        """Close the file."""
        self._batches.close()
        self._close()


def _end_of_record(data: bytes) -> int:
    """Where the first record ends, which the bytes may not reach; 0 if they do not tell."""
    return 4 + int.from_bytes(data[:4], "little", signed=True) if len(data) >= 4 else 0
