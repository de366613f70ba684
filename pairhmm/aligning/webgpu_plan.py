"""How a WebGPU device takes pairs: as packed letters, in order of their lengths, in dispatches. No GPU library is needed
here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.aligning.batch import SequencePairs, Sequences
from pairhmm.aligning.webgpu_kernels import BITS, PAIR, PER_WORD, AlignVariant

TALLEST = {"edit": 512, "linear": 32, "affine": 32}
"""Rows of the tallest strip, by the form of the scoring. Taller ones need more registers than a lane has."""

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
    codes = [
        one.codes[begin:end] for one, (begin, end) in zip((pairs.queries, pairs.targets), ranges, strict=True)
    ]
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
        found = [*pool.map(lambda piece: _pack(*piece, words.view(np.uint8), bits.view(np.uint8)), pieces)]
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
        With empty ones, which make the pairs of a variant even in number.
    place : ndarray, shape (pairs,), int64
        Where each pair of the call is in `pairs`.
    dispatches : list of Dispatch
        In the order in which they must run.
    """

    pairs: NDArray[np.void]
    place: NDArray[np.int64]
    dispatches: list[Dispatch]


def planned(
    pairs: SequencePairs,
    letters: Letters,
    rows_are_targets: bool,
    variant_of: Callable[[int], AlignVariant],
    most_cells: int,
    most_words: int,
) -> Plan:
    """Order pairs by variant and length, and cut them into dispatches.

    Parameters
    ----------
    pairs : SequencePairs
    letters : Letters
    rows_are_targets : bool
    variant_of : callable
        The variant for the rows of a strip.
    most_cells : int
        Of a dispatch, if it can be cut.
    most_words : int
        Of the border, unless one item needs more.
    """
    queries = pairs.queries.offsets[pairs.query_index], pairs.queries.lengths[pairs.query_index], letters.queries_at
    targets = (
        pairs.targets.offsets[pairs.target_index],
        pairs.targets.lengths[pairs.target_index],
        letters.targets_at,
    )
    (rows_at, rows, rows_base), (columns_at, columns, columns_base) = (
        (targets, queries) if rows_are_targets else (queries, targets)
    )
    table = np.zeros(len(pairs), dtype=PAIR.dtype)
    for name, values in (
        ("rows_at", rows_at + rows_base),
        ("rows", rows),
        ("columns_at", columns_at + columns_base),
        ("columns", columns),
    ):
        table[name] = values
    form = variant_of(0).form
    strip = strip_rows(form, rows)
    order = np.lexsort((rows, columns, strip))
    bounds = [0, *(np.flatnonzero(np.diff(strip[order])) + 1).tolist(), len(order)]
    place = np.empty(len(pairs), dtype=np.int64)
    groups: list[NDArray[np.void]] = []
    dispatches: list[Dispatch] = []
    taken = 0
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        if begin == end:
            continue
        of_group = order[begin:end]
        variant = variant_of(int(strip[of_group[0]]))
        empty = -len(of_group) % variant.pairs
        group = np.concatenate([np.zeros(empty, dtype=PAIR.dtype), table[of_group]])
        place[of_group] = taken + empty + np.arange(len(of_group))
        dispatches += _dispatches(group, taken, variant, most_cells, most_words)
        groups.append(group)
        taken += len(group)
    return Plan(np.concatenate(groups) if groups else table, place, dispatches)


def strip_rows(form: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of the strips that take `rows` rows with the fewest strips and, of these, the fewest rows too many."""
    unit = BITS if form == "edit" else PER_WORD
    strips = np.maximum(1, -(-rows // TALLEST[form]))
    return np.maximum(1, -(-rows // (unit * strips))) * unit


def _dispatches(
    group: NDArray[np.void], first_pair: int, variant: AlignVariant, most_cells: int, most_words: int
) -> Iterator[Dispatch]:
    """The dispatches of pairs of one variant, which are in order of their columns."""
    columns = group["columns"].reshape(-1, variant.pairs).max(axis=1).astype(np.int64)
    rows = group["rows"].reshape(-1, variant.pairs).max(axis=1).astype(np.int64)
    strips = -(-rows // variant.rows)
    words = np.where(strips > 1, -(-columns // PER_WORD) * variant.border_words, 0)
    cells = np.maximum(1, variant.rows * variant.pairs * columns)  # of a strip
    begin = 0
    for end in _ends(cells * strips, words, most_cells, most_words):
        here = int(strips[begin:end].max(initial=0))
        border = int(words[begin:end].max(initial=0)) * (end - begin)
        at_once = max(1, most_cells // int(cells[begin:end].sum()))
        for strip in range(0, max(1, here), at_once):
            yield Dispatch(
                variant,
                first_pair + begin * variant.pairs,
                end - begin,
                strip * variant.rows,
                (strip + at_once) * variant.rows,
                border,
            )
        begin = end


FULL = 1 << 17
"""Items that keep a device busy. Dispatches with more cells than wanted are cut by rows rather than to fewer items."""


def _ends(
    cells: NDArray[np.int64], words: NDArray[np.int64], most_cells: int, most_words: int
) -> Iterator[int]:
    """Where items are cut: by their cells, unless too few would be together, and by what they have on the border."""
    before = np.concatenate([[0], np.cumsum(cells)])
    begin, count = 0, len(cells)
    while begin < count:
        end = int(np.searchsorted(before, before[begin] + most_cells, side="right")) - 1
        end = min(count, max(end, begin + FULL))
        # All items have room for as many columns as the last one.
        while end > begin + 1 and int(words[begin:end].max()) * (end - begin) > most_words:
            end = begin + (end - begin) // 2
        yield end
        begin = end


