"""Reads sample files of any format in blocks of records. A file's first bytes show its format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import CUT_OFF, MAKE_AGAIN
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.descriptors import pipe_from
from pairhmm.files.htslib import open_by_htslib, quiet
from pairhmm.files.names import check_packed_names
from pairhmm.native import native
from pairhmm.sequences.fastx import text_blocks
from pairhmm.sequences.records import RecordBlock


def bam_blocks(stream: ByteStream, chunk_size: int) -> Iterator[RecordBlock]:
    """Blocks of the reads of a BAM file.

    Raises InputError for a file that is cut off or damaged.

    `chunk_size`: unpacked bytes that are read at once. A longer record is read as a whole.
    """
    buffer = np.empty(chunk_size, dtype=np.uint8)
    kept, record, in_header = 0, 0, True
    while True:
        size = stream.fill(buffer[kept:])
        held = buffer[: kept + size]
        while True:
            if in_header:
                end, is_broken = native.take_bam_header(held)
                in_header = end == 0
            else:
                taken, end, is_broken = native.take_bam_reads(held)
                block = RecordBlock.of(taken, record)
                record += len(block.names)
                if len(block.names):
                    yield block
            if is_broken:
                raise InputError(stream.path, f"after {record} reads", "is no BAM", MAKE_AGAIN)
            if end == 0:
                break
            held = held[end:]
        if not size:
            if len(held) or in_header:
                raise InputError(stream.path, f"after {record} reads", CUT_OFF, MAKE_AGAIN)
            return
        buffer, kept = _with_room(buffer, held), len(held)


def _with_room(buffer: NDArray[np.uint8], held: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A buffer that begins with the bytes that are held, and has room behind them."""
    roomy = buffer if 2 * len(held) <= len(buffer) else np.empty(2 * len(buffer), dtype=np.uint8)
    # NumPy copies overlapping slices correctly.
    roomy[: len(held)] = held
    return roomy


def htslib_blocks(path: str, descriptor: int | None, chunk_size: int, reference: str | None) -> Iterator[RecordBlock]:
    """Blocks of the reads of a CRAM or SAM file.

    Raises InputError for a file of another format, and for one that is cut off or damaged.

    Parameters
    ----------
    descriptor : int or None
        A pipe that takes the file's place.
    chunk_size : int
        Approximate number of bytes in a block, letters and qualities together.
    reference : str, optional
        FASTA that CRAM is decoded with.
    """
    record = 0
    with quiet():
        reader = open_by_htslib(path, reference=reference or "", descriptor=descriptor)
        try:
            if reader is None:
                raise InputError(path, "", "can't be read as CRAM or SAM", "check the file")
            while not reader.is_done:
                block = RecordBlock.of(reader.take_reads((chunk_size + 1) // 2), record)
                record += len(block.names)
                if reader.is_damaged:
                    cure = "it is cut off or damaged: make it again"
                    if reader.kind == "CRAM":
                        cure = "it is cut off, or written with another reference: give that with -f"
                    raise InputError(path, f"after {record} reads", "can't be read to its end", cure)
                if len(block.names):
                    yield block
        finally:
            # It is closed while htslib is quiet.
            del reader


_FASTQ = b"@"


@dataclass(frozen=True, slots=True)
class SampleFile:
    """An open FASTQ, FASTA, BAM, CRAM or SAM file."""

    _stream: ByteStream
    _watch: Callable[[int], None]

    @property
    def has_alignments(self) -> bool:
        """True for BAM, CRAM and SAM."""
        return self._stream.head.startswith((formats.BAM, formats.CRAM, *formats.SAM))

    @property
    def has_reads(self) -> bool:
        """True where records are reads: all formats but FASTA."""
        return self.has_alignments or self._stream.head.lstrip().startswith(_FASTQ)

    def blocks(self, chunk_size: int, overlap: int | None, reference: str | None) -> Iterator[RecordBlock]:
        """Its records, once; parameters and errors as in `sample_blocks`."""
        path = self._stream.path
        for block in self._blocks(chunk_size, overlap, reference):
            check_packed_names(path, block.names.text, block.names)
            yield block

    def _blocks(self, chunk_size: int, overlap: int | None, reference: str | None) -> Iterator[RecordBlock]:
        stream, path = self._stream, self._stream.path
        if stream.head.startswith(formats.BAM):
            yield from bam_blocks(stream, chunk_size)
        elif not self.has_alignments:
            yield from text_blocks(stream, chunk_size, overlap)
        elif os.path.isfile(path):
            yield from htslib_blocks(path, None, chunk_size, reference)
            self._watch(os.path.getsize(path))
        else:
            with pipe_from(cast(BinaryIO, stream.raw)) as pipe:
                yield from htslib_blocks(path, pipe.fileno(), chunk_size, reference)
            stream.check_end()


@contextmanager
def open_sample(path: str, watch: Callable[[int], None]) -> Iterator[SampleFile]:
    """Open a file; parameters and errors as in `sample_blocks`."""
    with ByteStream(path, watch) as stream:
        yield SampleFile(stream, watch)


def sample_blocks(
    path: str, chunk_size: int, overlap: int | None, reference: str | None, watch: Callable[[int], None]
) -> Iterator[RecordBlock]:
    """Blocks of the records of a FASTQ, FASTA, BAM, CRAM or SAM file.

    Raises InputError for a file that can't be used. The message names file, record and cure.

    Parameters
    ----------
    path : str
        Gzipped or not; ``-`` is stdin.
    chunk_size : int
        Bytes of records that are read at once.
    overlap : int or None
        Letters that the parts of a record share, if it is longer than a block. None holds each record whole.
    reference : str, optional
        FASTA that CRAM is decoded with.
    watch : callable
        Called with the number of bytes of the file that were read; for CRAM and SAM only at the end.
    """
    with open_sample(path, watch) as file:
        yield from file.blocks(chunk_size, overlap, reference)
