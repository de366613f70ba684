"""The text of the aligner's WebGPU kernels, and what they are given. No GPU library is needed here."""

from __future__ import annotations

from dataclasses import dataclass

from pairhmm.backends.webgpu.declarations import Field, Record, constants
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.templates import assemble

WIDTH = 64
"""Invocations of a workgroup, each of which has a pair, or two."""

PER_WORD = 16
"""Letters of a word of two bits each."""

F16 = "enable f16;\n"

PAIR = Record(
    "Pair",
    Field("first_row", "u32", "of all letters"),
    Field("rows", "u32", ""),
    Field("first_column", "u32", "of all letters"),
    Field("columns", "u32", ""),
)

PARAMS = Record(
    "Params",
    Field("first_item", "u32", "first pair of the dispatch"),
    Field("items", "u32", "invocations with pairs"),
    Field("stride", "u32", "items that have borders"),
    Field("is_free", "u32", "1: the ends of the rows are free"),
    Field("matched", "i32", "a match, less two rows and columns of `extend`"),
    Field("mismatched", "i32", "a mismatch, likewise"),
    Field("open", "i32", "a gap's first base, less `extend`"),
    Field("extend", "i32", "each base of a gap"),
    Field("down", "i32", "a row less the row above, before the first column"),
    Field("first_down", "i32", "what the first row has in addition"),
)


@dataclass(frozen=True, slots=True)
class AlignVariant:
    """What a kernel is compiled for.

    Attributes
    ----------
    form : {"edit", "linear", "affine"}
    rows : int
        Rows of a strip: a multiple of 32 for "edit", of 16 otherwise.
    unknown : bool
        Whether letters may be N.
    packed : bool
        Two pairs in the halves of a 32-bit word, as 16-bit floats.
    """

    form: str
    rows: int
    unknown: bool
    packed: bool = False

    @property
    def entry(self) -> str:
        return "edit_distance" if self.form == "edit" else "align_gaps"

    @property
    def pairs(self) -> int:
        """Pairs of an invocation."""
        return 1 + self.packed


def source(variant: AlignVariant) -> str:
    """WGSL of a variant."""
    numbers = {
        "UNKNOWN": int(variant.unknown),
        "PACKED": int(variant.packed),
        "AFFINE": int(variant.form == "affine"),
        "HALVES": variant.pairs,
        "GROUPS": variant.rows // 16,
        "WORDS": variant.rows // 32,
        "PER_WORD": PER_WORD,
    }
    file = "align/edit.wgsl" if variant.form == "edit" else "align/gaps.wgsl"
    declarations = {record.name: record.declaration for record in (PAIR, PARAMS)}
    sizes = {"W": WIDTH, "PER_WORD": PER_WORD} | ({"WORDS": numbers["WORDS"]} if variant.form == "edit" else {"GROUPS": numbers["GROUPS"]})
    text = assemble(file, read, declarations | constants(sizes), numbers)
    return F16 + text if variant.packed else text
