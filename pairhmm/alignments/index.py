"""Checks that the index of an alignment file is sound and belongs to that file.

htslib crashes on some damaged indexes, and finds no reads through the index of another file.
"""

from __future__ import annotations

import logging
import os
import zlib

import pysam

from pairhmm.alignments.bam_index import LONGEST_FOR_BAI, BamIndex, DamagedIndexError, read_bam_index
from pairhmm.alignments.cram_index import CramSlice, check_cram_index, read_cram_index
from pairhmm.alignments.index_checks import (
    Contradiction,
    DamagedFile,
    FileBlocks,
    bam_records,
    check_lookups,
    first_line,
    require_rising,
    sam_records,
)
from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import block_size

log = logging.getLogger(__name__)

# Exceptions that reading a damaged index may raise.
_DAMAGED = OSError, EOFError, ValueError, zlib.error

# What the content of an alignment file begins with, and the endings of its indices.
_ENDINGS = ((formats.CRAM, (".crai",)), (formats.BAM, (".bai", ".csi")), (b"@", (".bai", ".csi")))


def find_index(path: str) -> str | None:
    """The index beside an alignment file."""
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return None
    with open(path, "rb") as file:
        head = file.read(len(formats.CRAM))
        if head != formats.CRAM:
            # BAM, and SAM as bgzip makes it. Other files have no index.
            try:
                head = FileBlocks(file).at(0)[0]
            except (Contradiction, DamagedFile):
                return None
    endings = next((endings for begin, endings in _ENDINGS if head.startswith(begin)), ())
    names = (f"{name}{ending}" for name in (path, os.path.splitext(path)[0]) for ending in endings)
    return next(filter(os.path.isfile, names), None)


def how_to_index(path: str, longest: int = 0) -> str:
    """The command that gives a file an index. Only CRAM and files of BGZF can have one.

    `longest`: length of its longest contig.
    """
    if not os.path.isfile(path):
        return "give an indexed file"
    with open(path, "rb") as file:
        head = file.read(formats.BGZF_HEAD_SIZE)
    if head.startswith(formats.CRAM) or block_size(head) > 0:
        return f"run samtools index {'-c ' if longest > LONGEST_FOR_BAI else ''}{path}"
    other = f"{os.path.splitext(path.removesuffix('.gz'))[0]}.sorted.bam"
    return f"run samtools sort --write-index -o {other} {path}, and give {other}"


class AlignmentIndex:
    """An undamaged index. Whether it belongs to its alignment file is checked by `check`, once that file is open.

    `index` and `path` are the index and its alignment file. The content is `bam`, which is None for the index of a CRAM
    file, or `cram`.
    Raises InputError for an index that is damaged.
    """

    def __init__(self, index: str, path: str) -> None:
        self.path, self._file_path = index, path
        self.bam: BamIndex | None = None
        self.cram: list[CramSlice] = []
        try:
            if index.endswith(".crai"):
                self.cram = read_cram_index(index)
            else:
                self.bam = read_bam_index(index)
                require_rising(self.bam)
        except _DAMAGED as error:
            rule = f"is damaged: {error}" if isinstance(error, DamagedIndexError) else "is damaged, or no index"
            raise InputError(index, "", rule, f"run samtools index {path}") from error
        if os.path.getmtime(index) < os.path.getmtime(path):
            log.warning("%s is older than %s", index, path)

    def check(self, file: pysam.AlignmentFile) -> None:
        """Require that the index has the contigs and the offsets of this file.

        Raises InputError for the index of another file, and for one that is older than the file's content.
        """
        with open(self._file_path, "rb") as raw:
            try:
                if self.bam is None:
                    check_cram_index(self.cram, raw, file.nreferences)
                else:
                    blocks = FileBlocks(raw)
                    if file.is_bam:
                        record_at, first = bam_records(blocks, file.nreferences), file.tell()
                    else:
                        record_at, first = sam_records(blocks, file.references), first_line(blocks)
                    check_lookups(self.bam, record_at, first, blocks.size, file.references)
            except DamagedFile:
                return
            except Contradiction as error:
                rule = f"is not the index of {self._file_path} as it is now: {error}"
                raise InputError(self.path, "", rule, f"run samtools index {self._file_path}") from error
