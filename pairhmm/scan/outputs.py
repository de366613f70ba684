"""The outputs of `scan` of files: which there are, and what is written to them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import path_of
from pairhmm.errors import InputError
from pairhmm.files.hit_table import file_label
from pairhmm.files.names import decoded
from pairhmm.options import Within, check_fields
from pairhmm.scan.base import Scanned, ScanOptions, Tiling
from pairhmm.scan.candidates import CandidateWriter, candidate_paths
from pairhmm.scan.collect import Collector, FileCollector, HitRules, RecordCollector, SampleHits
from pairhmm.scan.kreport import open_kreport
from pairhmm.scan.multiqc import open_multiqc
from pairhmm.scan.rollup import Rollup, call_rule
from pairhmm.scan.tables import Searched, Sink, open_assignment_lines, open_hit_table, open_summaries, summary_paths
from pairhmm.sequences.records import RecordBlock
from pairhmm.sequences.signatures import Signatures

log = logging.getLogger(__name__)

ScannedBlock = tuple[str, RecordBlock | None, Scanned | None]
"""A file, a block of its records, and what was found in it. No block marks the end of the file."""


@dataclass(frozen=True, slots=True)
class Reports:
    """The form of the table that `scan_files` writes, and its other outputs."""

    assignment: bool = False  # lines ``sample: signature (mean) [hash]`` in place of the table
    summary: str | None = None  # prefix of ``PREFIX.samples.tsv`` and ``PREFIX.signatures.tsv``
    multiqc: str | None = None  # a name that ends in ``_mqc.json``
    # The sample of all files. MultiQC's table then has one row for it, in place of one row for each file.
    multiqc_sample: str | None = None
    # The least share of a signature that a call needs, where signatures are cut into tiles.
    min_breadth: Annotated[float, Within(0, 1)] = 0.01
    # Prefix of ``PREFIX.reads.fq`` and ``PREFIX.parts.fa``, the input of `align`. They need tiles.
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


@dataclass(slots=True)
class _FileRead:
    """Counts of what was read of a file."""

    records: int = 0
    empty: int = 0
    longest: int = 0  # letters of the longest record, or of the longest part of one

    def add(self, block: RecordBlock) -> None:
        """Count the records of a block."""
        lengths = np.diff(block.samples.offset)
        self.records += len(block.names) - block.unfinished
        self.empty += int((lengths == 0).sum())
        self.longest = max(self.longest, int(lengths.max(initial=0)))


@dataclass(slots=True)
class ScanOutputs:
    """Turns scanned blocks into outputs."""

    signatures: Signatures
    options: ScanOptions
    tiling: Tiling | None
    per_file: bool
    reports: Reports
    counts: ScanCounts = field(default_factory=ScanCounts)
    has_warned: bool = False

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of a match of each signature."""
        lengths = self.signatures.lengths
        return lengths if self.tiling is None else np.full_like(lengths, self.tiling.length)

    @property
    def searched(self) -> Searched:
        """The search, as tables describe it."""
        return Searched(self.signatures, self.lengths, self.tiling is not None)

    def open_sinks(self, stack: ExitStack, output: str) -> list[Sink]:
        known = self.searched
        sinks, reports = [], self.reports
        rule = call_rule(reports.min_breadth)
        if reports.multiqc is not None:
            sinks.append(stack.enter_context(open_multiqc(reports.multiqc, known, reports.multiqc_sample, rule)))
        if reports.summary is not None:
            sinks.append(stack.enter_context(open_summaries(reports.summary, known)))
            if self.tiling is not None:
                kreport = summary_paths(reports.summary)[-1]
                sinks.append(stack.enter_context(open_kreport(kreport, self.signatures)))
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
        if not self.has_warned:
            self.has_warned = True
            log.warning("%s: no base qualities: the score columns are empty", path)

    def write(self, scanned: Iterator[ScannedBlock], sinks: Sequence[Sink], candidates: CandidateWriter | None) -> None:
        """Write everything that is found to every sink, in order."""
        collector, rollup, read = None, None, _FileRead()
        for path, block, results in scanned:
            if collector is None:
                collector, rollup, read = self._new_collector(path), self._rollup(), _FileRead()
            if block is None or results is None:
                self._add(collector.finish(), sinks)
                collector = None
                self._log_file(path, read)
                rows = rollup.rows() if rollup is not None else []
                for sink in sinks:
                    sink.add_coverage(decoded(path), rows)
                    if rollup is not None:
                        sink.add_taxa(rollup.taxon_reads())
                continue
            self._add(collector.add(block, results), sinks)
            if rollup is not None:
                rollup.add(block.samples, results.runs)
            if candidates is not None:
                candidates.add(block, results.hits)
            read.add(block)

    def _rollup(self) -> Rollup | None:
        if self.tiling is None:
            return None
        return Rollup(self.signatures, self.tiling, self.options, self.reports.min_breadth)

    def _new_collector(self, path: str) -> Collector:
        with_letters = self.reports.summary is not None and self.tiling is None
        rules = HitRules(self.lengths, self.options.every_match, with_letters)
        file = decoded(path)
        return FileCollector(file, file_label(path), rules) if self.per_file else RecordCollector(file, rules)

    def _add(self, complete: Iterator[SampleHits], sinks: Sequence[Sink]) -> None:
        for sample in complete:
            for sink in sinks:
                sink.add(sample)
            self.counts.bases += int(sample.bases.sum())
            self.counts.hits += len(sample.hits)

    def _log_file(self, path: str, read: _FileRead) -> None:
        self.counts.files += 1
        self.counts.reads += read.records
        if read.records == 0:
            log.warning("%s: no record in it", path)
        elif read.empty:
            log.warning("%s: %d of %d records are empty", path, read.empty, read.records)
        longer = int(np.count_nonzero(self.lengths > read.longest))
        if longer and read.longest and self.tiling is None:
            rule = f"{longer} of {len(self.signatures)} signatures are longer than every record"
            log.warning("%s: %s (%d letters) and can't match: --tile 31 cuts them", path, rule, read.longest)
