"""Counts the reads over each tandem repeat that gained or lost units (stutter). Coordinates are 0-based."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import CONSUMES_REFERENCE, DELETION, INSERTION
from pairhmm.models.str_parameters import LEAST_COPIES
from pairhmm.sequences.letters import encode
from pairhmm.sequences.tandem_repeats import MOST_REPEATS, Tracts, find_tracts_between

FLANK = 5
"""Aligned bases that a read has on both sides of a repeat, at least."""

MOST_CHANGE = 4
"""The most gained or lost units that are counted apart."""

MIN_DEPTH = 8
"""The least number of reads over a repeat: with fewer, a heterozygous repeat looks like one that stutters."""

# Bases in which repeats are found at once, at least, and in which reads begin that are counted together.
_AT_ONCE = 1 << 14

Site = tuple[int, int, int, int, int]
"""Bases of the unit, copies that most reads have, reads, and those with fewer and with more units."""


def count_changes(
    blocks: Iterable[ReadBlock], fetch: Callable[[str, int, int], str], lengths: Mapping[str, int]
) -> Counter[Site]:
    """The number of repeats by their counts of stuttering reads. Memory grows with the depth and the lengths of reads.

    Blocks come contig after contig, by the starts of the reads. `fetch` gives the reference's letters of (contig,
    start, end), `lengths` are those of the contigs.
    """
    sites: Counter[Site] = Counter()
    current: _Contig | None = None
    for block in blocks:
        if current is None or current.chrom != block.chrom:
            if current is not None:
                sites.update(current.sites())
            current = _Contig(block.chrom, fetch, lengths[block.chrom])
        for near in _stretches(block):
            sites.update(current.passed(int(near.start[0])))
            current.add(near)
    if current is not None:
        sites.update(current.sites())
    return sites


def _stretches(block: ReadBlock) -> Iterator[ReadBlock]:
    """The reads of a block in parts that begin near each other: repeats between distant reads are not needed."""
    cuts = np.flatnonzero(np.diff(block.start // _AT_ONCE)) + 1
    for begin, end in pairwise([0, *cuts.tolist(), len(block)]):
        yield block.take(np.arange(begin, end))


class _Contig:
    """The repeats of a contig that later reads may span, and the reads over each by the units that they gained."""

    def __init__(self, chrom: str, fetch: Callable[[str, int, int], str], length: int) -> None:
        self.chrom, self._fetch, self._length = chrom, fetch, length
        self._tracts, self._changes = Tracts.none(), _unchanged(0)
        # Repeats that begin before are known, or not needed any more.
        self._done = 0

    def passed(self, start: int) -> Counter[Site]:
        """The sites of the repeats that reads from a start on don't span. They are forgotten."""
        count = int(np.searchsorted(self._tracts.start, start + FLANK))
        passed = _sites(self._tracts.taken(slice(count)), self._changes[:count])
        self._tracts, self._changes = self._tracts.taken(slice(count, None)), self._changes[count:]
        self._done = max(self._done, start)
        return passed

    def sites(self) -> Counter[Site]:
        """The sites of the repeats that are left."""
        return _sites(self._tracts, self._changes)

    def add(self, block: ReadBlock) -> None:
        """Count the reads of a block."""
        # A gap at the end of a read may lie beside a repeat that begins there.
        self._find(int(block.end.max()) + 2)
        tracts = self._tracts
        first = np.searchsorted(tracts.start, block.start + FLANK)
        last = np.maximum(first, np.searchsorted(tracts.start, block.end - FLANK))
        count = last - first
        read = np.repeat(np.arange(len(block)), count)
        tract = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        tract = tract[tracts.end[tract] + FLANK <= block.end[read]]
        self._changes[:, MOST_CHANGE] += np.bincount(tract, minlength=len(tracts.start)).astype(np.int32)
        self._add_changes(block)

    def _add_changes(self, block: ReadBlock) -> None:
        tracts = self._tracts
        operation, length = block.cigar & 15, (block.cigar >> 4).astype(np.int64)
        read = np.repeat(np.arange(len(block)), np.diff(block.cigar_offset))
        consumed = np.concatenate(([0], np.cumsum(CONSUMES_REFERENCE[operation] * length)))
        before = consumed[:-1] - consumed[block.cigar_offset[read]]
        is_gap = (operation == INSERTION) | (operation == DELETION)
        read, at = read[is_gap], (block.start[read] + before)[is_gap]
        size = np.where(operation[is_gap] == INSERTION, length[is_gap], -length[is_gap])
        # Alignments have a gap at the left end of its repeat, as a rule.
        nearest = np.searchsorted(tracts.start, at + 1, side="right") - 1
        is_free = np.ones(len(at), dtype=bool)
        for tract in (nearest, nearest - 1):
            known = is_free & (tract >= 0)
            repeat = np.maximum(tract, 0)
            if not len(tracts.start):
                return
            inside = (at >= tracts.start[repeat] - 1) & (at <= tracts.end[repeat])
            start, end = tracts.start[repeat], tracts.end[repeat]
            spanned = (block.start[read] + FLANK <= start) & (end + FLANK <= block.end[read])
            mine = known & inside & spanned & (size % tracts.unit[repeat] == 0)
            is_free &= ~mine
            units = np.clip(size[mine] // tracts.unit[repeat[mine]], -MOST_CHANGE, MOST_CHANGE)
            np.add.at(self._changes, (repeat[mine], MOST_CHANGE + units), 1)
            np.add.at(self._changes, (repeat[mine], MOST_CHANGE), -1)

    def _find(self, end: int) -> None:
        """Find the repeats that begin before an end."""
        end = min(max(end, self._done + _AT_ONCE), self._length)
        if end > self._done:
            tracts = find_tracts_between(self._codes, self._length, self._done, end, LEAST_COPIES)
            self._tracts = Tracts.joined([self._tracts, tracts])
            self._changes = np.concatenate((self._changes, _unchanged(len(tracts.start))))
            self._done = end

    def _codes(self, start: int, end: int) -> NDArray[np.uint8]:
        return encode(self._fetch(self.chrom, start, end))


def _unchanged(count: int) -> NDArray[np.int32]:
    return np.zeros((count, 2 * MOST_CHANGE + 1), dtype=np.int32)


def _sites(tracts: Tracts, changes: NDArray[np.int32]) -> Counter[Site]:
    """The repeats with enough reads, by what they show."""
    changes = np.maximum(changes, 0)
    depth = changes.sum(axis=1)
    deep = np.flatnonzero(depth >= MIN_DEPTH)
    changes, depth = changes[deep], depth[deep]
    most = changes.argmax(axis=1)
    place = np.arange(2 * MOST_CHANGE + 1)
    fewer = (changes * (place < most[:, None])).sum(axis=1)
    more = (changes * (place > most[:, None])).sum(axis=1)
    copies = np.clip(tracts.copies[deep] + most - MOST_CHANGE, 1, MOST_REPEATS)
    columns = (tracts.unit[deep], copies, depth, fewer, more)
    return Counter(zip(*(column.tolist() for column in columns), strict=True))
