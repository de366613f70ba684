"""How a WebGPU device takes pairs: packed letters, pairs in order, dispatches. No GPU library is needed here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.aligning.batch import SequencePairs, Sequences
from pairhmm.aligning.scoring import Scoring
from pairhmm.aligning.webgpu_kernels import (
    BITS,
    MOST,
    PAIR,
    PER_WORD,
    AlignVariant,
    largest_number,
    plane_steps,
    rows_of_strips,
    variant_of,
)
from pairhmm.backends.webgpu.pair_strips import strip_dispatches

PIECE = 1 << 22
"""Letters that a thread packs at once."""

AHEAD = 2
"""Words behind the last letter: kernels read a word ahead."""

UNKNOWN = 4
"""The code of N."""


@dataclass(frozen=True, slots=True)
class Letters:
    """The letters that pairs need, as kernels read them.

    Attributes
    ----------
    words : ndarray of uint32
        Two bits a letter, `PER_WORD` letters a word, the first one lowest; 0 for N.
    unknown : ndarray of uint32, or None
        A bit a letter, set for N. None where there is no N.
    queries_at, targets_at : int
        What is added to an offset in `SequencePairs.queries`, or in its targets, to get the index of a letter.
    """

    words: NDArray[np.uint32]
    unknown: NDArray[np.uint32] | None
    queries_at: int
    targets_at: int


def letters_of(pairs: SequencePairs, threads: int) -> Letters:
    """Pack the letters from the first sequence that the pairs need to the last one, on `threads` threads."""
    ranges = [_needed(pairs.queries, pairs.query_index), _needed(pairs.targets, pairs.target_index)]
    codes = [one.codes[begin:end] for one, (begin, end) in zip((pairs.queries, pairs.targets), ranges, strict=True)]
    # The targets begin at a whole word of `unknown`, so that the parts are packed one by one.
    targets_at = -(-len(codes[0]) // BITS) * BITS
    letters = targets_at + len(codes[1])
    words = np.zeros(-(-letters // PER_WORD) + AHEAD, dtype=np.uint32)
    bits = np.zeros(-(-letters // BITS) + AHEAD, dtype=np.uint32)
    pieces = [
        (part[at : at + PIECE], begin + at)
        for part, begin in zip(codes, (0, targets_at), strict=True)
        for at in range(0, len(part), PIECE)
    ]
    with ThreadPoolExecutor(max(1, threads)) as pool:
        found = [*pool.map(lambda piece: _pack(piece[0], piece[1], words.view(np.uint8), bits.view(np.uint8)), pieces)]
    return Letters(words, bits if any(found) else None, -ranges[0][0], targets_at - ranges[1][0])


def _needed(sequences: Sequences, index: NDArray[np.int32]) -> tuple[int, int]:
    """The letters from the first sequence of an index to the last one."""
    if not len(index):
        return 0, 0
    return int(sequences.offsets[index.min()]), int(sequences.offsets[int(index.max()) + 1])


def _pack(codes: NDArray[np.uint8], at: int, words: NDArray[np.uint8], unknown: NDArray[np.uint8]) -> bool:
    """Pack codes into the bytes of two arrays, from letter `at` on, which begins a byte. Returns whether any is N."""
    whole = len(codes) // 4 * 4
    fours = np.ascontiguousarray(codes[:whole]).view(np.uint32) & np.uint32(0x03030303)
    # The sum of four shifts: bits 24 to 31 have the first letter, the second one and so on.
    fours *= np.uint32(0x01041040)
    fours >>= np.uint32(24)
    words[at // 4 : (at + whole) // 4] = fours
    for number, code in enumerate(codes[whole:].tolist()):
        words[(at + whole) // 4] |= (code & 3) << (2 * number)
    if not len(codes) or codes.max() < UNKNOWN:
        return False
    bits = np.packbits(codes == UNKNOWN, bitorder="little")
    unknown[at // 8 : at // 8 + len(bits)] = bits
    return True


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Some strips of some pairs.

    Attributes
    ----------
    variant : AlignVariant
    first_pair : int
        Index in `Plan.pairs`.
    items : int
        Invocations.
    first_row, end_row : int
    border : int
        Words of the border.
    """

    variant: AlignVariant
    first_pair: int
    items: int
    first_row: int
    end_row: int
    border: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Pairs in the order in which a device takes them.

    Attributes
    ----------
    pairs : ndarray of PAIR
    place : ndarray, shape (pairs,), int64
        Index of each in the call.
    dispatches : list of Dispatch
        In the order in which they must run.
    """

    pairs: NDArray[np.void]
    place: NDArray[np.int64]
    dispatches: list[Dispatch]


def planned(pairs: SequencePairs, letters: Letters, scoring: Scoring, most_cells: int, most_words: int) -> Plan:
    """Order pairs by variant and length, and cut them into dispatches.

    Parameters
    ----------
    pairs : SequencePairs
    letters : Letters
    scoring : Scoring
    most_cells : int
        Of a dispatch, if it can be cut.
    most_words : int
        Of the border, unless one item needs more.
    """
    table = _table(pairs, letters, rows_are_targets=scoring.mode == "semi-global")
    rows, columns = table["rows"].astype(np.int64), table["columns"].astype(np.int64)
    wide = np.zeros(len(pairs), dtype=bool)
    if scoring.form != "edit" and plane_steps(scoring) is None:
        wide = largest_number(scoring, np.minimum(rows, columns)) > MOST[False]
    kind = 2 * rows_of_strips(scoring, rows) + wide
    # One key, whose sort is quick where pairs are in order already.
    width = int(max(rows.max(), columns.max())) + 1
    place = np.argsort((kind * width + columns) * width + rows, kind="stable")
    table, kind, rows, columns = table[place], kind[place], rows[place], columns[place]
    bounds = [0, *(np.flatnonzero(np.diff(kind)) + 1).tolist(), len(kind)]
    dispatches: list[Dispatch] = []
    for begin, end in pairwise(bounds):
        rows_of_strip, is_wide = divmod(int(kind[begin]), 2)
        variant = variant_of(scoring, rows_of_strip, letters.unknown is not None, bool(is_wide))
        dispatches += [
            Dispatch(variant, begin + cut.begin, cut.end - cut.begin, cut.first_row, cut.end_row, cut.border)
            for cut in strip_dispatches(
                rows[begin:end],
                columns[begin:end],
                variant.rows,
                variant.border_words(columns[begin:end]),
                most_cells,
                most_words,
            )
        ]
    return Plan(table, place, dispatches)


def _table(pairs: SequencePairs, letters: Letters, rows_are_targets: bool) -> NDArray[np.void]:
    """The pairs in their order, as kernels read them."""
    sides = [
        (letters.queries_at + pairs.queries.offsets[pairs.query_index], pairs.queries.lengths[pairs.query_index]),
        (letters.targets_at + pairs.targets.offsets[pairs.target_index], pairs.targets.lengths[pairs.target_index]),
    ]
    table = np.empty(len(pairs), dtype=PAIR.dtype)
    rows, columns = sides[::-1] if rows_are_targets else sides
    table["rows_at"], table["rows"] = rows
    table["columns_at"], table["columns"] = columns
    return table
