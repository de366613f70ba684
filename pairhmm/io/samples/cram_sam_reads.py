"""Reads CRAM and SAM in blocks of reads, with pysam. The reads are as from `pairhmm.io.samples.bam_reads`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import pysam

from pairhmm.errors import InputError
from pairhmm.genomics.arrays import offsets
from pairhmm.genomics.iupac import encode_sets, reverse_complement
from pairhmm.genomics.names import Names
from pairhmm.genomics.sam_flags import REVERSE, SECONDARY, SUPPLEMENTARY, mate_of
from pairhmm.io.files.htslib import UNREADABLE, quiet
from pairhmm.scanning.batch import Samples
from pairhmm.scanning.records import RecordBlock

_LEFT_OUT = SECONDARY | SUPPLEMENTARY
_MATES = ("", "/1", "/2")


@dataclass(slots=True)
class _Reads:
    """The reads of an unfinished block. Of those with letters, either all have qualities or none has."""

    names: list[bytes] = field(default_factory=list)
    letters: list[np.ndarray] = field(default_factory=list)
    qualities: list[np.ndarray] = field(default_factory=list)
    bases: int = 0

    def add(self, name: bytes, letters: np.ndarray, qualities: np.ndarray | None) -> None:
        self.names.append(name)
        self.letters.append(letters)
        if qualities is not None:
            self.qualities.append(qualities)
        self.bases += len(letters)

    def block(self, first_record: int) -> RecordBlock:
        qualities = np.concatenate(self.qualities) if self.qualities else None
        samples = Samples(np.concatenate(self.letters), qualities, offsets([len(each) for each in self.letters]))
        return RecordBlock(samples, Names.of(self.names), first_record)


def alignment_blocks(
    path: str, source: str | BinaryIO, chunk_size: int, reference: str | None
) -> Iterator[RecordBlock]:
    """Blocks of the reads of a CRAM or SAM file.

    Parameters
    ----------
    path : str
        Name of the file in error messages.
    source : str or binary file with a descriptor
    chunk_size : int
        Approximate number of bytes in a block, letters and qualities together.
    reference : str, optional
        FASTA that CRAM is decoded with.

    Raises
    ------
    InputError
        For a file of another format, and for one that is cut off or damaged.
    """
    with quiet():
        file = _open(path, source, reference)
        try:
            yield from _blocks(path, file, chunk_size)
        finally:
            # After a failed read, closing fails as well, and its error would hide the first one.
            with suppress(OSError):
                file.close()


def _open(path: str, source: str | BinaryIO, reference: str | None) -> pysam.AlignmentFile:
    try:
        return pysam.AlignmentFile(source, "r", check_sq=False, reference_filename=reference)
    except UNREADABLE as error:
        if "truncated" in str(error):
            raise InputError(path, "", "is cut off: its end marker is missing", "copy or make it again") from error
        raise InputError(path, "", "can't be read as CRAM or SAM", "check the file") from error


def _blocks(path: str, file: pysam.AlignmentFile, chunk_size: int) -> Iterator[RecordBlock]:
    reads, record = _Reads(), 0
    try:
        for read in file.fetch(until_eof=True):
            if read.flag & _LEFT_OUT:
                continue
            letters, qualities = _letters(read), _qualities(read)
            is_other = len(letters) > 0 and reads.bases > 0 and (qualities is None) == bool(reads.qualities)
            if reads.names and (2 * reads.bases >= chunk_size or is_other):
                yield reads.block(record)
                record += len(reads.names)
                reads = _Reads()
            reads.add(_name(read), letters, qualities)
    except UNREADABLE as error:
        cure = "it is cut off or damaged: make it again"
        if file.is_cram:
            cure = "it is cut off, or written with another reference: give that with -f"
        raise InputError(path, f"after {record + len(reads.names)} reads", "can't be read to its end", cure) from error
    if reads.names:
        yield reads.block(record)


def _name(read: pysam.AlignedSegment) -> bytes:
    return f"{read.query_name or '*'}{_MATES[mate_of(read.flag)]}".encode()


def _letters(read: pysam.AlignedSegment) -> np.ndarray:
    # '=' stands for the reference's letter, which is not known here.
    letters = encode_sets((read.query_sequence or "").replace("=", "N"))
    return reverse_complement(letters) if read.flag & REVERSE else letters


def _qualities(read: pysam.AlignedSegment) -> np.ndarray | None:
    if read.query_qualities is None:
        return None
    qualities = np.frombuffer(read.query_qualities, dtype=np.uint8)
    return qualities[::-1] if read.flag & REVERSE else qualities
