"""Chooses windows for a fit, so that its reads are spread over all regions and not the first of a file.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pairhmm.alignments.index import find_index
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.calling.run_options import RunInputs
from pairhmm.calling.shards import Work, work_of
from pairhmm.calling.targets import contig_order, requested_intervals
from pairhmm.files.descriptors import STDIN
from pairhmm.plurals import counted
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval

log = logging.getLogger(__name__)

SURPLUS = 2.0
"""Reads in the windows for each read of the fit: many lie beside variants or are filtered."""

MOST_WINDOWS, FEWEST_WINDOWS = 100, 10
READS_OF_WINDOW = 500
"""Reads of the fit for each window, unless that makes too many or too few windows."""


def spread_over_windows(inputs: RunInputs, most: int) -> RunInputs:
    """The inputs with windows for regions: evenly spread, with somewhat more reads than the `most` that a fit takes.

    The inputs stay as they are where the index is missing, where candidates or haplotypes are given (they may be few),
    and where reading everything takes little longer.
    """
    indexes = [None if path == STDIN else find_index(path) for path in inputs.alignments]
    if not inputs.candidates_are_discovered or None in indexes:
        return inputs
    with Reference(inputs.reference) as genome, AlignmentReader(inputs.alignments, genome, True) as reader:
        requested = requested_intervals(inputs, genome)
        contigs = contig_order(reader, genome)
        places = [Interval(name, 0, length) for name, length in contigs.items()] if requested is None else requested
        work = work_of(reader.sources, places)
    share = SURPLUS * most / max(work.total, 1)
    if share >= 1:
        return inputs if requested is None else replace(inputs, intervals=tuple(requested))
    count = min(MOST_WINDOWS, max(FEWEST_WINDOWS, most // READS_OF_WINDOW))
    windows = [window for number in range(count) for window in _window(work, contigs, number / count, share / count)]
    log.info("reads are taken from %s with %.2g of all reads", counted(count, "window"), share)
    return replace(inputs, intervals=tuple(windows))


def _window(work: Work, contigs: Mapping[str, int], first: float, share: float) -> Iterator[Interval]:
    """The window that begins behind a share of the work; two where it reaches the next contig."""
    (chrom, start), (last, end) = work.locus_at(first), work.locus_at(first + share)
    stop = max(end, start + 1) if chrom == last else contigs[chrom]
    if start < contigs[chrom]:
        yield Interval(chrom, start, min(stop, contigs[chrom]))
    if chrom != last and end:
        yield Interval(last, 0, end)
