"""`scan` of files. Reading, matching and writing run at the same time."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Annotated, Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm import scanning
from pairhmm.commands.keywords import with_keywords
from pairhmm.commands.scan_candidates import CandidateWriter, candidate_paths, open_candidates
from pairhmm.commands.tool_keywords import ScanKeywords
from pairhmm.compiled import require_compiled
from pairhmm.errors import InputError
from pairhmm.interface.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.interface.options import Within, check_fields, check_whole
from pairhmm.io.files.ahead import read_ahead
from pairhmm.io.files.byte_stream import ByteStream
from pairhmm.io.files.destinations import check_apart
from pairhmm.io.files.names import check_names
from pairhmm.io.files.outputs import is_device
from pairhmm.io.files.standard_streams import STDIN
from pairhmm.io.samples.hit_multiqc import open_multiqc
from pairhmm.io.samples.hit_writer import (
    Searched,
    Sink,
    file_label,
    open_assignment_lines,
    open_hit_table,
    open_summaries,
    summary_paths,
)
from pairhmm.io.samples.record_blocks import sample_blocks
from pairhmm.io.samples.signatures import read_signatures
from pairhmm.scanning.batch import Patterns, Scanned, ScanOptions, Signatures, Tiling
from pairhmm.scanning.choice import choose
from pairhmm.scanning.collect import Collector, FileCollector, FoundSamples, HitRules, RecordCollector
from pairhmm.scanning.records import RecordBlock
from pairhmm.scanning.rollup import Rollup, call_rule, repeated_tiles
from pairhmm.scanning.tiles import check_tiling, load_tiles

log = logging.getLogger(__name__)

CHUNK_SIZE = 8 << 20
"""Unpacked bytes of records that are read at once. Larger chunks are no faster."""

_DEFAULTS = ScanOptions()


@dataclass(frozen=True, slots=True)
class Reports:
    """The form of the table that `scan_files` writes, and its other outputs.

    Attributes
    ----------
    assignment : bool
        Write lines ``sample: signature (mean) [hash]`` in place of the table.
    summary : str or None
        Prefix of ``PREFIX.samples.tsv`` and ``PREFIX.signatures.tsv``.
    multiqc : str or None
        A name that ends in ``_mqc.json``.
    multiqc_sample : str or None
        The sample of all files. MultiQC's table then has one row for it, in place of one row for each file.
    min_breadth : float
        The least share of a signature that a call needs, where signatures are cut into tiles.
    candidates : str or None
        Prefix of ``PREFIX.reads.fq`` and ``PREFIX.parts.fa``, the input of `align`. They need tiles.
    """

    assignment: bool = False
    summary: str | None = None
    multiqc: str | None = None
    multiqc_sample: str | None = None
    min_breadth: Annotated[float, Within(0, 1)] = 0.01
    candidates: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("summary", "multiqc", "candidates"):
            object.__setattr__(self, name, path_of(getattr(self, name)))

    def outputs(self, table: str) -> list[tuple[str, str | None]]:
        """The option and the file of each output: of the table, and of the outputs beside it."""
        summaries = summary_paths(self.summary) if self.summary is not None else ()
        candidates = candidate_paths(self.candidates) if self.candidates is not None else ()
        beside = [*(("--summary", path) for path in summaries), *(("--candidates", path) for path in candidates)]
        return [("-o", table), ("--multiqc", self.multiqc), *beside]


@dataclass(slots=True)
class ScanCounts:
    """Counts of what a scan has read and found."""

    files: int = 0
    reads: int = 0
    bases: int = 0
    hits: int = 0


def scan_files(
    signatures: AnyPath,
    samples: Paths,
    output: AnyPath = "-",
    *,
    options: ScanOptions = _DEFAULTS,
    tiling: Tiling | None = None,
    per_file: bool = False,
    reports: Reports | None = None,
    reference: AnyPath | None = None,
    chunk_size: int = CHUNK_SIZE,
    backend: str = "auto",
    device: int | None = None,
    threads: int = 1,
    watch: Callable[[int], None] = lambda _: None,
    **keywords: Unpack[ScanKeywords],
) -> ScanCounts:
    """Scan files for signatures; reading, matching and writing go on at once.

    Parameters
    ----------
    signatures : path
        FASTA.
    samples : path or sequence of paths
        FASTQ, FASTA, BAM, CRAM or SAM, gzipped or not; ``-`` is stdin.
    output : path
        Table of hits (docs/scan.md); ``-`` is stdout.
    options : ScanOptions
        What counts as a match.
    tiling : Tiling, optional
        Cut the signatures into tiles. A match of a tile is a match of its signature. By default, a match is the whole
        signature. The summary then has calls.
    per_file : bool
        Each file is a sample. By default each record is one.
    reports : Reports, optional
        Other outputs; none by default.
    reference : path, optional
        FASTA that CRAM is decoded with.
    chunk_size : int
        Bytes of records that are taken at once; changes no result.
    backend : str
        "auto", or a name of `pairhmm.scanning.names`.
    device : int, optional
        GPU, as `pairhmm devices` numbers them; the first without one.
    threads : int
        Threads that match, in addition to one that reads.
    watch : callable
        ``watch(count)`` is told each time how many more bytes of the files were read.
    **keywords
        Fields of `ScanOptions` by name.

    Returns
    -------
    ScanCounts

    Raises
    ------
    InputError
        For files that can't be used; names file, record and cure. No output is left then.
    OptionError
        For an option with a value that it can't have.
    TypeError
        For a keyword that no option has.
    BackendUnavailable
        Where a named backend does not run here.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reads samples.
    """
    require_compiled("scan")
    (options,) = with_keywords("scan_files", keywords, options)
    check_whole("threads", threads, 1)
    check_whole("chunk_size", chunk_size, 1, 2**63 - 1)
    signatures, samples = path_of(signatures), some_paths_of(samples, "samples")
    output, reference = path_of(output), path_of(reference)
    reports = reports or Reports()
    if per_file and options.every_match:
        raise InputError(
            "--per-file", "", "a file has one hit a signature, and --all asks for every match", "leave one out"
        )
    if reports.candidates is not None and tiling is None:
        raise InputError("--candidates", "", "are reads that match a part of a signature", "give --tile")
    check_apart((signatures, *samples, reference), reports.outputs(output))
    check_names("SAMPLE", "file", samples, "rename the file: its name stands in the table")
    if [signatures, *samples].count(STDIN) > 1:
        raise InputError(STDIN, "", "stdin is named more than once", "give the other as a file")
    known = read_signatures(signatures)
    if tiling is not None:
        check_tiling(tiling, options)
    patterns = _patterns(signatures, known, options, tiling)
    known = patterns.holding(known)
    if tiling is None:
        scanner = choose(backend, device, patterns, options, _size(samples), threads)
    else:
        _tell_of_tiles(known, options, tiling, reports.min_breadth)
        scanner = load_tiles(backend, patterns, options, tiling)
    log.info("backend %s", scanner.label)
    for path in samples:
        # Faults in a file's first bytes show before anything is written. Pipes are left out: they are read once.
        if path != STDIN and not is_device(path):
            ByteStream(path, lambda _: None).close()
    # A read counts once, so that records are read whole where signatures are added up by reads.
    overlap = None if tiling is not None else int(known.lengths.max()) - 1
    source = _Source(chunk_size, overlap, reference, watch)
    outputs = _Outputs(known, options, tiling, per_file, reports)
    with ExitStack() as stack:
        sinks = outputs.open_sinks(stack, output)
        scanned = stack.enter_context(closing(read_ahead(_scanned(scanner, source.blocks(samples), outputs, threads))))
        candidates = None
        if reports.candidates is not None:
            candidates = stack.enter_context(open_candidates(reports.candidates, outputs.searched))
        outputs.write(scanned, sinks, candidates)
    counts = outputs.counts
    log.info("%d files, %d reads, %d bases, %d hits", counts.files, counts.reads, counts.bases, counts.hits)
    return counts


def _size(paths: Sequence[str]) -> int:
    """Total size of the regular files, in bytes. Pipes and devices do not count."""
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def _patterns(path: str, signatures: Signatures, options: ScanOptions, tiling: Tiling | None) -> Patterns:
    """The patterns to search for. Warns of signatures that can't match."""
    rule = f"fewer than {options.min_informative} letters other than N"
    _check_able(path, signatures, signatures.informative >= options.min_informative, rule, "--min-informative")
    if tiling is not None:
        rule = f"fewer letters than a tile of {tiling.length}"
        _check_able(path, signatures, signatures.lengths >= tiling.length, rule, "--tile")
    return Patterns.of(signatures, options, tiling)


