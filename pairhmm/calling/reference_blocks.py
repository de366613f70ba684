"""Reference blocks of a gVCF: what they need of a run (cpu/calling/reference_walk.hpp). 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.run import Run
from pairhmm.calling.run_options import RunInputs
from pairhmm.calling.targets import in_run_order
from pairhmm.errors import InputError
from pairhmm.native import native
from pairhmm.variants.genotypes import GenotypeOptions

if TYPE_CHECKING:
    from pairhmm._cpu import ReferenceWalk


def require_one_sample(inputs: RunInputs, samples: Sequence[str]) -> None:
    """Refuse a gVCF of several samples."""
    if len(samples) != 1:
        rule, cure = f"reads of {len(samples)} samples", "write one gVCF a sample, and join them (bcftools merge -g)"
        raise InputError("--gvcf", ", ".join(inputs.alignments), rule, cure)


def walk_of(run: Run, genotypes: GenotypeOptions, min_base_quality: int, bands: Sequence[int]) -> ReferenceWalk:
    """The blocks of a run of one sample. It counts bases of `min_base_quality` or more while the run reads them.

    Each further band begins at one of the GQ in `bands`.
    """
    number = {name: number for number, name in enumerate(run.contigs)}
    circles = run.stream.circles
    intervals = [
        (number[chrom], first, last, ploidy)
        for chrom, start, end in in_run_order(run.requested, run.contigs)
        for turn in [circles.get(chrom, 0)]
        for first, last, ploidy in _ploidies(genotypes, run.samples[0], chrom, start - turn, end - turn)
    ]
    contig, start, end, ploidy = np.array(intervals, dtype=np.int64).reshape(-1, 4).T
    places = contig.astype(np.int32), start.copy(), end.copy(), ploidy.astype(np.int32)
    walk = native.ReferenceWalk(
        run.stream.reference, list(run.contigs), *places, min_base_quality, bands, list(circles.items())
    )
    run.blocks = _counted(run.blocks, walk)
    return walk


def _ploidies(
    genotypes: GenotypeOptions, sample: str, chrom: str, start: int, end: int
) -> Iterator[tuple[int, int, int]]:
    """The parts of an interval that have one ploidy (start, end, ploidy), without those of ploidy 0."""
    rules = [rule for rule in genotypes.ploidies.rules if rule.chrom == chrom]
    inner = {edge for rule in rules for edge in (rule.start, rule.end) if start < edge < end}
    for first, last in pairwise([start, *sorted(inner), end]):
        if ploidy := genotypes.ploidies.of(sample, chrom, first, genotypes.ploidy):
            yield first, last, ploidy


def _counted(blocks: Iterator[ReadBlock], walk: ReferenceWalk) -> Iterator[ReadBlock]:
    for block in blocks:
        walk.add(block.chrom, block.native, block.end, block.names.text, block.names.end)
        yield block
