"""Counts the reads over each tandem repeat that gained or lost units (stutter): cpu/calling/str_counts.hpp."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.models.str_parameters import LEAST_COPIES
from pairhmm.native import native
from pairhmm.sequences.tandem_repeats import MOST_REPEATS

Site = tuple[int, int, int, int, int]
"""Bases of the unit, copies that most reads have, reads, and those with fewer and with more units."""


def count_changes(blocks: Iterable[ReadBlock], fetch: Callable[[str, int, int], str]) -> Counter[Site]:
    """The number of repeats by their counts of stuttering reads. Memory grows with the depth and the lengths of reads.

    Blocks come contig after contig, by the starts of the reads. `fetch` gives the reference's letters of (contig,
    start, end), clamped to the contig.
    """
    counter, reference = native.StrCounter(LEAST_COPIES, MOST_REPEATS), native.ReferenceBases(fetch)
    for block in blocks:
        counter.add(block.chrom, block.aligned, reference)
    return Counter(dict(counter.sites()))