def _check_able(path: str, signatures: Signatures, able: NDArray[np.bool_], rule: str, option: str) -> None:
    """Warn of signatures that can't match. Raise an error if none can."""
    unable = np.flatnonzero(~able)
    if len(unable) == len(signatures):
        raise InputError(path, "", f"every signature has {rule}: none can match", f"lower {option}")
    if len(unable):
        first = signatures.names[int(unable[0])]
        log.warning("%s: %d signatures skipped, with %s (%s): %s ...", path, len(unable), rule, option, first)


def _tell_of_tiles(signatures: Signatures, options: ScanOptions, tiling: Tiling, min_breadth: float) -> None:
    tiles, repeated, shared = repeated_tiles(signatures, tiling, options.both_strands)
    log.info(
        "%d tiles of %d letters; %d occur more than once, %d in several signatures",
        tiles, tiling.length, repeated, shared,
    )  # fmt: skip
    log.info("%s", call_rule(min_breadth))


@dataclass(frozen=True, slots=True)
class _Source:
    """Reads the blocks of all files."""

    chunk_size: int
    overlap: int | None
    reference: str | None
    watch: Callable[[int], None]

    def blocks(self, paths: Sequence[str]) -> Iterator[tuple[str, RecordBlock | None]]:
        """The blocks of each file, with its path. None marks the end of a file."""
        for path in paths:
            for block in sample_blocks(path, self.chunk_size, self.overlap, self.reference, self.watch):
                yield path, block
            yield path, None


