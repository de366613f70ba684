"""Reads BAM, CRAM and SAM in blocks of reads: each read once, in the sequencer's direction. Mates are named /1 and /2.

There are two readers, as for calls (`pairhmm.alignments.sources`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.end_markers import CUT_OFF, MAKE_AGAIN
from pairhmm.files.htslib import open_by_htslib, quiet
from pairhmm.native import native
from pairhmm.sequences.records import RecordBlock


def bam_blocks(stream: ByteStream, chunk_size: int) -> Iterator[RecordBlock]:
    """Blocks of the reads of a BAM file.

    Parameters
    ----------
    stream : ByteStream
    chunk_size : int
        Unpacked bytes that are read at once. A longer record is read as a whole.

    Raises
    ------
    InputError
        For a file that is cut off or damaged.
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

    Parameters
    ----------
    path : str
    descriptor : int or None
        A pipe that takes the file's place.
    chunk_size : int
        Approximate number of bytes in a block, letters and qualities together.
    reference : str, optional
        FASTA that CRAM is decoded with.

    Raises
    ------
    InputError
        For a file of another format, and for one that is cut off or damaged.
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
