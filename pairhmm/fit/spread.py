"""Chooses windows for a fit, so that its reads are spread over all regions and not the first of a file.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pairhmm.alignments.index import find_index
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_density import ReadDensity, read_densities
from pairhmm.calling.run_options import RunInputs
from pairhmm.calling.shards import Work
from pairhmm.calling.targets import contig_order, find_places
from pairhmm.files.descriptors import STDIN
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval

log = logging.getLogger(__name__)

SURPLUS = 2.0
"""Reads in the windows for each read of the fit: many lie beside variants or are filtered."""

MOST_WINDOWS, FEWEST_WINDOWS = 100, 10
READS_OF_WINDOW = 500
"""Reads of the fit for each window, unless that makes too many or too few windows."""

_CRAM_READ = 40
"""Bytes of a read in CRAM, about. Its index has bytes in place of reads."""


def spread_over_windows(inputs: RunInputs, most: int) -> RunInputs:
    """The inputs with windows for regions: evenly spread, with somewhat more reads than the `most` that a fit takes.

    The inputs stay as they are where the index is missing, where candidates or haplotypes are given (they may be few),
    and where reading everything takes little longer.
    """
    indexes = [None if path == STDIN else find_index(path) for path in inputs.alignments]
    if not inputs.candidates_are_discovered or None in indexes:
        return inputs
    with Reference(inputs.reference) as genome, AlignmentReader(inputs.alignments, genome, True) as reader:
        asked = find_places(inputs, genome)
        contigs = contig_order(reader, genome)
        places = [Interval(name, 0, length) for name, length in contigs.items()] if asked is None else asked
        densities = [
            _in_reads(read_densities(source), str(index)) for source, index in zip(reader.sources, indexes, strict=True)
        ]
    work = Work(places, densities)
    share = SURPLUS * most / max(work.total, 1)
    if share >= 1:
        return inputs if asked is None else replace(inputs, places=tuple(asked))
    count = min(MOST_WINDOWS, max(FEWEST_WINDOWS, most // READS_OF_WINDOW))
    windows = [window for number in range(count) for window in _window(work, contigs, number / count, share / count)]
    log.info("reads are taken from %d windows with %.2g of all reads", count, share)
    return replace(inputs, places=tuple(windows))


def _in_reads(densities: Mapping[str, ReadDensity], index: str) -> dict[str, ReadDensity]:
    scale = 1 / _CRAM_READ if index.endswith(".crai") else 1.0
    return {chrom: replace(density, before=density.before * scale) for chrom, density in densities.items()}


def _window(work: Work, contigs: Mapping[str, int], first: float, share: float) -> Iterator[Interval]:
    """The window that begins behind a share of the work; two where it reaches the next contig."""
    (chrom, start), (last, end) = work.place_of(first), work.place_of(first + share)
    stop = max(end, start + 1) if chrom == last else contigs[chrom]
    if start < contigs[chrom]:
        yield Interval(chrom, start, min(stop, contigs[chrom]))
    if chrom != last and end:
        yield Interval(last, 0, end)
