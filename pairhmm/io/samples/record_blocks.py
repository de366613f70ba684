"""Reads sample files of any format in blocks of records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from pairhmm.io.files import magic
from pairhmm.io.files.byte_stream import ByteStream
from pairhmm.io.files.names import check_packed_names
from pairhmm.io.files.pipes import pipe_from
from pairhmm.io.samples.bam_reads import bam_blocks
from pairhmm.io.samples.cram_sam_reads import alignment_blocks
from pairhmm.io.samples.text_records import text_blocks
from pairhmm.scanning.records import RecordBlock


def sample_blocks(
    path: str, chunk_size: int, overlap: int, reference: str | None, watch: Callable[[int], None]
) -> Iterator[RecordBlock]:
    """Blocks of the records of a FASTQ, FASTA, BAM, CRAM or SAM file. Its first bytes show the format.

    Parameters
    ----------
    path : str
        Gzipped or not; ``-`` is stdin.
    chunk_size : int
        Bytes of records that are read at once.
    overlap : int
        Letters that the parts of a record share, if it is longer than a block.
    reference : str, optional
        FASTA that CRAM is decoded with.
    watch : callable
        Called with the number of bytes of the file that were read; for CRAM and SAM only at the end.

    Raises
    ------
    InputError
        For a file that can't be used. The message names file, record and cure.
    """
    for block in _blocks(path, chunk_size, overlap, reference, watch):
        check_packed_names(path, block.names.text, block.names)
        yield block


def _blocks(
    path: str, chunk_size: int, overlap: int, reference: str | None, watch: Callable[[int], None]
) -> Iterator[RecordBlock]:
    with ByteStream(path, watch) as stream:
        if stream.head.startswith(magic.BAM):
            yield from bam_blocks(stream, chunk_size)
        elif stream.head.startswith((magic.CRAM, *magic.SAM)):
            if os.path.isfile(path):
                yield from alignment_blocks(path, path, chunk_size, reference)
                watch(os.path.getsize(path))
            else:
                yield from alignment_blocks(path, pipe_from(cast(BinaryIO, stream.raw)), chunk_size, reference)
                stream.check_end()
        else:
            yield from text_blocks(stream, chunk_size, overlap)
