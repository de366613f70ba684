"""Looks up a region's reads in alignment files: strand, mapping quality, bases where it is shown, or all of a few."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.native_reader import native_blocks
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.sam import CONSUMES_QUERY, SECONDARY, SUPPLEMENTARY, ReadKey, mate_of
from pairhmm.alignments.selection import LeftOut, ReadRequest, ReadSelection
from pairhmm.alignments.sources import OpenAlignments
from pairhmm.sequences.intervals import Interval, merge
from pairhmm.sequences.letters import HIGHEST_QUALITY

_CHUNK = 5_000
_NO_QUALITY = 0

Watch = Callable[[ReadBlock, NDArray[np.int64], Sequence[ReadKey]], None]


@dataclass(slots=True)
class FoundRead:
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


class ReadPlaces:
    """The primary alignments of regions, which are read in one pass where they are asked for in order.

    Parameters
    ----------
    reader : AlignmentReader
        With indices.
    regions : iterable of (chrom, start, end)
        All that will be asked for, in any order; 0-based half-open.
    indel_tags : bool
        Whether the reads that are returned whole have the qualities of their tags BI and BD.
    """

    def __init__(
        self, reader: AlignmentReader, regions: Iterable[tuple[str, int, int]], indel_tags: bool = False
    ) -> None:
        self._samples = reader.samples
        lengths = reader.contigs
        rank = {name: number for number, name in enumerate(lengths)}
        known = [
            Interval(chrom, max(0, start), min(end, lengths[chrom])) for chrom, start, end in regions if chrom in rank
        ]
        merged = merge([one for one in known if one.start < one.end], list(lengths))
        self._sources = [_SourceReads(source, merged, rank, indel_tags) for source in reader.sources]

    def of(
        self, chrom: str, start: int, end: int, wanted: Collection[ReadKey], watch: Watch = lambda *unused: None
    ) -> tuple[dict[ReadKey, tuple[int, int]], dict[ReadKey, FoundRead]]:
        """The reads that overlap a region.

        Parameters
        ----------
        chrom : str
        start, end : int
        wanted : collection of ReadKey
            Reads that are returned whole.
        watch : callable, optional
            ``watch(block, reads, keys)`` sees all these reads: a block, the indices of reads in it, and their keys.

        Returns
        -------
        places : dict of ReadKey to (int, int)
            SAM flags and mapping quality of each read.
        found : dict of ReadKey to FoundRead
            The wanted reads, but for those without base qualities and those whose parts do not fit each other.

        Raises
        ------
        InputError
            For files that can't be read.
        """
        places: dict[ReadKey, tuple[int, int]] = {}
        found: dict[ReadKey, FoundRead] = {}
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
                        found[key] = whole
        return places, found


class _SourceReads:
    """The reads of one file around the region that was asked for last."""

    def __init__(
        self, source: OpenAlignments, regions: list[Interval], rank: Mapping[str, int], indel_tags: bool
    ) -> None:
        self._source, self._regions, self._rank, self._indel_tags = source, regions, rank, indel_tags
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
        self._held = [one for one in self._held if (self._rank[one.chrom], int(one.end.max())) > (contig, start)]
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
        ahead = [one for one in self._regions if (self._rank[one.chrom], one.end) >= (contig, end)]
        selection = ReadSelection(SECONDARY | SUPPLEMENTARY, 0, _NO_QUALITY)
        request = ReadRequest(list(self._rank), dict(self._rank), selection, _CHUNK, ahead, "none", self._indel_tags)
        self._held, self._blocks = [], native_blocks(self._source, 0, request, None, LeftOut())

    def _is_behind(self, block: ReadBlock, contig: int, end: int) -> bool:
        return (self._rank[block.chrom], int(block.start[-1])) >= (contig, end)


def _found(block: ReadBlock, read: int) -> FoundRead | None:
    first, last = block.base_offset[read : read + 2].tolist()
    quals, bases = block.quals[first:last], block.bases[first:last]
    packed = block.cigar[block.cigar_offset[read] : block.cigar_offset[read + 1]]
    spelled = int(((packed >> 4) * CONSUMES_QUERY[packed & 15]).sum())
    # Reads without base qualities were given this one.
    if spelled != len(bases) or not np.any(quals != _NO_QUALITY):
        return None
    return FoundRead(
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
