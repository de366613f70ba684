"""Where a run goes, so that it can be said how far it is. All coordinates are 0-based half-open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence

from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.io.sequences.intervals import Interval
from pairhmm.io.variants.candidates import indexed_contigs


class Extent:
    """Stretches that a run goes over, in its order.

    Parameters
    ----------
    stretches : iterable of (str, int, int)
        Contig, start and end, disjoint.
    """

    def __init__(self, stretches: Iterable[Interval]) -> None:
        self._starts: dict[str, list[int]] = {}
        self._sizes: dict[str, list[int]] = {}
        self._before: dict[str, list[int]] = {}
        self._total = 0
        for chrom, start, end in stretches:
            for column, value in ((self._starts, start), (self._sizes, end - start), (self._before, self._total)):
                column.setdefault(chrom, []).append(value)
            self._total += end - start

    def share(self, chrom: str, position: int) -> float:
        """The share of all bases that lies before a position: 0 to 1, and 0 for a contig that is not gone over."""
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
    """The extent of a run: the places that were asked for, or the contigs that have reads, and candidates.

    What an index does not tell counts as a whole: then a part of the extent is gone over in no time.

    Parameters
    ----------
    reader : AlignmentReader
    contigs : mapping of str to int
        Lengths, in the order of the run.
    places : sequence of (str, int, int), optional
        In the order of the run.
    candidates : str, optional
        VCF or BCF.
    """
    stretches = places if places is not None else [Interval(name, 0, length) for name, length in contigs.items()]
    known: list[Collection[str]] = [_with_reads(reader, contigs)]
    if candidates is not None:
        known.append(indexed_contigs(candidates) or contigs)
    return Extent(one for one in stretches if all(one[0] in names for names in known))


def _with_reads(reader: AlignmentReader, contigs: Mapping[str, int]) -> Collection[str]:
    """The contigs that have reads by the indexes; all where a file has none, or one that does not count."""
    names: set[str] = set()
    for source in reader.sources:
        if not source.file.is_bam or not source.file.has_index():
            return contigs
        names |= {one.contig for one in source.file.get_index_statistics() if one.mapped}
    return names
