"""The reference genome."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pysam
from Bio.Data.IUPACData import ambiguous_dna_letters

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import check_end
from pairhmm.files.htslib import quiet
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.files.pipes import require_file
from pairhmm.sequences.fasta_index import can_be_indexed, make_index, why_unfit
from pairhmm.sequences.intervals import same_contig

log = logging.getLogger(__name__)

# Short stretches come from windows of this many bases that are kept, since reading one takes longer than its letters.
# The cache holds those of a few blocks of reads: candidates, their extents and regions are fetched in turn.
_WINDOW = 1 << 16
_KEPT_WINDOWS = 32
_IUPAC = f"{ambiguous_dna_letters}U".encode()
# Files that users may give by mistake in place of the reference, with their first bytes.
_OTHERS = (
    (formats.BAM, "a BAM file"),
    (formats.CRAM, "a CRAM file"),
    (formats.SAM, "a SAM file"),
    (formats.VCF, "a VCF"),
)


class Reference:
    """An indexed FASTA file.

    Raises InputError for a file that is missing, no FASTA, or not indexable.

    Parameters
    ----------
    path : path
        FASTA, plain or bgzipped. A missing or outdated index is made beside it, or in a temporary folder if its own
        can't be written. Both are announced.

    Attributes
    ----------
    indexed_path : str
        The name under which htslib finds the file and its indices: `path`, or a link in a temporary folder.
    contigs : dict of str to int
        Name and length, in the file's order.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = self.indexed_path = os.fspath(path)
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        require_file(self.path, "a reference is read wherever reads are")
        opening(self.path)
        if not os.path.isfile(self.path):
            what = "is a folder" if os.path.isdir(self.path) else "no such file"
            raise InputError(self.path, "", what, "give the reference FASTA with -f")
        self._check_kind()
        check_end(self.path)
        with quiet():
            self._file = self._indexed()
        self.contigs = dict(zip(self._file.references, self._file.lengths, strict=True))
        if not self.contigs:
            raise InputError(self.path, "", "no sequence in it", "give the reference FASTA with -f")
        check_names(self.path, "contig", self.contigs, "rename it")
        self._windows: dict[tuple[str, int], str] = {}
        # htslib moves one position in the file, and threads share this.
        self._lock = threading.Lock()

    def _check_kind(self) -> None:
        """Refuse files of other formats, before an index of them is made."""
        try:
            with open(self.path, "rb") as file:
                head = file.read(1 << 16)
        except OSError as error:
            raise InputError(self.path, "", error.strerror or "can't be read", "check the file") from error
        if head.startswith(formats.GZIP):
            with suppress(zlib.error):
                head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, 1 << 10)
        for begins, kind in _OTHERS:
            if head.startswith(begins):
                raise InputError(self.path, "", f"is {kind}, no FASTA", "give the reference FASTA with -f")

    def fetch(self, chrom: str, start: int, end: int) -> str:
        """Upper-case bases of [start, end), 0-based half-open, clamped to the contig."""
        number = start // _WINDOW
        first = number * _WINDOW
        if 0 <= start < end <= first + _WINDOW:
            with self._lock:
                window = self._windows.get((chrom, number)) or self._window(chrom, number)
            if window:
                return window[start - first : end - first]
        self._length(chrom)
        begin, stop = max(0, start), min(end, self.contigs[chrom])
        with self._lock:
            return "" if begin >= stop else self._read(chrom, begin, stop)

    def _window(self, chrom: str, number: int) -> str:
        """A window, which is then kept; empty where it can't be read as a whole."""
        first = number * _WINDOW
        stop = min(first + _WINDOW, self.contigs.get(chrom, 0))
        try:
            window = self._read(chrom, first, stop) if first < stop else ""
        except InputError:
            return ""
        if len(self._windows) >= _KEPT_WINDOWS:
            del self._windows[next(iter(self._windows))]
        self._windows[chrom, number] = window
        return window

    def _read(self, chrom: str, begin: int, stop: int) -> str:
        """The bases of a stretch that lies in the contig."""
        try:
            with quiet():
                bases = str(self._file.fetch(chrom, begin, stop)).upper()
            others = bases.encode("ascii").translate(None, delete=_IUPAC)
        except UnicodeError as error:
            raise self._not_bases(chrom, "a character that is no letter") from error
        except (OSError, ValueError) as error:
            raise InputError(self.path, chrom, "can't be read", "is its .fai another file's? remove it") from error
        if others:
            letter = chr(others[0])
            raise self._not_bases(chrom, f"letter {letter!r} at position {begin + bases.index(letter) + 1}")
        if len(bases) != stop - begin:
            rule = f"has not the bases {begin + 1:,} to {stop:,} that its index says"
            raise InputError(self.path, f"contig {chrom}", rule, "is its .fai another file's? remove it")
        return bases

    def _not_bases(self, chrom: str, what: str) -> InputError:
        return InputError(self.path, f"contig {chrom}", f"{what} is not an IUPAC base", "is it a FASTA of DNA?")

    def check_contigs(self, path: str, contigs: Mapping[str, int | None]) -> None:
        """Require that the contigs of another file (name to length, or None if unknown) are those of this reference.

        Raises InputError for a contig that is missing here or has another length. The message names both files.
        """
        for name, length in contigs.items():
            own = self._length(name, path)
            if length is not None and length != own:
                rule = f"{length} bases in {path} and {own} in the reference"
                raise InputError(self.path, f"contig {name}", rule, "use the reference that the reads were aligned to")

    def _length(self, name: str, path: str = "") -> int:
        if name not in self.contigs:
            other = same_contig(name, self.contigs)
            hint = f", which has {other} in its place" if other else ""
            where = f", but in {path}" if path else ""
            cure = "use the reference that the reads were aligned to"
            raise InputError(self.path, f"contig {name}", f"not in the reference{hint}{where}", cure)
        return self.contigs[name]

    def close(self) -> None:
        """Close the file and drop a temporary index."""
        self._file.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _indexed(self) -> pysam.FastaFile:
        try:
            unfit = why_unfit(self.path)
        except OSError as error:
            raise InputError(self.path, "", error.strerror or "can't be read", "check the file and its .fai") from error
        if unfit is None:
            return self._open()
        is_kept = can_be_indexed(self.path)
        if not is_kept:
            # htslib looks for indices beside the name by which the file is opened, so the file is opened by a link.
            self._scratch = tempfile.TemporaryDirectory(prefix="pairhmm-")
            self.indexed_path = os.path.join(self._scratch.name, Path(self.path).name)
            os.symlink(os.path.abspath(self.path), self.indexed_path)
        make_index(self.indexed_path)
        log.warning("%s: made%s", unfit, "" if unfit.endswith("has no index") else " anew")
        if not is_kept:
            folder = Path(self.path).parent
            log.warning("%s or an index in it can't be written: the index is kept for this run only", folder)
        why_unfit(self.indexed_path)  # It announces names that come twice, which an index leaves out.
        return self._open()

    def _open(self) -> pysam.FastaFile:
        try:
            return pysam.FastaFile(self.indexed_path)
        except (OSError, ValueError) as error:
            cure = f"is it bgzipped? is {self.path}.fai its index?"
            raise InputError(self.path, "", "can't be opened as FASTA", cure) from error
