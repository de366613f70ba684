"""The text of the scan's WebGPU kernels, and the buffers that they are bound to. No GPU library is needed here."""

from __future__ import annotations

from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
from pairhmm.scan.index import PER_WORD

FILES = {
    "mark": "scan/mark.wgsl",
    "match_tile": "scan/match.wgsl",
    "sum": "scan/sums.wgsl",
    "carry": "scan/sums.wgsl",
    "total": "scan/verify.wgsl",
    "verify": "scan/verify.wgsl",
}
"""Entry points, and the file of shaders/ that has each."""

BINDINGS = {
    "mark": ("words", "with_letters"),
    "match_tile": ("words", "with_letters", "offset", "index", "patterns", "counts", "list"),
    "sum": ("qualities", "within", "tile_sums"),
    "carry": (None, None, "tile_sums", "before"),
    "total": ("qualities", "within", "before", *[None] * 5, "offset", "totals"),
    "verify": ("qualities", "within", "before", "words", "patterns", "counts", "list", "hits"),
}
"""Buffers of each entry point, from binding 1 on. None stands for a binding that it does not use."""

TILE = 1024
"""Positions that a workgroup of match_tile takes."""

MARK_WORDS = 128
"""Words of letters that a workgroup of mark takes, to make one word of bits."""

VERIFY_WIDTH = 64
"""Invocations of a workgroup of verify and of total. In total, each takes one segment."""

SUM_WIDTH, SUMMED = 256, 64
"""Invocations of a workgroup of sum, and qualities that each adds up."""

SUM_TILE = SUM_WIDTH * SUMMED
"""Qualities that a workgroup of sum adds up."""

PARAMS = Record(
    "Params",
    Field("bases", "u32", "letters of the samples"),
    Field("words", "u32", "words of letters, with those of N behind the last"),
    Field("segments", "u32", ""),
    Field("carried", "u32", "letters at the begin of the first segment that an earlier call had"),
    Field("first_at", "u32", "in the index, behind the bits: [5^BASES + 1] into anchors"),
    Field("anchor_at", "u32", "in the index: the handles of anchors"),
    Field("anchors", "u32", "handles that have an anchor"),
    Field("handles", "u32", "all handles; those behind the anchors are tried everywhere"),
    Field("pattern_at", "u32", "in the patterns, behind the handles: first word of letters, length"),
    Field("letters_at", "u32", "in the patterns: their letters"),
    Field("longest", "u32", "letters of the longest pattern"),
    Field("max_mismatches", "u32", "columns"),
    Field("min_informative", "u32", "columns"),
    Field("room", "u32", "of the list, and for hits"),
    Field("sum_tiles", "u32", "workgroups of `sum`"),
    Field("scored", "u32", "whether there are qualities"),
)
"""The uniform block of a call, for all kernels of the scan."""


def source(entry: str, bases: int) -> str:
    """WGSL of an entry point, for anchors of `bases` letters."""
    sizes = {
        "BASES": bases,
        "TILE": TILE,
        "MARK_WORDS": MARK_WORDS,
        "VERIFY_WIDTH": VERIFY_WIDTH,
        "SUM_WIDTH": SUM_WIDTH,
        "SUMMED": SUMMED,
        "SUM_TILE": SUM_TILE,
    }
    numbers = {"PER_WORD": PER_WORD, "BEYOND_WORD": bases - PER_WORD}
    return assemble(FILES[entry], read, {PARAMS.name: PARAMS.declaration} | constants(sizes), numbers)
