"""Reads of a region: looked up in alignment files, and the bases that decide between their two likeliest haplotypes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.native_reader import native_blocks
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.sam import CONSUMES_QUERY, SECONDARY, SOFT_CLIP, SUPPLEMENTARY, ReadKey, mate_of
from pairhmm.alignments.selection import LeftOut, ReadRequest, ReadSelection
from pairhmm.alignments.sources import OpenAlignments
from pairhmm.calling.cut_reads import CutReads, cut_bases, cut_slices
from pairhmm.calling.scoring import model_reads
from pairhmm.forward.posterior import Posterior, by_cpu
from pairhmm.likelihoods.reader import RegionLikelihoods
from pairhmm.models.batch import PairBatch
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import ProfileModel, rows_of
from pairhmm.report.panels import ReadEvidence, choose_haplotypes
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.intervals import Interval, merge
from pairhmm.sequences.letters import HIGHEST_QUALITY, decode, encode

_CHUNK = 5_000
_HARD_CLIP = 5
_NO_QUALITY = 0
Watch = Callable[[ReadBlock, NDArray[np.int64], Sequence[ReadKey]], None]
READS_EXPLAINED = 4
"""The most reads of a sample in a region: of those that choose a haplotype, the least certain."""
_SHOWN = 0.1
"""A base is listed if it speaks for a haplotype by more than this (log10), or is inserted or deleted behind with more
than this probability."""
_SAME_SCORE = 0.02
"""How far (log10) a score may be from the table's. Beyond that, the table was made with other options."""


@dataclass(slots=True)
class PlacedRead:
    """A read as `pairhmm.alignments.blocks.ReadBlock.from_alignments` takes it."""

    name: str
    sample: int
    flag: int
    mapq: int
    start: int
    end: int
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    cigar: Sequence[tuple[int, int]]
    indel_quals: NDArray[np.uint8] | None = None  # (2, bases): of insertions and deletions


class RegionReads:
    """The primary alignments of regions, which are read in one pass where they are asked for in order.

    Parameters
    ----------
    reader : AlignmentReader
        With indices.
    regions : iterable of (chrom, start, end)
        All that will be asked for, in any order; 0-based half-open.
    indel_tags : bool
        Whether the reads that are returned whole have the qualities of their tags BI and BD.
    trims_ends : bool
        Whether ends that say nothing of the sample are N of quality 0.
    """

    def __init__(
        self,
        reader: AlignmentReader,
        regions: Iterable[tuple[str, int, int]],
        indel_tags: bool = False,
        trims_ends: bool = False,
    ) -> None:
        self._samples = reader.samples
        lengths = reader.contigs
        rank = {name: number for number, name in enumerate(lengths)}
        known = [
            Interval(chrom, max(0, start), min(end, lengths[chrom])) for chrom, start, end in regions if chrom in rank
        ]
        merged = merge([interval for interval in known if interval.start < interval.end], list(lengths))
        self._sources = [_SourceReads(source, merged, rank, (indel_tags, trims_ends)) for source in reader.sources]

    def of(
        self, chrom: str, start: int, end: int, wanted: Collection[ReadKey], watch: Watch = lambda *unused: None
    ) -> tuple[dict[ReadKey, tuple[int, int]], dict[ReadKey, PlacedRead]]:
        """The reads that overlap a region.

        Parameters
        ----------
        wanted : collection of ReadKey
            Reads that are returned whole.
        watch : callable, optional
            ``watch(block, reads, keys)`` sees all these reads: a block, the indices of reads in it, and their keys.

        Returns
        -------
        places : dict of ReadKey to (int, int)
            SAM flags and mapping quality of each read.
        placed : dict of ReadKey to PlacedRead
            The wanted reads, but for those without base qualities and those whose parts do not fit each other.
        """
        places: dict[ReadKey, tuple[int, int]] = {}
        placed: dict[ReadKey, PlacedRead] = {}
        for source in self._sources:
            for block, reads in source.overlapping(chrom, start, end):
                samples, flags, mapqs = (each[reads].tolist() for each in (block.sample, block.flag, block.mapq))
                keys = [
                    (self._samples[sample], block.names[read], mate_of(flag))
                    for read, sample, flag in zip(reads.tolist(), samples, flags, strict=True)
                ]
                places.update(zip(keys, zip(flags, mapqs, strict=True), strict=True))
                watch(block, reads, keys)
                for read, key in zip(reads.tolist(), keys, strict=True):
                    whole = _found(block, read) if key in wanted else None
                    if whole is not None:
                        placed[key] = whole
        return places, placed


