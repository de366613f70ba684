"""The extent of a run, which shows how much of it is done. All coordinates are 0-based half-open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.candidates import indexed_contigs


class Extent:
    """The intervals that a run goes over, in the order of the run.

    Parameters
    ----------
    intervals : iterable of (str, int, int)
        Contig, start and end; no two overlap.
    """

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
        """The share (0 to 1) of the extent's bases that lie before a position; 0 for a contig outside the extent."""
        starts = self._starts.get(chrom)
        if not starts or not self._total:
            return 0.0
        index = max(0, bisect_right(starts, position) - 1)
        inside = min(max(0, position - starts[index]), self._sizes[chrom][index])
        return (self._before[chrom][index] + inside) / self._total


def run_extent(
    reader: AlignmentReader,
    contigs: Mapping[str, int],
    places: Sequence[Interval] | None,
    candidates: str | None,
) -> Extent:
    """The extent of a run: the intervals that were asked for, or whole contigs, where there are reads and candidates.

    A contig counts in full unless an index says that it is empty. The run takes no time for an empty one.

    Parameters
    ----------
    reader : AlignmentReader
    contigs : mapping of str to int
        Lengths of the contigs, in the order of the run.
    places : sequence of (str, int, int), optional
        Intervals that were asked for, in the order of the run.
    candidates : str, optional
        VCF or BCF of candidates.
    """
    intervals = places if places is not None else [Interval(name, 0, length) for name, length in contigs.items()]
    known: list[Collection[str]] = [_with_reads(reader, contigs)]
    if candidates is not None:
        known.append(indexed_contigs(candidates) or contigs)
    return Extent(one for one in intervals if all(one[0] in names for names in known))


def _with_reads(reader: AlignmentReader, contigs: Mapping[str, int]) -> Collection[str]:
    """The contigs that have reads, by the indexes; all contigs where an index is missing or does not count reads."""
    names: set[str] = set()
    for source in reader.sources:
        counts = {name: source.records.mapped_reads(tid) for tid, name in enumerate(source.references)}
        if None in counts.values():
            return contigs
        names |= {name for name, count in counts.items() if count}
    return names
