"""Targets of a run: its contigs in order, the requested intervals with their padding, and how far a run is in them.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.calling.circles import UnrolledReference
from pairhmm.calling.run_options import RunInputs
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval, merge, parse_region, place_interval, read_intervals
from pairhmm.variants.candidates import indexed_contigs

PADDING = 1000
"""Padding: bases on either side of a requested interval in which candidates are sought, too.

Candidates inside the interval are then joined as in a run over everything, unless the candidates around it leave no gap
in these bases.
"""


def contig_order(reader: AlignmentReader, genome: Reference) -> dict[str, int]:
    """Contigs and their lengths in the order of the run. Contigs that no alignment file has come last."""
    return reader.contigs | {name: size for name, size in genome.contigs.items() if name not in reader.contigs}


def requested_intervals(
    inputs: RunInputs, genome: Reference, padding: int = 0, circles: Collection[str] = ()
) -> list[Interval] | None:
    """The requested intervals, extended by so many bases, merged and in the reference's order; None for everywhere.

    Those over the origin of one of `circles` become two.
    """
    if inputs.intervals is not None:
        return merge(inputs.intervals, list(genome.contigs))
    if not inputs.regions and inputs.regions_file is None:
        return None
    intervals = [
        parse_region(region, genome.contigs, circles=circles)
        if isinstance(region, str)
        else place_interval(region, genome.contigs, circles)
        for region in inputs.regions
    ]
    if inputs.regions_file is not None:
        intervals += read_intervals(inputs.regions_file, genome.contigs, circles)
    return widened(intervals, padding, genome.contigs, circles)


def in_run_order(requested: Iterable[Interval] | None, contigs: Mapping[str, int]) -> list[Interval]:
    """The requested intervals in the order of the run, or all contigs where none are requested."""
    if requested is None:
        return [Interval(name, 0, length) for name, length in contigs.items()]
    rank = {name: number for number, name in enumerate(contigs)}
    return sorted(requested, key=lambda interval: (rank[interval.chrom], interval.start))


def with_padding(intervals: Sequence[Interval] | None, genome: UnrolledReference) -> list[Interval] | None:
    """Places with `PADDING` bases around them. Candidates there decide how those inside are joined."""
    return None if intervals is None else widened(intervals, PADDING, genome.contigs)


def widened(
    intervals: Iterable[Interval], padding: int, contigs: Mapping[str, int], circles: Collection[str] = ()
) -> list[Interval]:
    """Intervals with so many bases more on either side, merged and in the reference's order."""
    widened = []
    for chrom, start, end in intervals:
        length, wide = contigs[chrom], Interval(chrom, start - padding, end + padding)
        # What passes the end of a circle is at its beginning.
        for turn in (-length, 0, length) if chrom in circles else (0,):
            first, last = max(0, wide.start + turn), min(length, wide.end + turn)
            widened += [Interval(chrom, first, last)] if first < last else []
    return merge(widened, list(contigs))


Locus = tuple[int, int]
"""A contig, by its rank in the run, and a position on it."""


class Inside:
    """Tests whether a position lies in one of some disjoint intervals. With None, every position does."""

    def __init__(self, intervals: Sequence[Interval] | None) -> None:
        self._everywhere = intervals is None
        self._starts: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        for chrom, start, end in intervals or ():
            self._starts.setdefault(chrom, []).append(start)
            self._ends.setdefault(chrom, []).append(end)

    def __call__(self, chrom: str, position: int) -> bool:
        if self._everywhere:
            return True
        index = bisect_right(self._starts.get(chrom, []), position) - 1
        return index >= 0 and position < self._ends[chrom][index]


class SortedIntervals:
    """Disjoint intervals in the order of a run, of which parts can be taken."""

    def __init__(self, intervals: Sequence[Interval], rank: Mapping[str, int]) -> None:
        self.intervals, self._rank = intervals, rank
        self._ends = [(rank[chrom], end) for chrom, _, end in self.intervals]

    def between(self, begin: Locus, end: Locus) -> list[Interval]:
        """The parts of the intervals between two loci."""
        parts = []
        for chrom, start, stop in islice(self.intervals, bisect_right(self._ends, begin), None):
            number = self._rank[chrom]
            if (number, start) >= end:
                break
            first = max(start, begin[1]) if number == begin[0] else start
            last = min(stop, end[1]) if number == end[0] else stop
            if first < last:
                parts.append(Interval(chrom, first, last))
        return parts


class Progress:
    """Tells the share of a run that lies before a position. The run goes over disjoint intervals, in their order."""

    def __init__(self, intervals: Iterable[Interval]) -> None:
        self._starts: dict[str, list[int]] = {}
        self._sizes: dict[str, list[int]] = {}
        self._before: dict[str, list[int]] = {}
        self._total = 0
        for chrom, start, end in intervals:
            for column, value in ((self._starts, start), (self._sizes, end - start), (self._before, self._total)):
                column.setdefault(chrom, []).append(value)
            self._total += end - start

    def share(self, chrom: str, position: int) -> float:
        """The share (0 to 1) of all bases that lie before a position; 0 for a contig without an interval."""
        starts = self._starts.get(chrom)
        if not starts or not self._total:
            return 0.0
        index = max(0, bisect_right(starts, position) - 1)
        inside = min(max(0, position - starts[index]), self._sizes[chrom][index])
        return (self._before[chrom][index] + inside) / self._total


def run_progress(
    reader: AlignmentReader,
    contigs: Mapping[str, int],
    intervals: Sequence[Interval] | None,
    candidates: str | None,
) -> Progress:
    """The progress of a run over the requested intervals, or over whole contigs, with reads and candidates.

    A contig counts in full unless an index says that it is empty. The run takes no time for an empty one.
    """
    kept: list[Collection[str]] = [_with_reads(reader, contigs)]
    if candidates is not None:
        kept.append(indexed_contigs(candidates) or contigs)
    return Progress(
        interval for interval in in_run_order(intervals, contigs) if all(interval.chrom in names for names in kept)
    )


def _with_reads(reader: AlignmentReader, contigs: Mapping[str, int]) -> Collection[str]:
    """The contigs that have reads, by the indexes; all contigs where an index is missing or does not count reads."""
    names: set[str] = set()
    for source in reader.sources:
        counts = {name: source.mapped_reads(tid) for tid, name in enumerate(source.references)}
        if None in counts.values():
            return contigs
        names |= {name for name, count in counts.items() if count}
    return names
