"""Pieces of a run: parts that give together what the run gives. All coordinates are 0-based half-open.

Where candidates are discovered, borders between pieces are those of `pairhmm.calling.shards`. Any process can find a
piece by its number. Listed candidates are divided as they are read, so that a long list is read once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pairhmm.alignments.selection import JUMP
from pairhmm.calling.run_options import RunOptions
from pairhmm.calling.shards import context
from pairhmm.calling.target_windows import Place
from pairhmm.calling.targets import CONTEXT, with_context
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.variant import MAX_SHIFT, FetchBases, Variant, variant_extent

_BEGINNING: Place = (0, 0)

# Listed candidates of the first pieces, which are small so that every worker begins soon, and of the largest ones.
_FIRST_LISTED, _MOST_LISTED = 32, 256
# Bases of the reads that a piece reads beside its own, about: those around its candidates, and those that lie before
# them in the stretch of 16,384 bases that an index leads to.
_READ_BESIDE = 10_000


class GenomePiece(NamedTuple):
    """A part of a run, from one place up to another.

    Attributes
    ----------
    begin, end : (int, int)
        Rank of the contig, and position.
    listed : tuple of Variant or None
        Its candidates; None where they are discovered.
    wanted : tuple of Interval
        Where listed candidates need reads, those just outside the piece too.
    touches : bool
        Whether it begins where the piece before ends.
    """

    begin: Place
    end: Place
    listed: tuple[Variant, ...] | None = None
    wanted: tuple[Interval, ...] = ()
    touches: bool = False


class _Places:
    """Disjoint intervals, of which parts can be taken."""

    def __init__(self, intervals: Sequence[Interval], rank: Mapping[str, int]) -> None:
        self.intervals, self._rank = sorted(intervals, key=lambda one: (rank[one.chrom], one.start)), rank
        self._ends = [(rank[chrom], end) for chrom, _, end in self.intervals]

    def between(self, begin: Place, end: Place) -> list[Interval]:
        """What lies between two places."""
        found = []
        for chrom, start, stop in islice(self.intervals, bisect_right(self._ends, begin), None):
            number = self._rank[chrom]
            if (number, start) >= end:
                break
            first = max(start, begin[1]) if number == begin[0] else start
            last = min(stop, end[1]) if number == end[0] else stop
            found.append(Interval(chrom, first, last))
        return found


class PiecePlaces:
    """Where the pieces of a run lie.

    Parameters
    ----------
    asked : sequence of Interval or None
        The intervals that are asked for; None for everywhere.
    genome : Reference
    contigs : mapping of str to int
        Lengths, in the order of the run.
    options : RunOptions

    Attributes
    ----------
    all_asked : sequence of Interval or None
    all_places : sequence of Interval
        The same in the order of the run, with every contig in place of None.
    """

    def __init__(
        self, asked: Sequence[Interval] | None, genome: Reference, contigs: Mapping[str, int], options: RunOptions
    ) -> None:
        rank = {name: number for number, name in enumerate(contigs)}
        whole = [Interval(name, 0, length) for name, length in contigs.items()]
        self.all_asked = asked
        self._asked = _Places(whole if asked is None else asked, rank)
        self.all_places = self._asked.intervals
        known = with_context(asked, genome)
        self._known = _Places(whole if known is None else known, rank)
        self._discovery_context = context(options)

    def asked(self, piece: GenomePiece) -> list[Interval]:
        """What is asked for in a piece."""
        return self._asked.between(piece.begin, piece.end)

    def known(self, piece: GenomePiece) -> list[Interval]:
        """Where a piece needs reads."""
        context = self._context(piece)
        return self._known.between((piece.begin[0], piece.begin[1] - context), (piece.end[0], piece.end[1] + context))

    def shared(self, piece: GenomePiece) -> list[Interval]:
        """Where a piece needs reads that the piece before needs, too."""
        if not piece.touches:
            return []
        (contig, position), context = piece.begin, self._context(piece)
        return self._known.between((contig, position - context), (contig, position + context))

    def _context(self, piece: GenomePiece) -> int:
        """The bases on either side of a piece whose reads it needs.

        Listed candidates need more than discovered ones: unlisted variants count in the reads of all candidates near.
        """
        return self._discovery_context if piece.listed is None else CONTEXT


class PiecesByNumber:
    """The pieces of a run whose candidates are discovered, each found without the others.

    Parameters
    ----------
    targets : sequence of (int, int)
        At or behind each, the run is cut: rank of the contig, and position, in order.
    cut_at : callable
        ``cut_at(target)`` gives the first possible cut at or behind a target.
    contigs : int
        How many contigs the run goes over.
    """

    def __init__(self, targets: Sequence[Place], cut_at: Callable[[Place], Place], contigs: int) -> None:
        self._targets, self._cut_at, self._end = targets, cut_at, (contigs, 0)

    def __getitem__(self, number: int) -> GenomePiece | None:
        """The piece that begins at target `number` - 1, or at the beginning. None where nothing begins there."""
        begin = self._cut(number - 1) if number else _BEGINNING
        if begin is None:
            return None
        later = (self._cut(one) for one in range(number, len(self._targets)))
        end = next((cut for cut in later if cut is not None), self._end)
        return GenomePiece(begin, end, touches=number > 0) if begin < end else None

    def _cut(self, number: int) -> Place | None:
        """The cut at a target. None where it lies behind the next target: pieces must not overlap."""
        cut = self._cut_at(self._targets[number])
        following = self._targets[number + 1] if number + 1 < len(self._targets) else self._end
        return cut if cut <= following else None


class _Listed(NamedTuple):
    """A listed candidate and its extent."""

    rank: int
    start: int
    end: int
    variant: Variant


def listed_pieces(
    variants: Iterable[Variant],
    contigs: Mapping[str, int],
    fetch: FetchBases,
    margin: int,
    threads: int,
    reach: int,
) -> Iterator[GenomePiece]:
    """Divide listed candidates into pieces, each of one contig.

    Parameters
    ----------
    variants : iterable of Variant
        In the order of `contigs`, then by position.
    contigs : mapping of str to int
        Lengths.
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases.
    margin : int
        The distance beyond which two candidates cannot influence each other.
    threads : int
        How many pieces are worked on at a time.
    reach : int
        Bases around candidates whose reads are wanted, too.
    """
    rank = {name: number for number, name in enumerate(contigs)}
    queue = _Ahead(_Listed(rank[one.chrom], *variant_extent(one, fetch), one) for one in variants)
    before: list[_Listed] = []
    end: Place = (-1, 0)
    number = 0
    taken = 0
    while own := queue.take_piece(_size(queue, number, taken, threads), margin):
        taken += len(own)
        begin, touches = _begin(end, own[0])
        last = max((one.rank, one.end) for one in own)
        following = queue.first()
        is_followed = following is not None and following.rank == last[0] and following.start - last[1] <= JUMP
        end = (last[0], following.start) if following is not None and is_followed else last
        near = [*before, *own, *queue.until((last[0], last[1] + CONTEXT))]
        wanted = list(_merged(_around(Interval(one.variant.chrom, one.start, one.end), reach, contigs) for one in near))
        if is_followed and wanted[-1].end < contigs[own[0].variant.chrom]:
            # Reading ends behind the last wanted interval. Here it has to go on to the next piece, to count reads.
            name = own[0].variant.chrom
            wanted.append(Interval(name, contigs[name] - 1, contigs[name]))
        yield GenomePiece(begin, end, tuple(one.variant for one in own), tuple(wanted), touches)
        before = [one for one in [*before, *own] if (one.rank, one.end) > (end[0], end[1] - CONTEXT)]
        number += 1


def _size(queue: _Ahead, number: int, taken: int, threads: int) -> int:
    """How many candidates a piece gets at least, behind so many others."""
    usual = min(_MOST_LISTED, _FIRST_LISTED << number // (4 * threads))
    near = queue.next_on_contig(usual)
    if not near or (span := near[-1].start - near[0].start) >= _READ_BESIDE:
        return usual
    # Many candidates are close: a piece with few would read more beside them than for them. Every worker gets some. A
    # piece ends at a gap, so those behind it make up for what it has too many.
    worth_reading = min((len(near) - 1) * _READ_BESIDE // max(span, 1), 4 * _MOST_LISTED)
    every = taken + queue.left(worth_reading * threads)
    return max(usual, min(worth_reading, -(-(number + 1) * every // threads) - taken))


def _begin(before: Place, first: _Listed) -> tuple[Place, bool]:
    """Where the piece of a candidate begins, and whether that is where the one before ends."""
    if before[0] == first.rank and first.start - before[1] <= JUMP:
        return before, True
    return (first.rank, 0 if first.start <= JUMP else first.start - CONTEXT), False


class _Ahead:
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

    def until(self, place: Place) -> list[_Listed]:
        """The next candidates that begin before a place, without taking them."""
        while not self._seen or (self._seen[-1].rank, self._seen[-1].variant.pos - MAX_SHIFT) < place:
            one = next(self._candidates, None)
            if one is None:
                break
            self._seen.append(one)
        return [one for one in self._seen if (one.rank, one.start) < place]

    def take_piece(self, size: int, margin: int) -> list[_Listed]:
        """At least `size` candidates, up to a gap; fewer before a gap that reading jumps over, and at the end."""
        taken: list[_Listed] = []
        reach: Place = (-1, 0)
        while (one := self.first()) is not None:
            is_full = len(taken) >= size or one.rank != reach[0] or one.start - reach[1] > JUMP
            if taken and is_full and not self.until((reach[0], reach[1] + margin + 1)):
                break
            taken.append(self._seen.popleft())
            reach = max(reach, (one.rank, one.end))
        return taken


def wanted_intervals(
    listed: Iterable[tuple[Variant, tuple[int, int]]], contigs: Mapping[str, int], reach: int
) -> Iterator[Interval]:
    """The intervals in which listed candidates need reads: disjoint, in the order of the list.

    They extend `reach` bases beyond the extents of the candidates, which are given, on either side.
    """
    return _merged(_around(Interval(one.chrom, *extent), reach, contigs) for one, extent in listed)


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
