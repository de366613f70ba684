"""The text of the aligner's WebGPU kernels, and the records that they are given. No GPU library is needed here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.scoring import Scoring
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants

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
    Field("first_pair", "u32", "of the dispatch"),
    Field("items", "u32", "invocations that have pairs"),
    Field("stride", "u32", "items that have room in the border"),
    Field("first_row", "u32", "of the dispatch: of a strip"),
    Field("end_row", "u32", "likewise, or one behind all rows"),
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
"""What a dispatch leaves for each pair (`Found` of pairs.wgsl)."""


MOST_PLANES = 6
"""Planes up to which planes.wgsl is faster than gaps.wgsl."""


class PlaneSteps(NamedTuple):
    """What planes.wgsl is compiled for: numbers of `PARAMS`, in units.

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
    """What a kernel is compiled for.

    Attributes
    ----------
    form : {"edit", "linear", "affine"}
        That of the scoring.
    rows : int
        Rows of a strip: a multiple of `BITS` for "edit", of `PER_WORD` otherwise.
    unknown : bool
        Whether letters may be N.
    skewed : bool
        A mismatch counts, because it scores more than the gaps in place of it.
    wide : bool
        Scores are integers.
    steps : PlaneSteps or None
        Bit planes.
    """

    form: str
    rows: int
    unknown: bool
    skewed: bool = False
    wide: bool = False
    steps: PlaneSteps | None = None

    @property
    def file(self) -> str:
        """The kernel's file in shaders/align/."""
        return "edit" if self.form == "edit" else "gaps" if self.steps is None else "planes"

    @property
    def entry(self) -> str:
        return ENTRIES[self.file]

    def border_words(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Words that a strip hands to the next one, of so many columns."""
        if self.form == "edit":
            return -(-columns // PER_WORD)
        if self.steps is None:
            return columns * (1 + (self.form == "affine"))
        return (self.steps.planes + self.steps.gap_planes) * ((columns + 2 * BITS) // BITS + 1)


def plane_steps(scoring: Scoring) -> PlaneSteps | None:
    """What planes.wgsl needs for a scoring; None if it does not have it, or would be slower."""
    if scoring.form == "edit":
        return None
    given = scoring_params(scoring)
    opened = -given["open"]
    if given["mismatched"] < -opened:
        return None
    numbers = [given["matched"] + 2 * opened, given["mismatched"] + 2 * opened, given["down"] + opened, opened]
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
    given = {}
    if variant.file == "edit":
        sizes["WORDS"] = variant.rows // BITS
    elif variant.steps is None:
        sizes["GROUPS"] = variant.rows // PER_WORD
    else:
        sizes |= {"PLANES": variant.steps.planes, "GAP_PLANES": variant.steps.gap_planes}
        sizes["BORDER_WORDS"] = variant.steps.planes + variant.steps.gap_planes
        given = {name.upper(): number for name, number in variant.steps._asdict().items()}
    switches = {
        "UNKNOWN": int(variant.unknown),
        "WIDE": int(variant.wide),
        "SKEWED": int(variant.skewed),
        "AFFINE": int(variant.form == "affine"),
    }
    declarations = {record.name: record.declaration for record in (PAIR, PARAMS)}
    declarations |= constants({"W": WIDTH} | sizes | given)
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
