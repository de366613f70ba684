"""The text of the warper's WebGPU kernel, and the records that it is given. No GPU library is needed here."""

from __future__ import annotations

from dataclasses import dataclass

from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants

WIDTH = 32
"""Invocations of a workgroup, each of which has a pair."""

ROWS = (8, 32)
"""Rows of a strip: of pairs with few rows, and of others."""

LARGEST_DIFFERENCE = 2**16 - 1

LARGEST = {False: 1 << 24, True: 2**31 - 1 - LARGEST_DIFFERENCE}
"""The cost from which on lanes do not hold it, by whether they are wide."""

SIGNAL_PAIR = Record(
    "SignalPair",
    Field("rows_at", "u32", "the level of the first row"),
    Field("rows", "u32", ""),
    Field("columns_at", "u32", "the level of the first column"),
    Field("columns", "u32", ""),
    Field("cost", "u32", "backwards: what the path costs"),
)

WARP_PARAMS = Record(
    "WarpParams",
    Field("first_pair", "u32", "of the dispatch"),
    Field("items", "u32", "invocations that have pairs"),
    Field("stride", "u32", "items that have room in the border"),
    Field("first_row", "u32", "of the dispatch: of a strip"),
    Field("end_row", "u32", "likewise, or one behind all rows"),
    Field("direction", "u32", "from a level to the next one: 1, or 2^32 - 1 for backwards"),
    Field("is_free", "u32", "1: paths begin in any row"),
    Field("is_backward", "u32", "1: rows end where the path's cost is found"),
    Field("band", "u32", "the most that a row may differ from its column"),
)
"""The uniform block of a dispatch."""

WARP_RESULT = Record(
    "WarpResult",
    Field("last", "u32", ""),
    Field("least", "u32", ""),
    Field("place", "u32", ""),
)
"""What a dispatch leaves for each pair (`Found` of warp.wgsl)."""


@dataclass(frozen=True, slots=True)
class WarpVariant:
    """What the kernel is compiled for: the rows of a strip, whether costs are integers, and whether there is a band."""

    rows: int
    wide: bool
    banded: bool


def source(variant: WarpVariant) -> tuple[str, str]:
    """WGSL of a variant, and its entry point."""
    sizes = {"ROWS": variant.rows}
    switches = {"WIDE": int(variant.wide), "BANDED": int(variant.banded)}
    records = {record.name: record.declaration for record in (SIGNAL_PAIR, WARP_PARAMS)}
    given = constants({"W": WIDTH, "LARGEST": LARGEST[variant.wide]} | sizes)
    return assemble("warp/warp.wgsl", read, records | given, sizes | switches), "warp_signals"
