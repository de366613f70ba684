"""`scan` of files. Reading, matching and writing run at the same time."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np

from pairhmm import scanning
from pairhmm.commands.keywords import ScanKeywords, with_keywords
from pairhmm.compiled import require_compiled
from pairhmm.errors import InputError
from pairhmm.interface.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.interface.options import check_whole
from pairhmm.io.files.ahead import read_ahead
from pairhmm.io.files.byte_stream import ByteStream
from pairhmm.io.files.destinations import check_apart
from pairhmm.io.files.names import check_names
from pairhmm.io.files.outputs import is_device
from pairhmm.io.files.standard_streams import STDIN
from pairhmm.io.samples.hit_writer import (
    Sink,
    file_label,
    open_assignment_lines,
    open_hit_table,
    open_multiqc,
    open_summaries,
    summary_paths,
)
from pairhmm.io.samples.record_blocks import sample_blocks
from pairhmm.io.samples.signatures import read_signatures
from pairhmm.scanning.batch import Patterns, Scanned, ScanOptions, Signatures
from pairhmm.scanning.choice import choose
from pairhmm.scanning.collect import Collector, FileCollector, FoundSamples, HitRules, RecordCollector
from pairhmm.scanning.records import RecordBlock

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
    """

    assignment: bool = False
    summary: str | None = None
    multiqc: str | None = None
    multiqc_sample: str | None = None

    def __post_init__(self) -> None:
        for name in ("summary", "multiqc"):
            object.__setattr__(self, name, path_of(getattr(self, name)))

    def outputs(self, table: str) -> list[tuple[str, str | None]]:
        """The option and the file of each output: of the table, and of the outputs beside it."""
        summaries = summary_paths(self.summary) if self.summary is not None else ()
        return [("-o", table), ("--multiqc", self.multiqc), *(("--summary", path) for path in summaries)]


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
    check_apart((signatures, *samples, reference), reports.outputs(output))
    check_names("SAMPLE", "file", samples, "rename the file: its name stands in the table")
    if [signatures, *samples].count(STDIN) > 1:
        raise InputError(STDIN, "", "stdin is named more than once", "give the other as a file")
    known = read_signatures(signatures)
    patterns = _patterns(signatures, known, options)
    known = patterns.holding(known)
    scanner = choose(backend, device, patterns, options, _size(samples), threads)
    log.info("backend %s", scanner.label)
    for path in samples:
        # Faults in a file's first bytes show before anything is written. Pipes are left out: they are read once.
        if path != STDIN and not is_device(path):
            ByteStream(path, lambda _: None).close()
    source = _Source(chunk_size, int(known.lengths.max()) - 1, reference, watch)
    outputs = _Outputs(known, options, per_file, reports)
    with ExitStack() as stack:
        sinks = outputs.open_sinks(stack, output)
        scanned = stack.enter_context(closing(read_ahead(_scanned(scanner, source.blocks(samples), outputs, threads))))
        outputs.write(scanned, sinks)
    counts = outputs.counts
    log.info("%d files, %d reads, %d bases, %d hits", counts.files, counts.reads, counts.bases, counts.hits)
    return counts


def _size(paths: Sequence[str]) -> int:
    """Total size of the regular files, in bytes. Pipes and devices do not count."""
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def _patterns(path: str, signatures: Signatures, options: ScanOptions) -> Patterns:
    """The patterns to search for. Warns of signatures that can't match."""
    unable = np.flatnonzero(signatures.informative < options.min_informative)
    rule = f"fewer than {options.min_informative} letters other than N"
    if len(unable) == len(signatures):
        raise InputError(path, "", f"every signature has {rule}: none can match", "lower --min-informative")
    if len(unable):
        first = signatures.names[int(unable[0])]
        log.warning("%s: %d signatures skipped, with %s (--min-informative): %s ...", path, len(unable), rule, first)
    return Patterns.of(signatures, options)


@dataclass(frozen=True, slots=True)
class _Source:
    """Reads the blocks of all files."""

    chunk_size: int
    overlap: int
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
class _Outputs:
    """Turns scanned blocks into outputs."""

    signatures: Signatures
    options: ScanOptions
    per_file: bool
    reports: Reports
    counts: ScanCounts = field(default_factory=ScanCounts)
    told_of_qualities: bool = False

    def open_sinks(self, stack: ExitStack, output: str) -> list[Sink]:
        table = open_assignment_lines if self.reports.assignment else open_hit_table
        sinks, reports = [], self.reports
        if reports.multiqc is not None:
            multiqc = open_multiqc(reports.multiqc, self.signatures, reports.multiqc_sample)
            sinks.append(stack.enter_context(multiqc))
        if self.reports.summary is not None:
            sinks.append(stack.enter_context(open_summaries(self.reports.summary, self.signatures)))
        return [*sinks, stack.enter_context(table(output, self.signatures))]

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

    def write(self, scanned: Iterator[_ScannedBlock], sinks: Sequence[Sink]) -> None:
        """Write everything that is found to every sink, in order."""
        collector, empty, reads = None, 0, 0
        for path, block, found in scanned:
            if collector is None:
                collector, empty, reads = self._collector(path), 0, 0
            if block is None or found is None:
                self._add(collector.finish(), sinks)
                collector = None
                self._tell_of_file(path, reads, empty)
                continue
            self._add(collector.add(block, found), sinks)
            reads += len(block.names) - block.unfinished
            empty += int((np.diff(block.samples.offset) == 0).sum())

    def _collector(self, path: str) -> Collector:
        rules = HitRules(self.signatures.lengths, self.options.every_match, self.reports.summary is not None)
        return FileCollector(path, file_label(path), rules) if self.per_file else RecordCollector(path, rules)

    def _add(self, complete: Iterator[FoundSamples], sinks: Sequence[Sink]) -> None:
        for found in complete:
            for sink in sinks:
                sink.add(found)
            self.counts.bases += int(found.bases.sum())
            self.counts.hits += len(found.hits)

    def _tell_of_file(self, path: str, reads: int, empty: int) -> None:
        self.counts.files += 1
        self.counts.reads += reads
        if reads == 0:
            log.warning("%s: no record in it", path)
        elif empty:
            log.warning("%s: %d of %d records are empty", path, empty, reads)
