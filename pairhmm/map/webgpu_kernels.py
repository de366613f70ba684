"""The text of the map's WebGPU kernels, and the records that they are given. No GPU library is needed here."""

from __future__ import annotations

from dataclasses import dataclass

from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
from pairhmm.map.sketch.published import LEAST_FOR_ONE_PERMUTATION, PRIME, SLOTS

SKETCH_WIDTH = 32
"""Invocations of a workgroup that sketches a sample."""

TOGETHER = 2
"""Tokens that are hashed together, so that their loads and hashes overlap."""

LOADS = 4
"""Samples whose signatures an invocation reads together. It divides `SKETCH_WIDTH`."""

BLEND_WIDTH = 64
"""Invocations of a workgroup of `blend`, each of which has a sample."""

BLOCK = 32
"""Neighbours that are added up before their sum is added to that of the others."""

PIECES = 16
"""Pieces of 16 bits of the four sums of a slot's values and squares (`Sums` of place.wgsl). Each sum has four."""

SUM_WORDS = PIECES * SLOTS + 1
"""Words of the sums of a chunk."""

PLACE_PARAMS = Record(
    "PlaceParams",
    Field("samples", "u32", "of the chunk"),
    Field("tokens_at", "u32", "in `given`: the tokens"),
    Field("offsets_at", "u32", "in `given`: where each sample's tokens begin, and where the last one's end"),
    Field("unused", "u32", ""),
)

BLEND_PARAMS = Record(
    "BlendParams",
    Field("samples", "u32", "of the chunk"),
    Field("first", "u32", "of these samples"),
    Field("values_at", "u32", "in `given`: the neighbours"),
    Field("offsets_at", "u32", "in `given`: where each sample's neighbours begin, and where the last one's end"),
    Field("alpha", "f32", "the neighbours' share"),
)

BINDINGS = {
    "signatures": ("in", "table", "found"),
    "columns": ("in", "table", "found", "sums"),
    "project": ("in", None, "found", None, "form", "out"),
    "blend": ("in", "start", "before", "after"),
}
"""Buffers of each entry point, from binding 1 on. None stands for a binding that it does not use."""


@dataclass(frozen=True, slots=True)
class PlaceVariant:
    """What a kernel is compiled for: its entry point, and whether the device has integers of 64 bits."""

    entry: str
    int64: bool


def source(variant: PlaceVariant) -> tuple[str, str]:
    """WGSL of a variant, and its entry point."""
    if variant.entry == "blend":
        declared = constants({"WIDTH": BLEND_WIDTH, "BLOCK": BLOCK}) | {BLEND_PARAMS.name: BLEND_PARAMS.declaration}
        return assemble("map/place_blend.wgsl", read, declared, {}), variant.entry
    sizes = {"PRIME": PRIME, "SLOTS": SLOTS, "FEW": LEAST_FOR_ONE_PERMUTATION, "WIDTH": SKETCH_WIDTH, "PIECES": PIECES}
    repeated = {"TOGETHER": TOGETHER, "LOADS": LOADS}
    numbers = {"OWN_SLOTS": SLOTS // SKETCH_WIDTH, "INT64": int(variant.int64)} | repeated
    declared = constants(sizes | repeated) | {PLACE_PARAMS.name: PLACE_PARAMS.declaration}
    return assemble("map/place.wgsl", read, declared, numbers), variant.entry
