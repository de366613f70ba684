"""CRAM and SAM: htslib decodes the records, with no Python object for each.

On one thread a million reads of 150 bases in CRAM take 1.0 s in this way. They take 1.8 s if pysam writes them as BAM
into a pipe, and 4.9 s as objects of pysam.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import pysam

from pairhmm.alignments.index import AlignmentIndex
from pairhmm.errors import InputError
from pairhmm.files.bgzf import DamagedBlockError
from pairhmm.files.htslib import open_by_htslib, require_htslib

if TYPE_CHECKING:
    from pairhmm._cpu import AlignmentParser, HtslibReader

# The end of the longest contig that an index of CRAM knows.
_END: Final = (1 << 31) - 1
_STDERR, _WARNINGS, _ROOM = 2, 3, 1 << 20
_MESSAGE = re.compile(r"\[[EW]::\w+\] (.+)")
_LINE = re.compile(r"Parse error at line (\d+)")


class HtslibRecords:
    """The records of a CRAM or SAM file, as `pairhmm.alignments.bam_records.BamRecords` has those of BAM.

    Raises InputError where pysam's library does not show its functions.

    `reference`: FASTA that CRAM is decoded with. `threads`: with 2 or more, threads of htslib decode.
    """

    def __init__(self, path: str, index: AlignmentIndex | None, reference: str, is_cram: bool, threads: int) -> None:
        require_htslib(path)
        self._path, self._index, self._reference = path, index, reference
        self._is_cram, self._threads = is_cram, threads
        # They are used again, since opening one reads the whole index.
        self._idle: list[HtslibReader] = []

    def unplaced_reads(self) -> int:
        """The number of reads without a contig in CRAM, whose index does not count them: they are decoded."""
        assert self._index is not None
        with pysam.AlignmentFile(
            self._path, check_sq=False, index_filename=self._index.path, reference_filename=self._reference
        ) as file:
            return sum(1 for _ in file.fetch("*"))

    def whole(self) -> DecodedRecords:
        """All records."""
        return DecodedRecords(self._open("", self._threads))

    def through_index(self, tid: int, start: int, end: int) -> Iterator[DecodedRecords]:
        """The records that overlap [start, end) of a contig."""
        assert self._index is not None
        # Threads of SAM read on without regard to jumps.
        threads = self._threads if self._is_cram else 1
        reader = self._idle.pop() if self._idle else self._open(self._index.path, threads)
        if not reader.query(tid, start, min(end, _END)):
            raise DamagedBlockError
        yield DecodedRecords(reader, self._idle.append)

    def _open(self, index: str, threads: int) -> HtslibReader:
        reader = open_by_htslib(self._path, index, self._reference, threads)
        if reader is None:
            # The system may know more, such as that too many files are open.
            with open(self._path, "rb"):
                raise DamagedBlockError
        return reader


class DecodedRecords:
    """Records that a parser takes one after the other.

    `reader`: it stands before the first of them. `give_back`: takes the reader once it is not needed, if it can be used
    again.
    """

    def __init__(self, reader: HtslibReader, give_back: Callable[[HtslibReader], None] = lambda reader: None) -> None:
        self._reader: HtslibReader | None = reader
        self._give_back = give_back

    def parse(self, parser: AlignmentParser, room: int) -> str:
        """Let the parser take records until it stops. Returns why; "more" is the end of the records."""
        assert self._reader is not None
        stop = self._reader.parse(parser, room)
        if stop == "damaged":
            # Its threads go on, and what they say is to be said while htslib is quiet.
            self._reader = None
        return stop

    def close(self) -> None:
        """Let the reader go."""
        reader, self._reader = self._reader, None
        if reader is not None:
            self._give_back(reader)


def sam_fault(path: str) -> InputError | None:
    """The error for the first line of a SAM file that htslib can't read; None where it does not name the line."""
    messages = _MESSAGE.findall(_log_of(path))
    lines = [match[1] for text in messages if (match := _LINE.search(text))]
    reasons = [text for text in messages if not _LINE.search(text)]
    if not lines:
        return None
    return InputError(
        path, f"line {lines[0]}", reasons[-1] if reasons else "can't be read", "repair or remove the line"
    )


def _log_of(path: str) -> str:
    """Read a file once more, and return what htslib writes to stderr, its only place for reasons."""
    kept = os.dup(_STDERR)
    with tempfile.TemporaryFile() as log:
        verbosity = pysam.set_verbosity(_WARNINGS)
        os.dup2(log.fileno(), _STDERR)
        try:
            reader = open_by_htslib(path)
            while reader is not None and not (reader.is_done or reader.is_damaged):
                reader.take_reads(_ROOM)
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
            pysam.set_verbosity(verbosity)
        log.seek(0)
        return log.read().decode(errors="replace")
