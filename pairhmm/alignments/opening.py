"""Opens alignment files, and checks them before any read is taken from them."""

from __future__ import annotations

import errno
import io
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, BinaryIO, NamedTuple

import pysam

from pairhmm.alignments.bam_index import BamIndex
from pairhmm.alignments.bam_records import BamRecords, first_record, opener_of
from pairhmm.alignments.htslib_records import HtslibRecords
from pairhmm.alignments.index import AlignmentIndex, find_index, how_to_index
from pairhmm.alignments.piped import PipedRecords, open_pipe
from pairhmm.alignments.sources import FORMATS, OTHER_FORMAT, UNWANTED, Kind, OpenAlignments, Records
from pairhmm.errors import InputError
from pairhmm.files import bgzf
from pairhmm.files.descriptors import STDIN, STDIN_FILE, TOO_MANY_FILES, allow_open_files, pipe_from, too_many_files
from pairhmm.files.htslib import UNREADABLE, quiet
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names, samples_of
from pairhmm.files.pipes import is_pipe, require_file
from pairhmm.native import require_compiled
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import listed

log = logging.getLogger(__name__)

# Files up to which each stays open while it is read, and has threads of its own. Others are opened for each piece.
_FEW = 64
# The most that are open at once for an input: CRAM, its index and its reference.
_FILES_EACH = 3
_NO_HEADER = b"@CO\t\n"


