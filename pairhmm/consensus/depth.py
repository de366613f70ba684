"""The depth of samples' reads along each contig."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import ReadSelection
from pairhmm.calling.reference_check import ReferenceCheck
from pairhmm.errors import InputError
from pairhmm.native import native
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval

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
    memory.
    """
    check = ReferenceCheck(reference.path, reference.fetch, reference.contigs, reader.checksums)
    counters = [native.DepthCounter(sample, min_base_quality) for sample in samples]
    chrom, depths = "", list[NDArray[np.uint32]]()
    for block in check.watch(read_blocks(reader.sources, list(reader.contigs), selection, regions=regions)):
        if block.chrom != chrom:
            if chrom:
                yield chrom, depths
            chrom, depths = block.chrom, []
            for counter in counters:
                counter.reset()
                depths.append(np.zeros(reference.contigs[chrom], dtype=np.uint32))
        reads = block.aligned
        for counter, depth in zip(counters, depths, strict=True):
            counter.add(reads, depth)
    if chrom:
        yield chrom, depths


def sample_number(reader: AlignmentReader, sample: str, calls: str) -> int:
    """Which sample of the alignments a sample of calls is: that of its name, or the only one.

    Raises InputError where there is neither.
    """
    if sample in reader.samples:
        return reader.samples.index(sample)
    if len(reader.samples) > 1:
        rule = f"has no sample {sample}, which {calls} has"
        raise InputError(reader.sources[0].path, "", rule, f"it has {', '.join(reader.samples)}")
    return 0
