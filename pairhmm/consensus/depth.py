"""The depth of samples' reads along each contig."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.selection import ReadSelection
from pairhmm.calling.circles import UnrolledReference, run_blocks
from pairhmm.calling.reference_check import ReferenceCheck
from pairhmm.calling.run_options import RunOptions
from pairhmm.calling.targets import in_run_order
from pairhmm.errors import InputError
from pairhmm.native import native
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval

log = logging.getLogger(__name__)

ContigDepths = tuple[str, list[NDArray[np.uint32]]]
"""A contig, and of each sample how many molecules have a base at each position. Mates that overlap count once."""


def contig_depths(
    reader: AlignmentReader,
    samples: Sequence[int],
    reference: Reference,
    selection: ReadSelection,
    min_base_quality: int,
    regions: Sequence[Interval] | None = None,
) -> Iterator[ContigDepths]:
    """The depths of each contig that has reads, in the order of the alignments; of `reader`'s samples of these numbers.

    `regions`: disjoint. Only reads that overlap one are read, through the index. Where nothing is read, depth takes no
    memory. Reads over the origin of a circular contig of `selection` are whole, which takes an index, too.
    """
    genome = UnrolledReference(reference, selection.circular)
    genome.check_aligned(reader.contigs, [source.path for source in reader.sources])
    if genome.circles:
        regions = genome.second_turns(in_run_order(None, reader.contigs) if regions is None else regions)
    check = ReferenceCheck(genome.path, genome.fetch, genome.lengths, reader.checksums)
    counters = [native.DepthCounter(sample, min_base_quality) for sample in samples]
    chrom, depths = "", list[NDArray[np.uint32]]()
    chunk = RunOptions().chunk_size
    for block in check.watch(run_blocks(genome, reader.sources, list(reader.contigs), selection, chunk, regions)):
        if block.chrom != chrom:
            if chrom:
                yield chrom, [genome.second_turn(depth, chrom) for depth in depths]
            chrom, depths = block.chrom, []
            for counter in counters:
                counter.reset()
                depths.append(np.zeros(genome.contigs[chrom], dtype=np.uint32))
        reads = block.aligned
        for counter, depth in zip(counters, depths, strict=True):
            counter.add(reads, depth)
    if chrom:
        yield chrom, [genome.second_turn(depth, chrom) for depth in depths]


def depth_over(depth: NDArray[np.uint32], start: int, end: int) -> NDArray[np.uint32]:
    """The depth of an interval, which goes over the origin if it passes the end of the contig."""
    if end <= len(depth):
        return depth[start:end]
    return np.concatenate([depth[start:], depth[: end - len(depth)]])


def sample_number(reader: AlignmentReader, sample: str, calls: str) -> int:
    """Which sample of the alignments a sample of calls is: that of its name, or the only one, which is announced.

    Raises InputError where there is neither.
    """
    if sample in reader.samples:
        return reader.samples.index(sample)
    if len(reader.samples) > 1:
        rule = f"has no sample {sample}, which {calls} has"
        raise InputError(reader.sources[0].path, "", rule, f"it has {', '.join(reader.samples)}")
    log.warning(
        "%s: its sample is %s, and that of %s is %s: are the calls made from these reads?",
        reader.sources[0].path,
        reader.samples[0],
        calls,
        sample,
    )
    return 0
