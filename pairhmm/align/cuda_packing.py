"""Chunks of pairs for a CUDA device, and how their letters are packed and sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import SequencePairs, Sequences
from pairhmm.backends.cuda.slot import Slot
from pairhmm.backends.tiles import team
from pairhmm.native import native
from pairhmm.sequences.arrays import gather, offsets

CHUNK_LETTERS = 1 << 27
"""About the most letters of the pairs of a chunk. While the device aligns one, threads pack the next."""

CHUNK_PAIRS = 1 << 18
"""The most pairs of a chunk."""

MOST_LETTERS = 1 << 30
"""The most letters on the device at once: places of letters are 32-bit words."""

ROUND = 64
"""Letters that are packed together. The sequences of each side begin with a round."""

SLACK = 16
"""Bytes behind the last letters, so that no buffer is empty."""

Words = NDArray[np.uint32]
Index = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class PackedSide:
    """The sequences [first, end) of one side, which pairs are of."""

    sequences: Sequences
    index: Index  # [pairs]: the sequence of each pair
    first: int
    end: int
    letter: int  # where their letters begin among the packed ones

    @property
    def codes(self) -> NDArray[np.uint8]:
        return self.sequences.codes[self.sequences.offsets[self.first] : self.sequences.offsets[self.end]]

    @property
    def end_letter(self) -> int:
        """Where the round ends in which their letters end."""
        return self.letter + -(-len(self.codes) // ROUND) * ROUND

    @property
    def given(self) -> tuple[NDArray[np.int64], Index, int]:
        """The arguments of native.PairTasks."""
        return self.sequences.offsets, self.index, int(self.sequences.offsets[self.first]) - self.letter


def sides(pairs: SequencePairs, whole: bool) -> tuple[PackedSide, PackedSide]:
    """Queries and targets: all of them, or from the first that is used to the last.

    Where that is more than `MOST_LETTERS`, those that are used are taken out.
    """

    def side(sequences: Sequences, index: Index, letter: int) -> PackedSide:
        first, end = (0, len(sequences)) if whole else (int(index.min()), int(index.max()) + 1)
        return PackedSide(sequences, index, first, end, letter)

    queries = side(pairs.queries, pairs.query_index, 0)
    targets = side(pairs.targets, pairs.target_index, queries.end_letter)
    if targets.end_letter <= MOST_LETTERS or whole:
        return queries, targets
    return sides(subset_of(pairs, np.arange(len(pairs), dtype=np.int32)), whole=True)


@dataclass(frozen=True, slots=True)
class SentLetters:
    """Letters on the device: their address, and the bits of N by letter (None where there is no N)."""

    address: int
    unknown: Words | None


def send(slot: Slot, packed: Sequence[PackedSide], two_bits: bool) -> SentLetters:
    """Pack the letters of both sides, two bits or four each, and send them."""
    per_word = 16 if two_bits else 8
    letters = packed[-1].end_letter
    size = 4 * letters // per_word
    host, there = slot.pinned("letters", size + SLACK), slot.device("letters", size + SLACK)
    words = host[:size].view(np.uint32)
    # Kept from call to call, since new memory would have to be made page by page.
    unknown = slot.pinned("unknown", letters // 8 + SLACK)[: letters // 8].view(np.uint32)
    has_n = []
    for side in packed:
        if two_bits:
            of_side = unknown[side.letter // 32 : side.end_letter // 32]
            has_n.append(native.pack_two_bits(team(), side.codes, words[side.letter // per_word :], of_side))
        else:
            native.pack_four_bits(team(), side.codes, words[side.letter // per_word :])
        first, end = (4 * place // per_word for place in (side.letter, side.end_letter))
        (there + first).copy_from_host_async(host.ctypes.data + first, end - first, slot.stream)
    if not any(has_n):
        return SentLetters(int(there.ptr), None)
    for side, has in zip(packed, has_n, strict=True):
        if not has:
            unknown[side.letter // 32 : side.end_letter // 32] = 0
    return SentLetters(int(there.ptr), unknown)


def subset_of(pairs: SequencePairs, index: Index) -> SequencePairs:
    """Some of the pairs, of their own sequences alone."""
    packed = []
    for sequences, of in ((pairs.queries, pairs.query_index), (pairs.targets, pairs.target_index)):
        used, again = np.unique(of[index], return_inverse=True)
        begins = offsets(sequences.lengths[used])
        codes = gather(sequences.codes, sequences.offsets[used], begins)
        packed.append((Sequences(codes, begins), again.astype(np.int32)))
    (queries, query_index), (targets, target_index) = packed
    return SequencePairs(queries, targets, query_index, target_index)


def bounds_by_letters(pairs: SequencePairs) -> list[tuple[int, int]]:
    """Chunks of about as many pairs, as (begin, end), for scores alone."""
    sides_of_pairs = ((pairs.queries, len(pairs)), (pairs.targets, len(pairs)))
    letters = sum(len(of.codes) * count / max(1, len(of)) for of, count in sides_of_pairs)
    count = max(1, -(-int(letters) // CHUNK_LETTERS), -(-len(pairs) // CHUNK_PAIRS))
    return _cut([len(pairs) * k // count for k in range(count + 1)])


def bounds_by_cells(pairs: SequencePairs, most_cells: int) -> list[tuple[int, int]]:
    """Chunks of about `most_cells` cells at most, as (begin, end), for alignments."""
    before = np.cumsum(pairs.cells_of_each)
    total = int(before[-1])
    count = max(1, -(-total // most_cells))
    ends = np.searchsorted(before, total * np.arange(1, count) // count, side="right").tolist()
    bounds = _cut([0, *ends, len(pairs)])
    return [(first, min(first + CHUNK_PAIRS, end)) for begin, end in bounds for first in range(begin, end, CHUNK_PAIRS)]


def _cut(borders: Sequence[int]) -> list[tuple[int, int]]:
    return [(begin, end) for begin, end in pairwise(borders) if begin < end]


def should_send_whole(pairs: SequencePairs, chunks: Sequence[tuple[PackedSide, PackedSide]]) -> bool:
    """Whether the chunks' sequences, sent for each, would be more than all of them."""
    letters = len(pairs.queries.codes) + len(pairs.targets.codes)
    of_chunks = sum(len(side.codes) for both in chunks for side in both)
    return len(chunks) > 1 and letters <= MOST_LETTERS and of_chunks > 1.5 * letters
