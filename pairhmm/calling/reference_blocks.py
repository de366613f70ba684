"""Reference blocks of a gVCF: walks over the requested intervals, between the variant records.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.run import Run
from pairhmm.calling.run_options import RunInputs
from pairhmm.calling.targets import in_run_order
from pairhmm.errors import InputError
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.genotypes import GenotypeOptions
from pairhmm.variants.gvcf import ConfidenceScanner, ReferenceBlock


class ReferenceWalk:
    """Gives the reference blocks of a run, or of a shard of one, in order. No block overlaps a record.

    The scanner has counted the reads of an interval when its blocks are taken. The intervals are disjoint, in the order
    of the run. ``ploidies(chrom, start, end)`` gives parts of one (start, end, ploidy).
    """

    def __init__(
        self,
        scanner: ConfidenceScanner,
        intervals: Sequence[Interval],
        contigs: Sequence[str],
        ploidies: Callable[[str, int, int], Iterator[tuple[int, int, int]]],
    ) -> None:
        self._scanner, self._ploidies = scanner, ploidies
        self._rank = {name: number for number, name in enumerate(contigs)}
        self._intervals = intervals
        self._next = 0
        self._done = (0, 0)

    def until(self, chrom: str, position: int) -> list[ReferenceBlock]:
        """The blocks before a position that were not given yet."""
        return self._until((self._rank[chrom], position))

    def rest(self) -> list[ReferenceBlock]:
        """All blocks that were not given yet."""
        return self._until((len(self._rank), 0))

    def pass_over(self, chrom: str, position: int) -> None:
        """Give no block before a position any more: a record stands there."""
        self._done = max(self._done, (self._rank[chrom], position))

    def _until(self, target: tuple[int, int]) -> list[ReferenceBlock]:
        found = []
        while self._next < len(self._intervals):
            chrom, start, end = self._intervals[self._next]
            rank = self._rank[chrom]
            if self._done[0] == rank:
                start = max(start, self._done[1])
            stop = end if rank < target[0] else min(end, target[1]) if rank == target[0] else start
            if start < stop:
                for first, last, ploidy in self._ploidies(chrom, start, stop):
                    found += self._scanner.take(chrom, first, last, ploidy)
            if (rank, end) > target:
                break
            self._next += 1
            if self._next == len(self._intervals) or self._intervals[self._next].chrom != chrom:
                self._scanner.forget(chrom)
        self._done = max(self._done, target)
        return found


def require_one_sample(inputs: RunInputs, samples: Sequence[str]) -> None:
    """Refuse a gVCF of several samples."""
    if len(samples) != 1:
        rule, cure = f"reads of {len(samples)} samples", "write one gVCF a sample, and join them (bcftools merge -g)"
        raise InputError("--gvcf", ", ".join(inputs.alignments), rule, cure)


def walk_of(run: Run, genotypes: GenotypeOptions, min_base_quality: int, bands: Sequence[int]) -> ReferenceWalk:
    """The blocks of a run of one sample. It counts bases of `min_base_quality` or more while the run reads them.

    Each further band begins at one of the GQ in `bands`.
    """
    scanner = ConfidenceScanner(run.stream.fetch, min_base_quality, bands)
    run.blocks = _counted(run.blocks, scanner)
    sample = run.samples[0]

    def ploidies(chrom: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        rules = [rule for rule in genotypes.ploidies.rules if rule.chrom == chrom]
        inner = {edge for rule in rules for edge in (rule.start, rule.end) if start < edge < end}
        for first, last in pairwise([start, *sorted(inner), end]):
            if ploidy := genotypes.ploidies.of(sample, chrom, first, genotypes.ploidy):
                yield first, last, ploidy

    return ReferenceWalk(scanner, in_run_order(run.requested, run.contigs), list(run.contigs), ploidies)


def _counted(blocks: Iterator[ReadBlock], scanner: ConfidenceScanner) -> Iterator[ReadBlock]:
    for block in blocks:
        scanner.add(block)
        yield block