class AlignmentReader:
    """BAM or CRAM files that are read together; a context manager.

    Parameters
    ----------
    paths : sequence of path
        Sorted by coordinate; ``-`` is stdin.
    reference : Reference
        What the reads were aligned to; CRAM is decoded with it.
    need_index : bool
        Regions will be asked for.
    threads : int
        With 2 or more, others unpack beside the thread that reads: one a file for BAM, so many a file for CRAM and SAM.
    wanted : sequence of str
        The samples whose reads are used; none: all of them.

    Attributes
    ----------
    sources : list of OpenAlignments
        One a file, in the order of `paths`.
    contigs : dict of str to int
        Names and lengths of all files' contigs that the reference has, in the order that their reads come in.
    checksums : dict of str to str
        MD5 of contigs, where a header has it (M5).
    samples : list of str
        SM of the read groups in order of appearance; a file without any gives its name without extension. Those that
        are wanted.

    Raises
    ------
    CompiledPartMissing
    InputError
        For a file that is missing, given twice, not BAM or CRAM, cut off or not sorted. For a file without the index
        that is needed, or with the index of another file. For a file of which the reference has no contig, or has one
        with another length. The message names the file.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        reference: Reference,
        need_index: bool = False,
        threads: int = 1,
        wanted: Sequence[str] = (),
    ) -> None:
        require_compiled("reading alignments")
        self._wanted = frozenset(wanted)
        self._others: list[str] = []
        self.sources: list[OpenAlignments] = []
        self.contigs: dict[str, int] = {}
        self.checksums: dict[str, str] = {}
        self.samples: list[str] = []
        # Many files have the same contigs, which are then kept once.
        self._kept: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._identities: dict[tuple[int, int], str] = {}  # path by device and inode
        # htslib stays quiet until the files are closed: errors of later reads are reported where they are read.
        self._exits = ExitStack()
        self._exits.enter_context(quiet())
        allow_open_files(_FILES_EACH * len(paths))
        few = len(paths) <= _FEW
        try:
            for path in paths:
                self._add(os.fspath(path), reference, need_index, threads if few else 1, few)
            for name in wanted:
                if name not in self.samples:
                    known = [*self.samples, *self._others]
                    hint = "; quote those with commas: -s '\"a,b\"'" if "," in "".join(known) else ""
                    raise InputError("--samples", name, "no such sample", f"samples are {listed(known)}{hint}")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close pipes, and let htslib speak again."""
        self._exits.close()

    def __enter__(self) -> AlignmentReader:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _add(self, path: str, reference: Reference, need_index: bool, threads: int, stays_open: bool) -> None:
        self._refuse_twice(path)
        if need_index:
            require_file(path, "reads of regions are found through an index")
        index_path = find_index(path) if path != STDIN else None
        index = AlignmentIndex(index_path, path) if index_path is not None else None
        with _opened(path, index, reference.indexed_path, threads, stays_open) as opened:
            if isinstance(opened.records, PipedRecords):
                self._exits.callback(opened.records.stream.close)
            self._take(path, opened, index, reference, need_index)

    def _take(
        self, path: str, opened: _Opened, index: AlignmentIndex | None, reference: Reference, need_index: bool
    ) -> None:
        file = opened.file
        header, contigs = _header(path, file)
        read_groups = header.get("RG", [])
        groups, default, others = self._samples_of(path, read_groups)
        check_names(
            path, "sample", self.samples, "rename it (samtools reheader), or the file where it has no read groups"
        )
        check_names(path, "contig", contigs, "rename it: samtools reheader")
        if header.get("HD", {}).get("SO") == "queryname":
            raise InputError(path, "", "sorted by read name", "run samtools sort")
        if index is not None:
            index.check(file)
        elif need_index and path == STDIN:
            raise InputError(path, "", "stdin has no index, which regions need", "give a file, or leave regions out")
        elif need_index:
            raise InputError(path, "", "has no index, which regions need", how_to_index(path, max(contigs.values())))
        known = _known_contigs(path, contigs, reference)
        names, lengths, contigs_read = (
            self._kept.setdefault(values, values) for values in (file.references, file.lengths, tuple(known))
        )
        self.sources.append(
            OpenAlignments(
                path,
                names,
                lengths,
                groups,
                default,
                contigs_read,
                opened.records,
                opened.kind,
                index,
                opened.check_end,
                others,
            )
        )
        self.contigs |= {name: length for name, length in known.items() if name not in self.contigs}
        for line in header.get("SQ", []):
            if "M5" in line:
                self.checksums.setdefault(line["SN"], line["M5"])
        rank = {name: number for number, name in enumerate(self.contigs)}
        order = [rank[name] for name in known]
        if order != sorted(order):
            rule = f"its contigs are in another order than those of {self.sources[0].path}"
            raise InputError(path, "", rule, "reorder it (gatk ReorderSam) and sort it")

    def _refuse_twice(self, path: str) -> None:
        """Raise an error for a file that is given twice, even by two names: its reads would count double."""
        try:
            status = os.fstat(STDIN_FILE) if path == STDIN else os.stat(path)
        except OSError:
            # Opening the file will report what is wrong.
            return
        identity = status.st_dev, status.st_ino
        if identity in self._identities:
            other = self._identities[identity]
            named = "" if other == path else f", as {other} too"
            raise InputError(path, "", f"given twice{named}", "give each file once")
        self._identities[identity] = path

    def _samples_of(
        self, path: str, read_groups: Sequence[dict[str, str]]
    ) -> tuple[dict[str, int], int | None, frozenset[str]]:
        """Sample index of each read group, and of other reads (None where there are several); groups without sample."""
        names = samples_of(path, read_groups)
        for name in names:
            chosen = self.samples if not self._wanted or name in self._wanted else self._others
            if name not in chosen:
                chosen.append(name)
        number = {name: number for number, name in enumerate(self.samples)}
        if len(names) == 1:
            # The tags of reads need not be looked at.
            return {}, number.get(names[0], UNWANTED), frozenset()
        groups = {group["ID"]: number.get(group["SM"], UNWANTED) for group in read_groups if group.get("SM")}
        return groups, None, frozenset(group["ID"] for group in read_groups if not group.get("SM"))


class _Opened(NamedTuple):
    """A file of which pysam has parsed the header."""

    file: pysam.AlignmentFile
    kind: Kind
    records: Records
    check_end: Callable[[], None] = lambda: None


@contextmanager
def _opened(
    path: str, index: AlignmentIndex | None, reference: str, threads: int, stays_open: bool
) -> Iterator[_Opened]:
    """Open a file, and its header until the end of the block."""
    if os.path.isdir(path):
        raise InputError(path, "", "is a folder", "give the alignments in it")
    if path != STDIN and not os.path.exists(path):
        raise InputError(path, "", "no such file", "check the path")
    bam = None
    if not is_pipe(path):
        _check_file(path, threads)
        bam = _bam_records(path, index.bam if index is not None else None, threads, stays_open)
    if bam is None and (path == STDIN or is_pipe(path)):
        piped = open_pipe(path, reference, threads)
        # A file without a header is one without contigs.
        with pipe_from(io.BytesIO(piped.header or _NO_HEADER)) as header, _header_file(path, header) as file:
            yield _Opened(file, piped.kind, piped, piped.check_end)
        return
    with _header_file(path, path) as file:
        kind: Kind = "CRAM" if file.is_cram else "BAM" if file.is_bam else "SAM"
        yield _Opened(file, kind, bam or HtslibRecords(path, index, reference, file.is_cram, threads))


