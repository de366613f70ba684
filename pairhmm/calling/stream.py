"""Scores regions as a stream, from a stream of reads and a stream of regions.

Reads and candidates arrive in coordinate order. The *frontier* is the position where the newest read starts. No later
read starts before it. A region is scored once the frontier has passed it. Reads are dropped once no region needs them.
Memory therefore grows with the depth of the data, not with the size of the file.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import carried_alleles
from pairhmm.calling.mates import CutSlices, JoinedReads, Joiner, ScoredReads, joined_reads, single_reads
from pairhmm.calling.scored_region import Evidence
from pairhmm.objects import short_repr
from pairhmm.options import Within, check_fields
from pairhmm.sequences.arrays import gather, offsets
from pairhmm.sequences.letters import encode_each
from pairhmm.variants.haplotypes import Haplotype, build_haplotypes
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import MAX_SHIFT, FetchBases

if TYPE_CHECKING:
    from pairhmm._cpu import RegionSource

# The fewest bases of a read after it was cut to a region. GATK drops shorter ones, too (AssemblyBasedCallerUtils,
# READ_LENGTH_FILTER_THRESHOLD).
MIN_CUT_LENGTH = 10


@dataclass(slots=True)
class CutReads:
    """Reads that are cut to their regions, region after region, as flat arrays.

    Attributes
    ----------
    offset : int64 (reads + 1,)
        Where each read's bases begin.
    bases, quals : uint8
        Codes of `READ_LETTERS`, and Phred qualities.
    mapq : uint8 (reads,)
    joined : JoinedReads or None
        The profiles that the reads become; None where each read is scored by itself.
    indel_quals : uint8 (2, bases) or None
        Indel qualities, as in `ReadBlock`.
    """

    offset: NDArray[np.int64]
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    mapq: NDArray[np.uint8]
    joined: JoinedReads | None = None
    indel_quals: NDArray[np.uint8] | None = None

    __repr__ = short_repr


FlatScores = tuple[NDArray[np.float64], NDArray[np.uint8]]
"""Scores and precisions of some regions: region after region, row-major (read, haplotype)."""


class RegionScorer(Protocol):
    """Scores cut reads against the haplotypes of their regions.

    `ahead` calls of `begin` are worth making before the scores of the first are taken.
    """

    @property
    def ahead(self) -> int: ...

    def begin(
        self, reads: CutReads, reads_of: Sequence[int], haplotypes: Sequence[Sequence[NDArray[np.uint8]]]
    ) -> Callable[[], FlatScores]:
        """Begin to score. The function that comes back waits for the scores.

        `reads_of` has the number of reads of each region, or of the profiles that they become.
        """

    def set_aside(
        self, scores: NDArray[np.float64], lengths: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """bool[reads]: whether each read fits no haplotype, by its scores, length, and ends of its molecule."""


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
            self.meet_quality(other.highest_quality)

    def meet_quality(self, quality: int) -> None:
        """Take notice of a base quality."""
        self.highest_quality = max(quality, self.highest_quality or 0)


@dataclass(slots=True)
class _Task:
    """A region that is ready to be scored: indices of its reads among the buffered ones, and its haplotypes.

    `slack` is how many bases the shortest haplotype is shorter than the reference.
    """

    region: Region
    haplotypes: list[Haplotype]
    reads: NDArray[np.int64]
    slack: int


@dataclass(slots=True)
class _Scoring:
    """Regions whose scoring has begun.

    `reads` are their reads, or the profiles that these became: int64 `edges` has the first of each region, and the end.
    `from_end` has the matrices of `Evidence.from_end`, one after the other.
    """

    tasks: list[_Task]
    reads: ScoredReads
    edges: NDArray[np.int64]
    from_end: NDArray[np.int32]
    cut: int
    scores: Callable[[], FlatScores]


@dataclass(slots=True)
class RegionStream:
    """Scores regions as reads arrive.

    `given` has the haplotypes of every region, in place of combinations of candidates. A joiner joins the reads of a
    molecule; the scorer must then score profiles.
    """

    fetch: FetchBases
    source: RegionSource
    score: RegionScorer
    options: EvidenceOptions = field(default_factory=EvidenceOptions)
    given: list[Haplotype] | None = None
    joiner: Joiner | None = None
    counts: RegionCounts = field(default_factory=RegionCounts)

    def run(self, blocks: Iterable[ReadBlock]) -> Iterator[Evidence]:
        """The scored regions, in order. While devices score some regions, the reads of the next ones are cut.

        Reads come in coordinate order, each block of one contig. How they are divided into blocks changes no result.
        """
        waiting: deque[_Scoring] = deque()
        for buffered, tasks in self._collected(blocks):
            waiting.append(self._begin(buffered, tasks))
            if len(waiting) > self.score.ahead:
                yield from self._scored(waiting.popleft())
        for scoring in waiting:
            yield from self._scored(scoring)

    def _collected(self, blocks: Iterable[ReadBlock]) -> Iterator[tuple[ReadBlock, list[_Task]]]:
        """Regions that are to be scored in one call, and the reads that are buffered then."""
        buffered = ReadBlock.empty()
        pending: deque[Region] = deque()
        for block in blocks:
            if len(block.quals):
                self.counts.meet_quality(int(block.quals.max()))
            if block.chrom != buffered.chrom:
                if buffered.chrom:
                    pending.extend(self.source.finish(buffered.chrom))
                yield from self._tasks(buffered, pending)
                pending.clear()
                buffered = ReadBlock.empty(block.chrom)
            needed = self.source.needed(block.chrom, block.native)
            buffered = ReadBlock.concatenate([buffered, block if needed is None else block.over(needed)])
            frontier = int(block.start[-1])
            pending.extend(self.source.advance(block.chrom, block.native, frontier))
            ready = []
            while pending and (pending[0].core_end <= frontier or pending[0].chrom != block.chrom):
                ready.append(pending.popleft())
            yield from self._tasks(buffered, ready)
            buffered = _forget(buffered, pending, self.source.open_start, frontier)
        if buffered.chrom:
            pending.extend(self.source.finish(buffered.chrom))
        pending.extend(self.source.finish_all())
        yield from self._tasks(buffered, pending)

    def _tasks(self, buffered: ReadBlock, regions: Iterable[Region]) -> Iterator[tuple[ReadBlock, list[_Task]]]:
        reach = int((buffered.end - buffered.start).max()) if len(buffered) else 0
        tasks: list[_Task] = []
        cells = 0
        for region in regions:
            task = self._task(buffered, region, reach)
            tasks.append(task)
            letters = sum([len(haplotype.sequence) for haplotype in task.haplotypes])
            cells += len(task.reads) * (region.end - region.start) * letters
            if cells > self.options.max_cells:
                yield buffered, tasks
                tasks, cells = [], 0
        if tasks:
            yield buffered, tasks

    def _task(self, buffered: ReadBlock, region: Region, reach: int) -> _Task:
        reads = self._select(buffered, region, reach)
        reference = self.fetch(region.chrom, region.haplotype_start, region.haplotype_end)
        if self.given is not None:
            haplotypes = self.given
        else:
            haplotypes = build_haplotypes(
                region,
                reference,
                self.options.max_haplotypes,
                lambda part: carried_alleles(buffered, reads, part, reference),
            )
        shortest = min([len(haplotype.sequence) for haplotype in haplotypes])
        slack = 0 if self.given is not None else max(0, len(reference) - shortest)
        return _Task(region, haplotypes, reads, slack)

    def _select(self, buffered: ReadBlock, region: Region, reach: int) -> NDArray[np.int64]:
        """The reads that overlap a region's core, at most `max_depth` of each sample."""
        if buffered.chrom != region.chrom:
            return np.empty(0, dtype=np.int64)
        first, last = buffered.start.searchsorted((region.core_start - reach, region.core_end)).tolist()
        reads: NDArray[np.int64] = (buffered.end[first:last] > region.core_start).nonzero()[0] + first
        limit = self.options.max_depth
        if len(reads) <= limit:
            return reads
        samples = buffered.sample[reads]
        # Mates share a name, so they are kept or dropped together. The order of the hashes is independent of alleles.
        ticket = buffered.names.checksums(reads)
        order = np.lexsort((np.arange(len(reads)), ticket, samples))
        rank = np.arange(len(reads)) - np.searchsorted(samples[order], samples[order])
        kept = np.sort(reads[order[rank < limit]])
        if len(kept) < len(reads):
            self.counts.capped_regions += 1
            self.counts.capped_reads += len(reads) - len(kept)
        return kept

    def _begin(self, buffered: ReadBlock, tasks: list[_Task]) -> _Scoring:
        cut, slices, counts = _cut(buffered, tasks)
        edges = offsets(counts)
        if self.joiner is not None:
            merged = cut.joined = self.joiner.join(buffered, slices, counts)
            self.joiner.counts.add(merged.are_mates, merged.copies, merged.apart)
            # Profiles come in the order of their first reads, so those of a region follow each other.
            edges = np.searchsorted(merged.member[merged.member_offset[:-1]], edges)
        letters = iter(encode_each([haplotype.sequence for task in tasks for haplotype in task.haplotypes]))
        haplotypes = [list(islice(letters, len(task.haplotypes))) for task in tasks]
        scores = self.score.begin(cut, np.diff(edges).tolist(), haplotypes)
        joined = cut.joined
        reads = single_reads(buffered, slices.read) if joined is None else joined_reads(buffered, slices.read, joined)
        return _Scoring(tasks, reads, edges, _from_end(buffered, tasks, reads.first, edges), sum(counts), scores)

    def _scored(self, scoring: _Scoring) -> Iterator[Evidence]:
        scores, precision = scoring.scores()
        tasks, reads, edges = scoring.tasks, scoring.reads, scoring.edges
        best = best_of_each(scores, np.repeat([len(task.haplotypes) for task in tasks], np.diff(edges)))
        set_aside = self.score.set_aside(best[:, None], reads.length, reads.ends)
        done = placed = 0
        for task, first, last in zip(tasks, edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            shape = last - first, len(task.haplotypes)
            pairs, candidates = shape[0] * shape[1], len(task.region.variants)
            places = shape[0] * candidates
            yield Evidence(
                region=task.region,
                haplotypes=task.haplotypes,
                names=reads.names.take(first, last),
                sample=reads.sample[first:last],
                flag=reads.flag[first:last],
                mapq=reads.mapq[first:last],
                start=reads.start[first:last],
                end=reads.end[first:last],
                length=reads.length[first:last],
                from_end=scoring.from_end[placed : placed + places].reshape(shape[0], candidates),
                log10=scores[done : done + pairs].reshape(shape),
                precision=precision[done : done + pairs].reshape(shape),
                set_aside=set_aside[first:last],
                reads=None if reads.reads is None else reads.reads[first:last],
                fragment=None if reads.fragment is None else reads.fragment[first:last],
            )
            done += pairs
            placed += places
        self.counts.regions += len(scoring.tasks)
        self.counts.reads += scoring.cut
        self.counts.pairs += done


def _from_end(
    buffered: ReadBlock, tasks: Sequence[_Task], reads: NDArray[np.int64], edges: NDArray[np.int64]
) -> NDArray[np.int32]:
    """`Evidence.from_end` of some regions, one after the other."""
    candidates = [len(task.region.variants) for task in tasks]
    positions = np.array([variant.pos for task in tasks for variant in task.region.variants], dtype=np.int64)
    from_end = np.empty(int(np.diff(edges) @ np.array(candidates, dtype=np.int64)), dtype=np.int32)
    buffered.native.bases_from_end(reads, edges, positions, offsets(candidates), from_end)
    return from_end


def _cut(buffered: ReadBlock, tasks: list[_Task]) -> tuple[CutReads, CutSlices, list[int]]:
    """Cut the reads of some regions, and drop reads that become too short. The numbers are the reads of each region."""
    counts = [len(task.reads) for task in tasks]
    windows = np.array([(task.region.start, task.region.end, task.slack) for task in tasks], dtype=np.int64).T
    whole = cut_slices(buffered, np.concatenate([task.reads for task in tasks]), *np.repeat(windows, counts, axis=1))
    long_enough = whole.last - whole.first >= MIN_CUT_LENGTH
    kept = np.diff(offsets(long_enough.astype(np.int64))[offsets(counts)])
    slices = CutSlices(whole.read[long_enough], whole.first[long_enough], whole.last[long_enough])
    return cut_bases(buffered, slices), slices, kept.tolist()


def cut_slices(
    buffered: ReadBlock,
    reads: NDArray[np.int64],
    start: int | NDArray[np.int64],
    end: int | NDArray[np.int64],
    slack: int | NDArray[np.int64],
) -> CutSlices:
    """Slices of reads (indices) that are cut to a window [start, end) of the reference: one for all, or one for each.

    Some are empty. A haplotype is shorter than the reference by `slack` bases: that many fewer bases of a soft clip are
    kept.
    """
    starts, ends, slacks = (np.full(len(reads), value, dtype=np.int64) for value in (start, end, slack))
    first, last = np.empty(len(reads), dtype=np.int64), np.empty(len(reads), dtype=np.int64)
    buffered.native.cut(reads, starts, ends, slacks, first, last)
    return CutSlices(reads, first, last)


def cut_bases(buffered: ReadBlock, cut: CutSlices) -> CutReads:
    """The bases and qualities of cut reads."""
    starts, offset = buffered.base_offset[cut.read] + cut.first, offsets(cut.last - cut.first)
    return CutReads(
        offset,
        gather(buffered.bases, starts, offset),
        gather(buffered.quals, starts, offset),
        buffered.mapq[cut.read],
        indel_quals=buffered.indel_slices(starts, offset),
    )


def best_of_each(scores: NDArray[np.float64], widths: NDArray[np.int64]) -> NDArray[np.float64]:
    """The best score (float64) of each read, whose scores stand one after the other: `widths` says how many."""
    return np.maximum.reduceat(scores, offsets(widths)[:-1]) if len(widths) else np.empty(0)


def _forget(buffered: ReadBlock, pending: Iterable[Region], open_start: int | None, frontier: int) -> ReadBlock:
    """Drop the reads that overlap no pending region, no open region and no later one."""
    needed = min(
        [region.core_start for region in pending]
        + [frontier - 2 * MAX_SHIFT]
        + ([open_start] if open_start is not None else [])
    )
    keep = np.flatnonzero(buffered.end > needed)
    return buffered if len(keep) == len(buffered) else buffered.take(keep)
