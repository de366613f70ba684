"""The texts of the comparer's WebGPU kernels, and the records that they are given. No GPU library is needed here."""

from __future__ import annotations

from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
from pairhmm.map.sketch.device import EACH, PLACE_BITS, STEP, STRIDE, TILE

COMPARE_PARAMS = Record(
    "CompareParams",
    Field("first_query", "u32", "of the dispatch"),
    Field("end_query", "u32", "one past its last query"),
    Field("targets", "u32", ""),
    Field("words", "u32", "of a plane, of 32 slots each"),
    Field("stride", "u32", "of a row of counts, in groups of four"),
)

NEAREST_PARAMS = Record(
    "NearestParams",
    Field("first_query", "u32", "of the dispatch"),
    Field("queries", "u32", "of the dispatch"),
    Field("targets", "u32", ""),
    Field("stride", "u32", "of a row of counts, in groups of four"),
    Field("wanted", "u32", "keys of each query"),
)

NEAREST = 0
"""The variant that looks for the nearest targets. The others compare sketches of so many bits."""


def source(variant: int) -> tuple[str, str]:
    """WGSL of a variant, and its entry point."""
    if variant == NEAREST:
        given = {NEAREST_PARAMS.name: NEAREST_PARAMS.declaration} | constants({"PLACE_BITS": PLACE_BITS})
        return assemble("map/nearest.wgsl", read, given, {}), "nearest"
    sizes = {"BITS": variant, "STEP": STEP, "TILE": TILE, "STRIDE": STRIDE}
    given = {COMPARE_PARAMS.name: COMPARE_PARAMS.declaration} | constants(sizes)
    return assemble("map/equal_slots.wgsl", read, given, {"EACH": EACH, "MANY_PLANES": int(variant > 1)}), "equal_slots"
