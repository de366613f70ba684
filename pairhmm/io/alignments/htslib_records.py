"""CRAM and SAM for the compiled part: htslib decodes the records, with no Python object for each.

The functions are those of the library in pysam's package. On one thread a million reads of 150 bases in CRAM take 1.0 s
in this way. They take 1.8 s if pysam writes them as BAM into a pipe, and 4.9 s as objects of pysam.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

import pysam

from pairhmm.compiled import native
from pairhmm.io.alignments.index import AlignmentIndex
from pairhmm.io.files.bgzf_blocks import DamagedBlockError

if TYPE_CHECKING:
    from pairhmm._cpu import AlignmentParser, HtslibReader

_NAMES: Final = (
    *("hts_open", "hts_close", "hts_set_opt", "sam_hdr_read", "sam_hdr_destroy", "sam_index_load3", "hts_idx_destroy"),
    "hts_get_bgzfp",
    *("sam_itr_queryi", "hts_itr_next", "hts_itr_destroy", "sam_read1", "bam_init1", "bam_destroy1"),
)
# Records between two looks at signals, such as Ctrl-C.
_MOST: Final = 100_000
# The end of the longest contig that an index of CRAM knows.
_END: Final = (1 << 31) - 1


@cache
def htslib_functions() -> dict[str, int] | None:
    """Addresses of htslib's functions by name; None where pysam's library does not show them."""
    try:
        library = ctypes.CDLL(import_module("pysam.libchtslib").__file__)
        addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _NAMES}
    except (AttributeError, OSError):
        return None
    return {name: address for name, address in addresses.items() if address is not None}


class HtslibRecords:
    """The records of a CRAM or SAM file, as `pairhmm.io.alignments.unpacked_bam.BamRecords` has those of BAM.

    Parameters
    ----------
    functions : dict of str to int
        As of `htslib_functions`.
    path : str
    index : AlignmentIndex or None
    reference : str
        FASTA that CRAM is decoded with.
    is_cram : bool
    threads : int
        With 2 or more, threads of htslib decode.

    Attributes
    ----------
    has_index : bool
    """

    def __init__(
        self,
        functions: dict[str, int],
        path: str,
        index: AlignmentIndex | None,
        reference: str,
        is_cram: bool,
        threads: int,
    ) -> None:
        self.has_index = index is not None
        self._functions, self._path, self._index = functions, path, index
        self._reference, self._is_cram, self._threads = reference, is_cram, threads
        # They are used again, since opening one reads the whole index.
        self._idle: list[HtslibReader] = []

    def mapped_reads(self, tid: int) -> int | None:
        """The number of mapped reads on a contig by the index; None for CRAM, whose index does not count them."""
        bam = None if self._index is None else self._index.bam
        return None if bam is None else bam.mapped_reads(tid)

    def unplaced_reads(self) -> int:
        """The number of reads without a contig, for which CRAM is decoded."""
        assert self._index is not None
        if self._index.bam is not None:
            return self._index.bam.unplaced_reads
        with pysam.AlignmentFile(
            self._path, check_sq=False, index_filename=self._index.path, reference_filename=self._reference
        ) as file:
            return sum(1 for _ in file.fetch("*"))

    def whole(self) -> DecodedRecords:
        """All records."""
        return DecodedRecords(self._open("", self._threads), lambda reader: None)

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
        try:
            return native.HtslibReader(self._functions, self._path, index, self._reference, self._is_cram, threads)
        except RuntimeError as error:
            # The system may know more, such as that too many files are open.
            with open(self._path, "rb"):
                raise DamagedBlockError from error


class DecodedRecords:
    """Records that a parser takes one after the other.

    Parameters
    ----------
    reader : HtslibReader
        It stands before the first of them.
    give_back : callable
        Takes the reader once it is not needed, if it can be used again.
    """

    def __init__(self, reader: HtslibReader, give_back: Callable[[HtslibReader], None]) -> None:
        self._reader: HtslibReader | None = reader
        self._give_back = give_back

    def parse(self, parser: AlignmentParser, room: int) -> str:
        """Let the parser take records until it stops. Returns why; "more" is the end of the records."""
        assert self._reader is not None
        stop, is_done = "more", False
        while stop == "more" and not is_done:
            stop, is_done = self._reader.parse(parser, room, _MOST)
        if stop == "damaged":
            # Its threads go on, and what they say is to be said while htslib is quiet.
            self._reader = None
        return stop

    def close(self) -> None:
        """Let the reader go."""
        if self._reader is not None:
            self._give_back(self._reader)
