"""A stream of the records of a BAM file (BGZF): all of them, or those at an offset of its index."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from pairhmm.alignments.bam_index import BamIndex
from pairhmm.files.background import prefetch
from pairhmm.files.bgzf import ReadAt, block_reader, raise_fault
from pairhmm.native import native

if TYPE_CHECKING:
    from pairhmm._cpu import AlignmentParser, BlockReader, UnpackedBlocks

Open: TypeAlias = Callable[[], tuple[int | ReadAt, Callable[[], None]]]
"""Opens a file: gives a descriptor, or a function to read from it, and a function to close it."""

# Batches of blocks behind which a thread begins. An index leads to a window of 16,384 bases, of which 30 reads a base
# take four batches: what a thread had unpacked behind them would mostly be in vain.
_ALONE = 3


@dataclass(frozen=True, slots=True)
class BamRecords:
    """Where the records of a BAM file are.

    `first`: virtual offset of the first record. `reads_ahead`: a thread unpacks blocks while the caller works.
    """

    open: Open
    first: int
    index: BamIndex | None
    reads_ahead: bool = False

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
        source, close = self.open()
        reader = block_reader(source, begin >> 16, None if enough is None else enough >> 16)
        ahead = ahead_to(iter(reader.next, None), behind) if self.reads_ahead else None
        return BamStream(native.BamStream(begin, behind), reader, ahead, close)


def ahead_to(batches: Iterator[UnpackedBlocks], behind: int | None) -> Generator[UnpackedBlocks]:
    """Let a thread unpack the blocks up to a virtual offset. Those behind it are unpacked when they are asked for."""
    within = _up_to(batches, behind)
    yield from islice(within, _ALONE)
    yield from prefetch(within)
    yield from batches


def _up_to(batches: Iterator[UnpackedBlocks], behind: int | None) -> Iterator[UnpackedBlocks]:
    for batch in batches:
        yield batch
        if behind is not None and batch.address[-1] >= behind >> 16:
            return


def first_record(source: int | ReadAt) -> int | None:
    """The virtual offset of the first record, behind the header; None where there is no whole header."""
    stream = native.BamStream(0, None)
    return stream.offset if stream.take_header(block_reader(source)) else None


def opener_of(path: str | int, stays_open: bool = True) -> Open:
    """How to open a regular file, or a descriptor, whose position does not change.

    A path that does not stay open is opened for each piece that is read.
    """

    def open_again() -> tuple[int, Callable[[], None]]:
        file = os.open(path, os.O_RDONLY) if isinstance(path, str) else os.dup(path)
        return file, lambda: os.close(file)

    def read_once(address: int, size: int) -> bytes:
        file, close = open_again()
        try:
            return os.pread(file, size, address)
        finally:
            close()

    return open_again if stays_open else lambda: (read_once, lambda: None)


class BamStream:
    """Records, which are unpacked as they are needed. `ahead` has the blocks that a thread unpacks, if one does."""

    def __init__(
        self,
        records: native.BamStream,
        reader: BlockReader,
        ahead: Generator[UnpackedBlocks] | None,
        close: Callable[[], None],
    ) -> None:
        self._records, self._reader, self._ahead, self._close = records, reader, ahead, close

    def parse(self, parser: AlignmentParser, room: int) -> str:
        """Let the parser take records until it stops. Returns why; "more" is the end of the records.

        Raises OSError for a file that can't be read, and DamagedBlockError for one that is damaged or cut off.
        """
        reader = self._reader if self._ahead is None else None
        while (stop := self._records.parse(parser, room, reader)) == "more" and not self._records.is_done:
            if self._ahead is None or (blocks := next(self._ahead, None)) is None:
                raise_fault(self._reader)
                return "damaged" if self._records.is_cut else "more"
            self._records.add(blocks)
        return stop

    def close(self) -> None:
        """Close the file."""
        if self._ahead is not None:
            self._ahead.close()
        self._close()
