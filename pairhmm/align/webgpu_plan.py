"""How a WebGPU device takes pairs: packed letters, pairs in order, dispatches. No GPU library is needed here."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.batch import SequencePairs, Sequences
from pairhmm.align.scoring import Scoring
from pairhmm.align.webgpu_kernels import (
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
from pairhmm.backends.tiles import team
from pairhmm.backends.webgpu.pair_kernels import strip_dispatches
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.native import native

MOST_LETTERS = (1 << 32) - 1024
"""The most letters of a call. An index of a letter, and of those that are read ahead, has 32 bits."""

AHEAD = 2
"""Words behind the last letter: kernels read a word ahead."""


@dataclass(frozen=True, slots=True)
class PackedLetters:
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


def letters_of(pairs: SequencePairs) -> PackedLetters:
    """Pack the letters from the first sequence that the pairs need to the last one.

    Raises
    ------
    OutOfDeviceMemory
        If fewer pairs are needed.
    """
    ranges = [_needed(pairs.queries, pairs.query_index), _needed(pairs.targets, pairs.target_index)]
    codes = [one.codes[begin:end] for one, (begin, end) in zip((pairs.queries, pairs.targets), ranges, strict=True)]
    # The targets begin at a whole word of `unknown`, so that both are packed one by one.
    targets_at = -(-len(codes[0]) // BITS) * BITS
    letters = targets_at + len(codes[1])
    if letters > MOST_LETTERS:
        raise OutOfDeviceMemory(f"{letters:,} letters are more than a device can count")
    words = np.zeros(-(-letters // PER_WORD) + AHEAD, dtype=np.uint32)
    bits = np.zeros(-(-letters // BITS) + AHEAD, dtype=np.uint32)
    found = [
        native.pack_two_bits(team(), part, words[at // PER_WORD :], bits[at // BITS :])
        for part, at in zip(codes, (0, targets_at), strict=True)
    ]
    return PackedLetters(words, bits if any(found) else None, -ranges[0][0], targets_at - ranges[1][0])


def _needed(sequences: Sequences, index: NDArray[np.int32]) -> tuple[int, int]:
    """The letters from the first sequence of an index to the last one."""
    if not len(index):
        return 0, 0
    return int(sequences.offsets[index.min()]), int(sequences.offsets[int(index.max()) + 1])


@dataclass(frozen=True, slots=True)
class AlignDispatch:
    """Some strips of some pairs.

    Attributes
    ----------
    variant : AlignVariant
    first_pair : int
        Index in `AlignPlan.pairs`.
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
class AlignPlan:
    """Pairs in the order in which a device takes them.

    Attributes
    ----------
    pairs : ndarray of PAIR
    place : ndarray, shape (pairs,), int64, or None
        Index of each in the call. None where that is the order of the call.
    dispatches : list of AlignDispatch
        In the order in which they must run.
    """

    pairs: NDArray[np.void]
    place: NDArray[np.int64] | None
    dispatches: list[AlignDispatch]


def planned(
    pairs: SequencePairs, letters: PackedLetters, scoring: Scoring, most_cells: int, most_words: int
) -> AlignPlan:
    """Order pairs by variant and length, and cut them into dispatches.

    Parameters
    ----------
    pairs : SequencePairs
    letters : PackedLetters
    scoring : Scoring
    most_cells : int
        Of a dispatch, if it can be cut.
    most_words : int
        Of the border, unless one item needs more.
    """
    table = _table(pairs, letters, rows_are_targets=scoring.mode == "semi-global")
    rows, columns = table["rows"].astype(np.int64), table["columns"].astype(np.int64)
    kind = 2 * rows_of_strips(scoring, rows)
    if scoring.form != "edit" and plane_steps(scoring) is None:
        kind += largest_number(scoring, np.minimum(rows, columns)) > MOST[False]
    width = int(max(rows.max(), columns.max())) + 1
    key = (kind * width + columns) * width + rows
    place = None
    if (key[1:] < key[:-1]).any():
        place = np.argsort(key, kind="stable")
        table, kind, rows, columns = table[place], kind[place], rows[place], columns[place]
    bounds = [0, *(np.flatnonzero(np.diff(kind)) + 1).tolist(), len(kind)]
    dispatches: list[AlignDispatch] = []
    for begin, end in pairwise(bounds):
        rows_of_strip, is_wide = divmod(int(kind[begin]), 2)
        variant = variant_of(scoring, rows_of_strip, letters.unknown is not None, bool(is_wide))
        dispatches += [
            AlignDispatch(variant, begin + cut.begin, cut.end - cut.begin, cut.first_row, cut.end_row, cut.border)
            for cut in strip_dispatches(
                rows[begin:end],
                columns[begin:end],
                variant.rows,
                variant.border_words(columns[begin:end]),
                most_cells,
                most_words,
            )
        ]
    return AlignPlan(table, place, dispatches)


def _table(pairs: SequencePairs, letters: PackedLetters, rows_are_targets: bool) -> NDArray[np.void]:
    """The pairs in their order, as kernels read them."""
    sides = [
        (pairs.queries.offsets, pairs.query_index, letters.queries_at),
        (pairs.targets.offsets, pairs.target_index, letters.targets_at),
    ]
    table = np.empty(len(pairs), dtype=PAIR.dtype)
    for name, (offsets, index, at) in zip(("rows", "columns"), sides[::-1] if rows_are_targets else sides, strict=True):
        begin = offsets[index]
        table[name] = offsets[1:][index] - begin
        table[f"{name}_at"] = begin + at
    return table
