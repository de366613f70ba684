"""The text of the aligner's WebGPU kernels, and the records that they are given. No GPU library is needed here."""

from __future__ import annotations

from dataclasses import dataclass

from pairhmm.aligning.scoring import Scoring
from pairhmm.backends.webgpu.declarations import Field, Record, constants
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.templates import assemble

WIDTH = 64
"""Invocations of a workgroup. Each has a pair; or two, where scores are 16-bit floats."""

PER_WORD = 16
"""Letters of a word, at two bits each."""

BITS = 32
"""Rows of a word of edit.wgsl."""

F16 = "enable f16;\n"

LARGEST_HALF = 2048
"""The largest whole number up to which a 16-bit float holds them all."""

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
    Field("down", "i32", "before the first column: a row less the row above, less `extend`"),
    Field("first_down", "i32", "what the first row has in addition"),
)
"""The uniform block of a dispatch."""

RESULT = Record("Result", Field("last", "i32", ""), Field("best", "i32", ""))
"""What a dispatch leaves for each pair (`Found` of pairs.wgsl)."""


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
    halves : bool
        Two pairs an invocation, whose differences are 16-bit floats.
    """

    form: str
    rows: int
    unknown: bool
    halves: bool = False

    @property
    def entry(self) -> str:
        return "edit_distance" if self.form == "edit" else "align_gaps"

    @property
    def pairs(self) -> int:
        """Pairs of an invocation."""
        return 1 + self.halves

    @property
    def border_words(self) -> int:
        """Words that a strip hands to the next one, for an invocation and `PER_WORD` columns."""
        return 1 if self.form == "edit" else PER_WORD * (1 + (self.form == "affine"))


def source(variant: AlignVariant) -> str:
    """WGSL of a variant."""
    sizes = {"PER_WORD": PER_WORD}
    sizes |= {"WORDS": variant.rows // BITS} if variant.form == "edit" else {"GROUPS": variant.rows // PER_WORD}
    switches = {
        "UNKNOWN": int(variant.unknown),
        "HALVES": variant.pairs,
        "PACKED": int(variant.halves),
        "AFFINE": int(variant.form == "affine"),
    }
    records = {record.name: record.declaration for record in (PAIR, PARAMS)}
    file = "align/edit.wgsl" if variant.form == "edit" else "align/gaps.wgsl"
    text = assemble(file, read, records | constants({"W": WIDTH} | sizes), sizes | switches)
    return F16 + text if variant.halves else text


def scoring_params(scoring: Scoring) -> dict[str, int]:
    """The fields of `PARAMS` that depend on the scoring alone.

    A mismatch that scores less than two gaps is never taken, so it may count as those.
    """
    free = scoring.mode == "semi-global"
    extend, opened = scoring.gap_extend, scoring.gap_open - scoring.gap_extend
    return {
        "is_free": int(free),
        "matched": scoring.match - 2 * extend,
        "mismatched": max(scoring.mismatch - 2 * extend, 2 * opened),
        "open": opened,
        "extend": extend,
        "down": -extend if free else 0,
        "first_down": 0 if free else opened,
    }


def fits_halves(scoring: Scoring) -> bool:
    """Whether 16-bit floats hold all differences that a scoring makes (the formulas are in gaps.wgsl).

    A cell exceeds that on its upper left by a match at most. So no difference of neighbours is larger than a match less
    an opening, and no sum in a cell is larger than that less another opening.
    """
    extend, opened = scoring.gap_extend, scoring.gap_open - scoring.gap_extend
    return scoring.match - 2 * extend - 2 * opened - extend <= LARGEST_HALF