class _SourceReads:
    """The reads of one file around the region that was asked for last."""

    def __init__(
        self, source: OpenAlignments, regions: list[Interval], rank: Mapping[str, int], ways: tuple[bool, bool]
    ) -> None:
        self._source, self._regions, self._rank, self._ways = source, regions, rank, ways
        self._blocks: Iterator[ReadBlock] = iter(())
        self._held: list[ReadBlock] = []
        self._last: tuple[int, int] | None = None

    def overlapping(self, chrom: str, start: int, end: int) -> Iterator[tuple[ReadBlock, NDArray[np.int64]]]:
        """Blocks, and the indices of the reads in them that overlap a region."""
        if chrom not in self._rank:
            return
        contig = self._rank[chrom]
        if self._last is None or (contig, start) < self._last:
            self._begin_at(contig, end)
        self._last = contig, start
        self._held = [
            block for block in self._held if (self._rank[block.chrom], int(block.end.max())) > (contig, start)
        ]
        while not self._held or not self._is_behind(self._held[-1], contig, end):
            block = next(self._blocks, None)
            if block is None:
                break
            self._held.append(block)
        for block in self._held:
            if block.chrom == chrom:
                yield block, np.flatnonzero((block.start < end) & (block.end > start))

    def _begin_at(self, contig: int, end: int) -> None:
        """Read again, from the first region that a region with this end may overlap."""
        ahead = [region for region in self._regions if (self._rank[region.chrom], region.end) >= (contig, end)]
        selection = ReadSelection(SECONDARY | SUPPLEMENTARY, 0, _NO_QUALITY)
        request = ReadRequest(list(self._rank), dict(self._rank), selection, _CHUNK, ahead, "none", *self._ways)
        self._held, self._blocks = [], native_blocks(self._source, 0, request, None, LeftOut())

    def _is_behind(self, block: ReadBlock, contig: int, end: int) -> bool:
        return (self._rank[block.chrom], int(block.start[-1])) >= (contig, end)


def _found(block: ReadBlock, read: int) -> PlacedRead | None:
    first, last = block.base_offset[read : read + 2].tolist()
    quals, bases = block.quals[first:last], block.bases[first:last]
    packed = block.cigar[block.cigar_offset[read] : block.cigar_offset[read + 1]]
    spelled = int(((packed >> 4) * CONSUMES_QUERY[packed & 15]).sum())
    # Reads without base qualities were given this one.
    if spelled != len(bases) or not np.any(quals != _NO_QUALITY):
        return None
    return PlacedRead(
        block.names[read],
        int(block.sample[read]),
        int(block.flag[read]),
        int(block.mapq[read]),
        int(block.start[read]),
        int(block.end[read]),
        bases,
        np.minimum(quals, HIGHEST_QUALITY),
        [(operation & 15, operation >> 4) for operation in packed.tolist()],
        None if block.indel_quals is None else block.indel_quals[:, first:last],
    )


@dataclass(slots=True)
class ReadExplainer:
    """Explains reads of likelihood tables from their alignments, prepared as the table says.

    Attributes
    ----------
    explained, other : int
        Reads so far, and those left out because the table has another score for them.
    """

    explained: int = 0
    other: int = 0

    def __call__(
        self,
        region: RegionLikelihoods,
        placed: Mapping[ReadKey, PlacedRead],
        options: GatkOptions,
        model: ProfileModel | None,
        slack: int,
    ) -> dict[int, ReadEvidence]:
        """The deciding bases of reads, by their index in `region`.

        Parameters
        ----------
        placed : mapping of ReadKey to PlacedRead
            The reads that are explained: some of `least_certain`.
        options : GatkOptions
            How reads were prepared.
        model : ProfileModel or None
            None for GATK's model.
        slack : int
            Bases by which the shortest haplotype is shorter than the reference.
        """
        results, others = self._explained(region, placed, options, model, slack)
        # Where clips fit no haplotype, the table has the scores without them.
        if clipped := {key: read for key, read in others.items() if _unclipped(read) != (0, len(read.bases))}:
            more, unexplained = self._explained(region, clipped, options, model, None)
            results |= more
            others = {key: read for key, read in others.items() if key not in clipped} | unexplained
        self.explained += len(results)
        self.other += len(others)
        return results

    @staticmethod
    def _explained(
        region: RegionLikelihoods,
        placed: Mapping[ReadKey, PlacedRead],
        options: GatkOptions,
        model: ProfileModel | None,
        slack: int | None,
    ) -> tuple[dict[int, ReadEvidence], dict[ReadKey, PlacedRead]]:
        """The deciding bases, and the reads that have other scores. Without `slack`, clips are left out."""
        if not placed:
            return {}, {}
        numbers = {key: read for read, key in enumerate(zip(region.samples, region.names, region.mates, strict=True))}
        reads = [numbers[key] for key in placed]
        block = ReadBlock.from_alignments(region.chrom, list(placed.values()))
        cut = _cut(block, region, slack, list(placed.values()))
        ranked = [np.argsort(-np.nan_to_num(region.log10[read], nan=-np.inf), kind="stable")[:2] for read in reads]
        letters_of_pairs = [encode(region.sequences[index]) for pair in ranked for index in pair.tolist()]
        batch = _batch(cut, letters_of_pairs, options, model)
        posteriors, emissions = by_cpu(batch, 1), rows_of(batch)[:, :5]
        results, others = {}, {}
        for at, (key, read, (best, second)) in enumerate(zip(placed, reads, ranked, strict=True)):
            pair = posteriors[2 * at : 2 * at + 2]
            expected = region.log10[read, [best, second]]
            if not all(abs(each.log10 - score) <= _SAME_SCORE for each, score in zip(pair, expected, strict=True)):
                others[key] = placed[key]
                continue
            part = slice(cut.offset[at], cut.offset[at + 1])
            letters = [batch.haplotypes[slice(*batch.haplotype_offset[2 * at + k : 2 * at + k + 2])] for k in (0, 1)]
            bases = _deciding(pair, letters, emissions[part], decode(cut.bases[part]), cut.quals[part])
            results[read] = int(best), int(second), round(float(pair[0].log10 - pair[1].log10), 2), bases
        return results, others