_ScannedBlock = tuple[str, RecordBlock | None, Scanned | None]


def _scanned(
    scanner: scanning.Scanner, blocks: Iterator[tuple[str, RecordBlock | None]], outputs: _Outputs, threads: int
) -> Iterator[_ScannedBlock]:
    with closing(read_ahead(blocks)) as ahead:
        for path, block in ahead:
            if block is not None:
                outputs.check_qualities(path, block)
            yield path, block, None if block is None else scanner.scan(block.samples, threads)


@dataclass(slots=True)
class _FileRead:
    """Counts of what was read of a file.

    Attributes
    ----------
    records, empty : int
    longest : int
        Letters of the longest record, or of the longest part of one.
    """

    records: int = 0
    empty: int = 0
    longest: int = 0

    def add(self, block: RecordBlock) -> None:
        """Count the records of a block."""
        lengths = np.diff(block.samples.offset)
        self.records += len(block.names) - block.unfinished
        self.empty += int((lengths == 0).sum())
        self.longest = max(self.longest, int(lengths.max(initial=0)))


@dataclass(slots=True)
class _Outputs:
    """Turns scanned blocks into outputs."""

    signatures: Signatures
    options: ScanOptions
    tiling: Tiling | None
    per_file: bool
    reports: Reports
    counts: ScanCounts = field(default_factory=ScanCounts)
    told_of_qualities: bool = False

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of a match of each signature."""
        lengths = self.signatures.lengths
        return lengths if self.tiling is None else np.full_like(lengths, self.tiling.length)

    @property
    def searched(self) -> Searched:
        """What is searched for."""
        return Searched(self.signatures, self.lengths, self.tiling is not None)

    def open_sinks(self, stack: ExitStack, output: str) -> list[Sink]:
        known = self.searched
        sinks, reports = [], self.reports
        rule = call_rule(reports.min_breadth)
        if reports.multiqc is not None:
            sinks.append(stack.enter_context(open_multiqc(reports.multiqc, known, reports.multiqc_sample, rule)))
        if reports.summary is not None:
            sinks.append(stack.enter_context(open_summaries(reports.summary, known)))
        table = open_assignment_lines if reports.assignment else open_hit_table
        return [*sinks, stack.enter_context(table(output, known))]

    def check_qualities(self, path: str, block: RecordBlock) -> None:
        """Raise an error if an option needs qualities that are missing. Else, say once that there are none."""
        if block.samples.qualities is not None or not len(block.samples.letters):
            return
        if self.options.needs_qualities or self.reports.assignment:
            asked = "--assignment-format" if self.reports.assignment else "--min-score or --min-mean"
            raise InputError(
                path, "", f"its records have no qualities, which {asked} needs", "leave that out, or give FASTQ"
            )
        if not self.told_of_qualities:
            self.told_of_qualities = True
            log.warning("%s: no base qualities: the score columns are empty", path)

    def write(
        self, scanned: Iterator[_ScannedBlock], sinks: Sequence[Sink], candidates: CandidateWriter | None
    ) -> None:
        """Write everything that is found to every sink, in order."""
        collector, rollup, read = None, None, _FileRead()
        for path, block, found in scanned:
            if collector is None:
                collector, rollup, read = self._collector(path), self._rollup(), _FileRead()
            if block is None or found is None:
                self._add(collector.finish(), sinks)
                collector = None
                self._tell_of_file(path, read)
                if rollup is not None:
                    for sink in sinks:
                        sink.add_seen(path, rollup.rows())
                continue
            self._add(collector.add(block, found), sinks)
            if rollup is not None:
                rollup.add(block.samples, found.runs)
            if candidates is not None:
                candidates.add(block, found.hits)
            read.add(block)

    def _rollup(self) -> Rollup | None:
        if self.tiling is None:
            return None
        return Rollup(self.signatures, self.tiling, self.options, self.reports.min_breadth)

    def _collector(self, path: str) -> Collector:
        with_letters = self.reports.summary is not None and self.tiling is None
        rules = HitRules(self.lengths, self.options.every_match, with_letters)
        return FileCollector(path, file_label(path), rules) if self.per_file else RecordCollector(path, rules)

    def _add(self, complete: Iterator[FoundSamples], sinks: Sequence[Sink]) -> None:
        for found in complete:
            for sink in sinks:
                sink.add(found)
            self.counts.bases += int(found.bases.sum())
            self.counts.hits += len(found.hits)

    def _tell_of_file(self, path: str, read: _FileRead) -> None:
        self.counts.files += 1
        self.counts.reads += read.records
        if read.records == 0:
            log.warning("%s: no record in it", path)
        elif read.empty:
            log.warning("%s: %d of %d records are empty", path, read.empty, read.records)
        longer = int(np.count_nonzero(self.lengths > read.longest))
        if longer and read.longest and self.tiling is None:
            told = f"{longer} of {len(self.signatures)} signatures are longer than every record"
            log.warning("%s: %s (%d letters) and can't match: --tile 31 cuts them", path, told, read.longest)
