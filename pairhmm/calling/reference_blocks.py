"""Walks over what is asked for, and gives the blocks of the reference between records.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.run import Run
from pairhmm.errors import InputError
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.genotypes import GenotypeOptions
from pairhmm.variants.gvcf import ConfidenceScanner, ReferenceBlock


class ReferenceWalk:
    """Gives the blocks of a run, or of a piece of one, in order, without the places of records.

    Parameters
    ----------
    scanner : ConfidenceScanner
        Has counted the reads of each place when its blocks are asked for.
    places : sequence of Interval
        What is asked for, disjoint.
    contigs : sequence of str
        In the order of the run.
    ploidies : callable
        ``ploidies(chrom, start, end)`` gives intervals (start, end, ploidy).
    """

    def __init__(
        self,
        scanner: ConfidenceScanner,
        places: Sequence[Interval],
        contigs: Sequence[str],
        ploidies: Callable[[str, int, int], Iterator[tuple[int, int, int]]],
    ) -> None:
        self._scanner, self._ploidies = scanner, ploidies
        self._rank = {name: number for number, name in enumerate(contigs)}
        self._places = sorted(places, key=lambda place: (self._rank[place.chrom], place.start))
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
        while self._next < len(self._places):
            chrom, start, end = self._places[self._next]
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
            if self._next == len(self._places) or self._places[self._next].chrom != chrom:
                self._scanner.forget(chrom)
        self._done = max(self._done, target)
        return found


def walk_of(
    run: Run, places: Sequence[Interval], genotypes: GenotypeOptions, min_base_quality: int, limits: Sequence[int]
) -> ReferenceWalk:
    """The blocks of a run whose reads are not read yet. It counts them while they pass.

    Parameters
    ----------
    run : Run
        Of one sample.
    places : sequence of Interval
        What is asked for.
    genotypes : GenotypeOptions
        Has the ploidy of each place.
    min_base_quality : int
        Bases of a lower quality are not counted.
    limits : sequence of int
        GQ from which on each further band begins.

    Raises
    ------
    InputError
        For several samples.
    """
    if len(run.samples) != 1:
        rule, cure = (
            f"reads of {len(run.samples)} samples",
            "write one gVCF a sample, and join them (bcftools merge -g)",
        )
        raise InputError("--gvcf", ", ".join(run.inputs.alignments), rule, cure)
    scanner = ConfidenceScanner(run.stream.fetch, min_base_quality, limits)
    run.blocks = _counted(run.blocks, scanner)
    sample = run.samples[0]

    def ploidies(chrom: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        rules = [rule for rule in genotypes.ploidies.rules if rule.chrom == chrom]
        inner = {edge for rule in rules for edge in (rule.start, rule.end) if start < edge < end}
        for first, last in pairwise([start, *sorted(inner), end]):
            if ploidy := genotypes.ploidies.of(sample, chrom, first, genotypes.ploidy):
                yield first, last, ploidy

    return ReferenceWalk(scanner, places, list(run.contigs), ploidies)


def _counted(blocks: Iterator[ReadBlock], scanner: ConfidenceScanner) -> Iterator[ReadBlock]:
    for block in blocks:
        scanner.add(block)
        yield block
