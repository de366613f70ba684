"""Shards of a run, whose results are together those of the run. All coordinates are 0-based half-open.

Where candidates are discovered, borders between shards are those of `pairhmm.calling.shards`. Any thread can find a
shard by its number. Listed candidates are divided as they are read, so that a long list is read once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pairhmm.alignments.selection import JUMP
from pairhmm.calling.circles import UnrolledReference
from pairhmm.calling.run_options import RunOptions
from pairhmm.calling.shards import context
from pairhmm.calling.targets import PADDING, Locus, SortedIntervals, in_run_order, with_padding
from pairhmm.native import native
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.variant import MAX_SHIFT, FetchBases, Variant

_BEGINNING: Locus = (0, 0)

# Listed candidates of the first shards, which are small so that every thread begins soon, and of the largest ones.
_FIRST_LISTED, _MOST_LISTED = 32, 256
# Bases of the reads that a shard reads beside its own, about: those around its candidates, and those that lie before
# them in the stretch of 16,384 bases that an index leads to.
_READ_BESIDE = 10_000


class Shard(NamedTuple):
    """A part of a run, from one locus up to another.

    Listed candidates are in `listed`, and `wanted` is where they need reads, those just outside the shard too. Both are
    empty where candidates are discovered. `touches` says that the shard begins where the one before ends.
    """

    begin: Locus
    end: Locus
    listed: tuple[Variant, ...] | None = None
    wanted: tuple[Interval, ...] = ()
    touches: bool = False


class ShardIntervals:
    """The intervals of the shards of a run. `all_intervals` are the requested ones, or all contigs, in its order."""

    def __init__(
        self,
        requested: Sequence[Interval] | None,
        genome: UnrolledReference,
        contigs: Mapping[str, int],
        options: RunOptions,
    ) -> None:
        rank = {name: number for number, name in enumerate(contigs)}
        self.all_requested = requested
        self._requested = SortedIntervals(in_run_order(requested, contigs), rank)
        self.all_intervals = self._requested.intervals
        padded = with_padding(requested, genome)
        self._padded = SortedIntervals(in_run_order(padded, contigs), rank)
        self._discovery_context = context(options)

    def requested(self, shard: Shard) -> list[Interval]:
        """The requested intervals of a shard."""
        return self._requested.between(shard.begin, shard.end)

    def padded(self, shard: Shard) -> list[Interval]:
        """The intervals whose reads a shard needs."""
        context = self._context(shard)
        return self._padded.between((shard.begin[0], shard.begin[1] - context), (shard.end[0], shard.end[1] + context))

    def shared(self, shard: Shard) -> list[Interval]:
        """The intervals whose reads the shard before needs, too."""
        if not shard.touches:
            return []
        (contig, position), context = shard.begin, self._context(shard)
        return self._padded.between((contig, position - context), (contig, position + context))

    def _context(self, shard: Shard) -> int:
        """The bases on either side of a shard whose reads it needs.

        Listed candidates need more than discovered ones: unlisted variants count in the reads of all candidates near.
        """
        return self._discovery_context if shard.listed is None else PADDING


class NumberedShards:
    """The shards of a run whose candidates are discovered, each found without the others.

    ``cut_at(target)`` gives the first possible cut at or behind a target. Targets come in order.
    """

    def __init__(self, targets: Sequence[Locus], cut_at: Callable[[Locus], Locus], contigs: int) -> None:
        self._targets, self._cut_at, self._end = targets, cut_at, (contigs, 0)

    def __getitem__(self, number: int) -> Shard | None:
        """The shard that begins at target `number` - 1, or at the beginning. None where nothing begins there."""
        begin = self._cut(number - 1) if number else _BEGINNING
        if begin is None:
            return None
        later = (self._cut(one) for one in range(number, len(self._targets)))
        end = next((cut for cut in later if cut is not None), self._end)
        return Shard(begin, end, touches=number > 0) if begin < end else None

    def _cut(self, number: int) -> Locus | None:
        """The cut at a target. None where it lies behind the next target: shards must not overlap."""
        cut = self._cut_at(self._targets[number])
        following = self._targets[number + 1] if number + 1 < len(self._targets) else self._end
        return cut if cut <= following else None


class _Listed(NamedTuple):
    """A listed candidate and its extent."""

    rank: int
    start: int
    end: int
    variant: Variant


def listed_shards(
    variants: Iterable[Variant],
    contigs: Mapping[str, int],
    fetch: FetchBases,
    margin: int,
    threads: int,
    reach: int,
) -> Iterator[Shard]:
    """Divide listed candidates into shards, each of one contig, for so many threads.

    Candidates come in the order of `contigs`, then by position. Those further apart than `margin` cannot influence each
    other. Reads up to `reach` bases from candidates are wanted, too.
    """
    rank = {name: number for number, name in enumerate(contigs)}
    reference = native.ReferenceBases(fetch)
    queue = _Lookahead(
        _Listed(rank[variant.chrom], *native.variant_extent(variant, reference), variant) for variant in variants
    )
    before: list[_Listed] = []
    end: Locus = (-1, 0)
    number = 0
    taken = 0
    while shard := queue.take_shard(_size(queue, number, taken, threads), margin):
        taken += len(shard)
        begin, touches = _begin(end, shard[0])
        last = max((listed.rank, listed.end) for listed in shard)
        following = queue.first()
        is_followed = following is not None and following.rank == last[0] and following.start - last[1] <= JUMP
        end = (last[0], following.start) if following is not None and is_followed else last
        near = [*before, *shard, *queue.until((last[0], last[1] + PADDING))]
        wanted = list(
            _merged(
                _around(Interval(listed.variant.chrom, listed.start, listed.end), reach, contigs) for listed in near
            )
        )
        if is_followed and wanted[-1].end < contigs[shard[0].variant.chrom]:
            # Reading ends behind the last wanted interval. Here it has to go on to the next shard, to count reads.
            name = shard[0].variant.chrom
            wanted.append(Interval(name, contigs[name] - 1, contigs[name]))
        yield Shard(begin, end, tuple(listed.variant for listed in shard), tuple(wanted), touches)
        before = [listed for listed in [*before, *shard] if (listed.rank, listed.end) > (end[0], end[1] - PADDING)]
        number += 1


def _size(queue: _Lookahead, number: int, taken: int, threads: int) -> int:
    """How many candidates a shard gets at least, behind so many others."""
    usual = min(_MOST_LISTED, _FIRST_LISTED << number // (4 * threads))
    near = queue.next_on_contig(usual)
    if not near or (span := near[-1].start - near[0].start) >= _READ_BESIDE:
        return usual
    # Many candidates are close: a shard with few would read more beside them than for them. Every thread gets some. A
    # shard ends at a gap, so those behind it make up for what it has too many.
    worth_reading = min((len(near) - 1) * _READ_BESIDE // max(span, 1), 4 * _MOST_LISTED)
    every = taken + queue.left(worth_reading * threads)
    return max(usual, min(worth_reading, -(-(number + 1) * every // threads) - taken))


def _begin(before: Locus, first: _Listed) -> tuple[Locus, bool]:
    """Where the shard of a candidate begins, and whether that is where the one before ends."""
    if before[0] == first.rank and first.start - before[1] <= JUMP:
        return before, True
    return (first.rank, 0 if first.start <= JUMP else first.start - PADDING), False


class _Lookahead:
    """Candidates, of which some can be seen before they are taken."""

    def __init__(self, candidates: Iterator[_Listed]) -> None:
        self._candidates, self._seen = candidates, deque[_Listed]()

    def first(self) -> _Listed | None:
        """The next candidate; None at the end."""
        if not self._seen and (one := next(self._candidates, None)) is not None:
            self._seen.append(one)
        return self._seen[0] if self._seen else None

    def next_on_contig(self, most: int) -> list[_Listed]:
        """The next candidates on the contig of the first one, without taking them."""
        self.left(most)
        return [one for one in islice(self._seen, most) if one.rank == self._seen[0].rank]

    def left(self, most: int) -> int:
        """How many candidates are left, or `most`."""
        self._seen.extend(islice(self._candidates, max(0, most - len(self._seen))))
        return min(len(self._seen), most)

    def until(self, locus: Locus) -> list[_Listed]:
        """The next candidates that begin before a locus, without taking them."""
        while not self._seen or (self._seen[-1].rank, self._seen[-1].variant.pos - MAX_SHIFT) < locus:
            one = next(self._candidates, None)
            if one is None:
                break
            self._seen.append(one)
        return [one for one in self._seen if (one.rank, one.start) < locus]

    def take_shard(self, size: int, margin: int) -> list[_Listed]:
        """At least `size` candidates, up to a gap; fewer before a gap that reading jumps over, and at the end."""
        taken: list[_Listed] = []
        reach: Locus = (-1, 0)
        while (one := self.first()) is not None:
            is_full = len(taken) >= size or one.rank != reach[0] or one.start - reach[1] > JUMP
            if taken and is_full and not self.until((reach[0], reach[1] + margin + 1)):
                break
            taken.append(self._seen.popleft())
            reach = max(reach, (one.rank, one.end))
        return taken


def wanted_intervals(
    listed: Iterable[Variant], contigs: Mapping[str, int], fetch: FetchBases, reach: int
) -> Iterator[Interval]:
    """The intervals in which listed candidates need reads: disjoint, in the order of the list.

    They extend `reach` bases beyond the extents of the candidates on either side.
    """
    reference = native.ReferenceBases(fetch)
    extents = (Interval(one.chrom, *native.variant_extent(one, reference)) for one in listed)
    return _merged(_around(extent, reach, contigs) for extent in extents)


def _around(interval: Interval, reach: int, contigs: Mapping[str, int]) -> Interval:
    chrom, start, end = interval
    return Interval(chrom, max(0, start - reach), min(contigs[chrom], end + reach))


def _merged(extents: Iterable[Interval]) -> Iterator[Interval]:
    current: Interval | None = None
    for chrom, start, end in extents:
        # An extent begins up to MAX_SHIFT bases before its record. Later extents can begin before earlier ones.
        if current is not None and (chrom != current.chrom or start > current.end + 2 * MAX_SHIFT):
            yield current
            current = None
        if current is None:
            current = Interval(chrom, start, end)
        else:
            current = Interval(chrom, min(current.start, start), max(current.end, end))
    if current is not None:
        yield current
