"""The aligner's WebGPU kernels: their text, the records that they are given, and the dispatches of pairs.

No GPU library is needed here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import SequencePairs, Sequences
from pairhmm.align.scoring import Scoring
from pairhmm.backends.tiles import team
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.pair_kernels import BINDINGS, DISPATCH_FIELDS, PairDispatch, strip_dispatches
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.native import native

WIDTH = 32
"""Invocations of a workgroup, each of which has a pair."""

PER_WORD = 16
"""Letters of a word, at two bits each."""

BITS = 32
"""Rows of a word of edit.wgsl."""

MOST = {False: 1 << 24, True: (1 << 31) - 1}
"""The largest number that lanes of gaps.wgsl hold with all whole numbers below it, by whether they are wide."""

TALLEST = {"edit": 512, "linear": 48, "affine": 32}
"""Rows of the tallest strip, by the form of the scoring. Taller ones need more registers than a lane has."""

PAIR = Record(
    "Pair",
    Field("rows_at", "u32", "first letter of the rows"),
    Field("rows", "u32", ""),
    Field("columns_at", "u32", "first letter of the columns"),
    Field("columns", "u32", ""),
)

PARAMS = Record(
    "Params",
    *DISPATCH_FIELDS,
    Field("is_free", "u32", "1: the ends of the rows are free"),
    Field("matched", "i32", "a match, less `extend` for its row and for its column"),
    Field("mismatched", "i32", "a mismatch, likewise"),
    Field("open", "i32", "a gap's first base, less `extend`"),
    Field("extend", "i32", "a base of a gap"),
    Field("down", "i32", "before the first column: what each row has more than the row above"),
    Field("first_down", "i32", "likewise: what all rows have in addition"),
)
"""The uniform block of a dispatch."""

RESULT = Record("Result", Field("last", "i32", ""), Field("best", "i32", ""))
"""The result of a dispatch for each pair (`Found` of pairs.wgsl)."""


MOST_PLANES = 6
"""Planes up to which planes.wgsl is faster than gaps.wgsl."""


class PlaneSteps(NamedTuple):
    """Compile-time constants of planes.wgsl: numbers of `PARAMS`, in units.

    Nothing is below 0, since twice what opening a gap costs is added to `matched` and `mismatched`, and once to `down`.
    """

    matched: int
    mismatched: int
    down: int
    opened: int
    unit: int

    @property
    def planes(self) -> int:
        """Bits of the largest difference."""
        return max(1, self.matched.bit_length())

    @property
    def gap_planes(self) -> int:
        """Bits of what opening a gap costs."""
        return self.opened.bit_length()


ENTRIES = {"edit": "edit_distance", "gaps": "align_gaps", "planes": "align_planes"}
"""Entry points of the files in shaders/align/."""


@dataclass(frozen=True, slots=True)
class AlignVariant:
    """The compile-time constants of a kernel."""

    form: str  # one of "edit", "linear", "affine": that of the scoring
    rows: int  # rows of a strip: a multiple of `BITS` for "edit", of `PER_WORD` otherwise
    unknown: bool  # whether letters may be N
    skewed: bool = False  # a mismatch counts, because it scores more than the gaps in place of it
    wide: bool = False  # scores are integers
    steps: PlaneSteps | None = None  # bit planes

    @property
    def file(self) -> str:
        """The kernel's file in shaders/align/."""
        return "edit" if self.form == "edit" else "gaps" if self.steps is None else "planes"

    @property
    def entry(self) -> str:
        return ENTRIES[self.file]

    def border_words(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Words that a strip of this many columns hands to the next one."""
        if self.form == "edit":
            return -(-columns // PER_WORD)
        if self.steps is None:
            return columns * (1 + (self.form == "affine"))
        return (self.steps.planes + self.steps.gap_planes) * ((columns + 2 * BITS) // BITS + 1)


def plane_steps(scoring: Scoring) -> PlaneSteps | None:
    """Constants of planes.wgsl for a scoring; None if it does not support the scoring, or would be slower."""
    if scoring.form == "edit":
        return None
    params = scoring_params(scoring)
    opened = -params["open"]
    if params["mismatched"] < -opened:
        return None
    numbers = [params["matched"] + 2 * opened, params["mismatched"] + 2 * opened, params["down"] + opened, opened]
    unit = max(1, math.gcd(*numbers))
    matched, mismatched, down, opened = (number // unit for number in numbers)
    steps = PlaneSteps(matched, mismatched, down, opened, unit)
    return steps if steps.planes <= MOST_PLANES else None


def rows_of_strips(scoring: Scoring, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of the strips that take `rows` rows with the fewest strips and, of these, the fewest rows too many."""
    if plane_steps(scoring) is not None:
        return np.full(len(rows), BITS)
    unit = BITS if scoring.form == "edit" else PER_WORD
    strips = np.maximum(1, -(-rows // TALLEST[scoring.form]))
    units: NDArray[np.int64] = np.maximum(1, -(-rows // (unit * strips)))
    return units * unit


def variant_of(scoring: Scoring, rows: int, unknown: bool, wide: bool) -> AlignVariant:
    """The variant for a scoring and the rows of a strip."""
    if scoring.form == "edit":
        return AlignVariant("edit", rows, unknown)
    steps = plane_steps(scoring)
    if steps is not None:
        return AlignVariant(scoring.form, rows, unknown, steps=steps)
    return AlignVariant(scoring.form, rows, unknown, scoring_params(scoring)["mismatched"] != 0, wide)


def source(variant: AlignVariant) -> tuple[str, str]:
    """WGSL of a variant, and its entry point."""
    sizes = {"PER_WORD": PER_WORD}
    steps = {}
    if variant.file == "edit":
        sizes["WORDS"] = variant.rows // BITS
    elif variant.steps is None:
        sizes["GROUPS"] = variant.rows // PER_WORD
    else:
        sizes |= {"PLANES": variant.steps.planes, "GAP_PLANES": variant.steps.gap_planes}
        sizes["BORDER_WORDS"] = variant.steps.planes + variant.steps.gap_planes
        steps = {name.upper(): number for name, number in variant.steps._asdict().items()}
    switches = {
        "UNKNOWN": int(variant.unknown),
        "WIDE": int(variant.wide),
        "SKEWED": int(variant.skewed),
        "AFFINE": int(variant.form == "affine"),
    }
    declarations = {record.name: record.declaration for record in (PAIR, PARAMS)}
    declarations |= constants({"W": WIDTH} | sizes | steps)
    return assemble(f"align/{variant.file}.wgsl", read, declarations, sizes | switches), variant.entry


def scoring_params(scoring: Scoring) -> dict[str, int]:
    """The fields of `PARAMS` that depend on the scoring alone.

    A mismatch that scores less than two gaps is never taken, so it may count as those; likewise, where gaps are linear,
    it may count as nothing.
    """
    is_free = scoring.mode == "semi-global"
    extend, opened = scoring.gap_extend, scoring.gap_open - scoring.gap_extend
    return {
        "is_free": int(is_free),
        "matched": scoring.match - 2 * extend,
        "mismatched": max(scoring.mismatch - 2 * extend, 2 * opened),
        "open": opened,
        "extend": extend,
        "down": -extend if is_free else 0,
        "first_down": 0 if is_free else opened,
    }


def largest_number(scoring: Scoring, shorter: NDArray[np.int64]) -> NDArray[np.int64]:
    """The size of the largest number that gaps.wgsl can meet, from the length of each pair's shorter sequence."""
    extend, opened = scoring.gap_extend, scoring.gap_open - scoring.gap_extend
    of_strip = TALLEST[scoring.form] * -extend - 4 * opened + abs(scoring.mismatch)
    return (scoring.match - 2 * extend) * (shorter + 1) + of_strip


MOST_LETTERS = (1 << 32) - 1024
"""The most letters of a call. An index of a letter, and of those that are read ahead, has 32 bits."""

AHEAD = 2
"""Words behind the last letter: kernels read a word ahead."""


@dataclass(frozen=True, slots=True)
class PackedLetters:
    """The letters that pairs need, as kernels read them."""

    words: NDArray[np.uint32]  # two bits a letter, `PER_WORD` letters a word, the first one lowest; 0 for N
    unknown: NDArray[np.uint32] | None  # A bit a letter, set for N. None where there is no N.
    # Added to an offset in `SequencePairs.queries`, or in its targets, to get the index of a letter.
    queries_at: int
    targets_at: int


def letters_of(pairs: SequencePairs) -> PackedLetters:
    """Pack the letters from the first sequence that the pairs need to the last one.

    Raises OutOfDeviceMemory if fewer pairs are needed.
    """
    ranges = [_needed(pairs.queries, pairs.query_index), _needed(pairs.targets, pairs.target_index)]
    codes = [side.codes[begin:end] for side, (begin, end) in zip((pairs.queries, pairs.targets), ranges, strict=True)]
    # The targets begin at a whole word of `unknown`, so that both are packed one by one.
    targets_at = -(-len(codes[0]) // BITS) * BITS
    letters = targets_at + len(codes[1])
    if letters > MOST_LETTERS:
        raise OutOfDeviceMemory(f"{letters:,} letters are more than a device can count")
    words = np.zeros(-(-letters // PER_WORD) + AHEAD, dtype=np.uint32)
    bits = np.zeros(-(-letters // BITS) + AHEAD, dtype=np.uint32)
    has_unknown = [
        native.pack_two_bits(team(), part, words[at // PER_WORD :], bits[at // BITS :])
        for part, at in zip(codes, (0, targets_at), strict=True)
    ]
    return PackedLetters(words, bits if any(has_unknown) else None, -ranges[0][0], targets_at - ranges[1][0])


def _needed(sequences: Sequences, index: NDArray[np.int32]) -> tuple[int, int]:
    """The letters from the first sequence of an index to the last one."""
    if not len(index):
        return 0, 0
    return int(sequences.offsets[index.min()]), int(sequences.offsets[int(index.max()) + 1])


@dataclass(frozen=True, slots=True)
class AlignPlan:
    """Pairs in the order in which a device takes them."""

    pairs: NDArray[np.void]  # of PAIR
    place: NDArray[np.int64] | None  # [pairs]: index of each in the call. None where that is the order of the call.
    dispatches: list[PairDispatch]  # in the order in which they must run
    border: int  # words of the largest border


def planned(
    pairs: SequencePairs, letters: PackedLetters, scoring: Scoring, most_cells: int, most_words: int
) -> AlignPlan:
    """Order pairs by variant and length, and cut them into dispatches.

    A dispatch has at most `most_cells`, if it can be cut, and a border of `most_words`, unless one item needs more.
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
    dispatches: list[PairDispatch] = []
    border, of_scoring = 0, scoring_params(scoring)
    bindings = BINDINGS if letters.unknown is not None else BINDINGS[:-1]
    for begin, end in pairwise(bounds):
        rows_of_strip, is_wide = divmod(int(kind[begin]), 2)
        variant = variant_of(scoring, rows_of_strip, letters.unknown is not None, bool(is_wide))
        words = variant.border_words(columns[begin:end])
        for cut in strip_dispatches(rows[begin:end], columns[begin:end], variant.rows, words, most_cells, most_words):
            params = PARAMS.values(cut.params(begin) | of_scoring)
            dispatches.append(PairDispatch(variant, params, cut.end - cut.begin, bindings))
            border = max(border, cut.border)
    return AlignPlan(table, place, dispatches, border)


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