def least_certain(region: RegionLikelihoods) -> set[ReadKey]:
    """The reads of each sample with the least margin between haplotypes."""
    choice = choose_haplotypes(region.log10)
    by_sample: dict[str, list[int]] = {}
    for read in np.argsort(choice.margin, kind="stable").tolist():
        reads = by_sample.setdefault(region.samples[read], [])
        if choice.decided[read] and np.isfinite(choice.margin[read]) and len(reads) < READS_EXPLAINED:
            reads.append(read)
    chosen = (read for reads in by_sample.values() for read in reads)
    return {(region.samples[read], region.names[read], region.mates[read]) for read in chosen}


def _unclipped(read: PlacedRead) -> tuple[int, int]:
    """The bases of a read between its soft clips: first, and one behind the last."""
    operations = [each for each in read.cigar if each[0] != _HARD_CLIP]
    first, last = (length if operation == SOFT_CLIP else 0 for operation, length in (operations[0], operations[-1]))
    return first, len(read.bases) - last


def _cut(block: ReadBlock, region: RegionLikelihoods, slack: int | None, reads: Sequence[PlacedRead]) -> CutReads:
    """The reads, cut to the region as they are for scoring. One base is left of a read that would be empty."""
    slices = cut_slices(block, np.arange(len(block)), region.start, region.end, slack or 0)
    if slack is None:
        first, last = np.array([_unclipped(read) for read in reads]).T
        slices.first, slices.last = np.maximum(slices.first, first), np.minimum(slices.last, last)
    slices.last = np.maximum(slices.last, slices.first + 1)
    return cut_bases(block, slices)


def _batch(
    cut: CutReads, letters: Sequence[NDArray[np.uint8]], options: GatkOptions, model: ProfileModel | None
) -> PairBatch:
    """Each read with its two haplotypes, as a group of its own."""
    size = len(cut.offset) - 1
    return PairBatch(
        group_read=offsets([1] * size),
        group_haplotype=offsets([2] * size),
        haplotype_offset=offsets(list(map(len, letters))),
        haplotypes=np.concatenate(letters),
        **model_reads(cut, options, model),
    )


def _deciding(
    pair: Sequence[Posterior],
    letters: Sequence[NDArray[np.uint8]],
    emission: NDArray[np.float64],
    bases: str,
    quals: NDArray[np.uint8],
) -> list[list[Any]]:
    """The bases of `ReadEvidence`: those that speak for one of two haplotypes, or lie in or before a gap of one."""
    log10 = np.log10(np.maximum(emission, np.finfo(float).tiny))
    expected = [(posterior.match * log10[:, codes]).sum(axis=1) for posterior, codes in zip(pair, letters, strict=True)]
    evidence = expected[0] - expected[1]
    inserted = [posterior.base_insertion for posterior in pair]
    deleted = [posterior.deletion.sum(axis=1) for posterior in pair]
    gaps = np.max([np.abs(inserted[0] - inserted[1]), np.abs(deleted[0] - deleted[1])], axis=0)
    shown = np.flatnonzero((np.abs(evidence) > _SHOWN) | (gaps > _SHOWN)).tolist()
    figures = np.array([evidence, *inserted, *deleted])
    return [[base, bases[base], int(quals[base]), *figures[:, base].round(2).tolist()] for base in shown]
