"""Scores regions as a stream, from a stream of reads and a stream of regions (cpu/calling/region_stream.hpp).

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.cut_reads import CutReads
from pairhmm.calling.mates import JoinedReads, Joiner
from pairhmm.models.gatk import GatkOptions
from pairhmm.native import native
from pairhmm.options import Within, check_fields
from pairhmm.variants.haplotypes import Haplotype

if TYPE_CHECKING:
    from pairhmm._cpu import ReferenceBases, RegionBatch, RegionSource, ScoredRegions

FlatScores = tuple[NDArray[np.float64], NDArray[np.uint8]]
"""Scores and precisions of some regions: region after region, row-major (read, haplotype)."""


class HaplotypeLetters(NamedTuple):
    """The haplotypes of some regions, end to end.

    Attributes
    ----------
    letters : uint8
        Codes.
    offset : int64 (haplotypes + 1,)
        Where the letters of each haplotype begin.
    group : int64 (regions + 1,)
        The first haplotype of each region.
    """

    letters: NDArray[np.uint8]
    offset: NDArray[np.int64]
    group: NDArray[np.int64]


class RegionScorer(Protocol):
    """Scores cut reads against the haplotypes of their regions.

    `ahead` calls of `begin` are worth making before the scores of the first are taken.
    """

    @property
    def ahead(self) -> int: ...

    def begin(self, reads: CutReads, reads_of: Sequence[int], haplotypes: HaplotypeLetters) -> Callable[[], FlatScores]:
        """Begin to score. The function that comes back waits for the scores.

        `reads_of` has the number of reads of each region, or of the profiles that they become. Reads with soft clips
        come a second time, without these.
        """

    @property
    def options(self) -> GatkOptions:
        """How reads are prepared, and which of them fit no haplotype."""


@dataclass(slots=True)
class EvidenceOptions:
    """Limits on haplotypes and reads.

    Attributes
    ----------
    max_haplotypes : int
        The most haplotypes of a region.
    max_depth : int
        The most reads of a sample in a region. Which ones are kept depends only on their names.
    max_cells : int
        Approximate number of cells that are scored in one call.
    """

    max_haplotypes: Annotated[int, Within(2)] = 128
    max_depth: Annotated[int, Within(1)] = 1000
    max_cells: Annotated[int, Within(1, 2**63 - 1)] = 200_000_000

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(slots=True)
class RegionCounts:
    """Counts of a run.

    Attributes
    ----------
    regions, reads, pairs : int
        How many were scored.
    capped_regions, capped_reads : int
        Regions over the depth limit, and the reads left out there.
    highest_quality : int or None
        The highest base quality (Phred) of all reads that were not left out; None without any.
    """

    regions: int = 0
    reads: int = 0
    pairs: int = 0
    capped_regions: int = 0
    capped_reads: int = 0
    highest_quality: int | None = None

    def add(self, other: RegionCounts) -> None:
        """Add the counts of another part of the run."""
        self.regions += other.regions
        self.reads += other.reads
        self.pairs += other.pairs
        self.capped_regions += other.capped_regions
        self.capped_reads += other.capped_reads
        if other.highest_quality is not None:
            self.highest_quality = max(other.highest_quality, self.highest_quality or 0)


@dataclass(slots=True)
class RegionStream:
    """Scores regions as reads arrive.

    `given` has the haplotypes of every region, in place of combinations of candidates. A joiner joins the reads of a
    molecule; the scorer must then score profiles. `circles` has the bases of circular contigs, which reads, source and
    reference have unrolled (`pairhmm.calling.circles`). Haplotypes of a mixture are those that explain what fragments
    carry. Only genotypes need neighbours.
    """

    reference: ReferenceBases
    source: RegionSource
    score: RegionScorer
    options: EvidenceOptions = field(default_factory=EvidenceOptions)
    given: list[Haplotype] | None = None
    joiner: Joiner | None = None
    of_mixture: bool = False
    finds_neighbours: bool = True
    circles: dict[str, int] = field(default_factory=dict)
    _native: native.RegionStream = field(init=False, repr=False)

    def __post_init__(self) -> None:
        molecules = None if self.joiner is None else self.joiner.options
        self._native = native.RegionStream(
            self.reference,
            self.source,
            self.options,
            self.score.options,
            molecules,
            self.given,
            self.of_mixture,
            self.finds_neighbours,
            list(self.circles.items()),
        )

    @property
    def counts(self) -> RegionCounts:
        """What was scored so far."""
        regions, reads, pairs, capped_regions, capped_reads, quality = self._native.counts
        return RegionCounts(regions, reads, pairs, capped_regions, capped_reads, None if quality < 0 else quality)

    def run(self, blocks: Iterable[ReadBlock]) -> Iterator[ScoredRegions]:
        """Batches of scored regions, in order. While devices score some regions, the reads of the next ones are cut.

        Reads come in coordinate order, each block of one contig. How they are divided into blocks changes no result.
        """
        waiting: deque[tuple[RegionBatch, Callable[[], FlatScores]]] = deque()
        for batch in self._batches(blocks):
            waiting.append((batch, self._begin(batch)))
            if len(waiting) > self.score.ahead:
                yield self._scored(*waiting.popleft())
        while waiting:
            yield self._scored(*waiting.popleft())

    def _batches(self, blocks: Iterable[ReadBlock]) -> Iterator[RegionBatch]:
        """Regions that are to be scored in one call."""
        for block in blocks:
            self._native.push(block.chrom, block.aligned)
            yield from iter(self._native.next, None)
        self._native.finish()
        yield from iter(self._native.next, None)

    def _begin(self, batch: RegionBatch) -> Callable[[], FlatScores]:
        own = np.stack([batch.insertion, batch.deletion]) if len(batch.insertion) else None
        cut = CutReads(batch.offset, batch.bases, batch.quals, batch.mapq, indel_quals=own, again=batch.again)
        made = batch.take_joined()
        if self.joiner is not None and made is not None:
            merged = cut.joined = JoinedReads.of(made)
            self.joiner.counts.add(merged.are_mates, merged.copies, merged.apart)
        return self.score.begin(cut, batch.reads_of, HaplotypeLetters(*batch.letters()))

    def _scored(self, batch: RegionBatch, scores: Callable[[], FlatScores]) -> ScoredRegions:
        return self._native.scored(batch, *scores())