def _check_file(path: str, threads: int) -> None:
    """Look at both ends of a regular file."""
    opening(path)
    descriptor = STDIN_FILE if path == STDIN else None
    bgzf.check_end(path, descriptor)
    if threads > 1:
        bgzf.check_block_heads(path, threads, descriptor)


@contextmanager
def _header_file(path: str, source: str | BinaryIO) -> Iterator[pysam.AlignmentFile]:
    """Let pysam parse the header."""
    try:
        file = pysam.AlignmentFile(source, "r", check_sq=False)
    except UNREADABLE as error:
        if "truncated" in str(error):
            raise InputError(path, "", "is cut off: its end marker is missing", "copy or make it again") from error
        if getattr(error, "errno", None) in TOO_MANY_FILES:
            raise too_many_files(path) from error
        # htslib reports a damaged first block as an unknown format.
        why = None if getattr(error, "errno", None) == errno.ENOEXEC else getattr(error, "strerror", None)
        raise InputError(path, "", why or OTHER_FORMAT, FORMATS) from error
    try:
        # htslib opens sequence files too, as unaligned reads.
        if not (file.is_bam or file.is_cram or file.is_sam):
            raise InputError(path, "", OTHER_FORMAT, FORMATS)
        yield file
    finally:
        # After a failed read, closing fails as well, and its error would hide the first one.
        with suppress(OSError):
            file.close()


def _bam_records(path: str, index: BamIndex | None, threads: int, stays_open: bool) -> BamRecords | None:
    """The records of BAM in blocks; None for BAM of another kind."""
    open_again = opener_of(STDIN_FILE if path == STDIN else path, stays_open)
    source, close = open_again()
    try:
        first = first_record(source)
    finally:
        close()
    return None if first is None else BamRecords(open_again, first, index, threads > 1)


def _header(path: str, file: pysam.AlignmentFile) -> tuple[dict[str, Any], dict[str, int]]:
    """The header, with the names and lengths of its contigs."""
    damaged = InputError(path, "", "its header can't be read: a line is damaged", "mend it with samtools reheader")
    try:
        header, names = file.header.to_dict(), file.references
    except UnicodeDecodeError as error:
        raise InputError(path, "", "its header is not UTF-8", "mend it with samtools reheader") from error
    # pysam raises AssertionError for an unknown kind of line, and KeyError for a missing field.
    except (AssertionError, KeyError, ValueError) as error:
        raise damaged from error
    if not names:
        raise InputError(path, "", "its header has no contigs (@SQ)", "give aligned reads")
    listed_names = [line.get("SN") for line in header.get("SQ", [])]
    if len(set(names)) < len(names) or len(set(listed_names)) < len(listed_names):
        raise InputError(path, "", "its header has a contig (@SQ) twice", "mend it with samtools reheader")
    if any("ID" not in group for group in header.get("RG", [])):
        raise InputError(path, "", "a read group (@RG) of its header has no ID", "mend it with samtools reheader")
    try:
        # htslib parses the header's text when it is first asked for a name, and may then find other contigs.
        file.get_tid("*")
        return header, dict(zip(file.references, file.lengths, strict=True))
    except (AssertionError, ValueError) as error:
        raise damaged from error


def _known_contigs(path: str, contigs: dict[str, int], reference: Reference) -> dict[str, int]:
    """The contigs that the reference has too. It may hold only a part of what the reads were aligned to."""
    known = {name: length for name, length in contigs.items() if name in reference.contigs}
    # If the reference has none of them, the error names the first one.
    reference.check_contigs(path, known or contigs)
    missing = [name for name in contigs if name not in known]
    if missing:
        log.info(
            "%s: %d of its %d contigs are not in %s, and are left out: %s",
            path,
            len(missing),
            len(contigs),
            reference.path,
            listed(missing),
        )
    return known
