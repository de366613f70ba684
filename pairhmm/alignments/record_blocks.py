"""Reads sample files of any format in blocks of records. A file's first bytes show its format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from pairhmm.alignments.alignment_reads import bam_blocks, htslib_blocks
from pairhmm.files import formats
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.descriptors import pipe_from
from pairhmm.files.names import check_packed_names
from pairhmm.sequences.fastx import text_blocks
from pairhmm.sequences.records import RecordBlock

_FASTQ = b"@"


@dataclass(frozen=True, slots=True)
class SampleFile:
    """An open FASTQ, FASTA, BAM, CRAM or SAM file."""

    _stream: ByteStream
    _watch: Callable[[int], None]

    @property
    def has_alignments(self) -> bool:
        """Whether it is BAM, CRAM or SAM."""
        return self._stream.head.startswith((formats.BAM, formats.CRAM, *formats.SAM))

    @property
    def has_reads(self) -> bool:
        """Whether its records are reads: all but FASTA."""
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

    Raises
    ------
    InputError
        For a file that can't be used. The message names file, record and cure.
    """
    with open_sample(path, watch) as file:
        yield from file.blocks(chunk_size, overlap, reference)
