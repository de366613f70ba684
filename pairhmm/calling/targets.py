"""The places of a run: its contigs in order, the intervals that were asked for, and the bases around these.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.calling.run_options import RunInputs
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval, merge, parse_region, read_bed

CONTEXT = 1000
"""Bases on either side of an interval that was asked for in which candidates are sought, too.

Candidates inside the interval are then joined as in a run over everything, unless the candidates around it leave no gap
in these bases.
"""


def contig_order(reader: AlignmentReader, genome: Reference) -> dict[str, int]:
    """Contigs and their lengths in the order of the run. Contigs that no alignment file has come last."""
    return reader.contigs | {name: size for name, size in genome.contigs.items() if name not in reader.contigs}


def find_places(inputs: RunInputs, genome: Reference) -> list[Interval] | None:
    """The intervals that were asked for, merged and in the reference's order; None for everywhere."""
    if inputs.places is not None:
        return merge(inputs.places, list(genome.contigs))
    if not inputs.regions and inputs.regions_file is None:
        return None
    places = [parse_region(text, genome.contigs) for text in inputs.regions]
    if inputs.regions_file is not None:
        places += read_bed(inputs.regions_file, genome.contigs)
    return merge(places, list(genome.contigs))


def with_context(places: Sequence[Interval] | None, genome: Reference) -> list[Interval] | None:
    """Places with `CONTEXT` bases around them. Candidates there decide how those inside are joined."""
    if places is None:
        return None
    widened = [
        Interval(chrom, max(0, start - CONTEXT), min(genome.contigs[chrom], end + CONTEXT))
        for chrom, start, end in places
    ]
    return merge(widened, list(genome.contigs))


class Inside:
    """Tests whether a position lies in one of some disjoint intervals. With None, every position does."""

    def __init__(self, places: Sequence[Interval] | None) -> None:
        self._everywhere = places is None
        self._starts: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        for chrom, start, end in places or ():
            self._starts.setdefault(chrom, []).append(start)
            self._ends.setdefault(chrom, []).append(end)

    def __call__(self, chrom: str, position: int) -> bool:
        if self._everywhere:
            return True
        index = bisect_right(self._starts.get(chrom, []), position) - 1
        return index >= 0 and position < self._ends[chrom][index]
