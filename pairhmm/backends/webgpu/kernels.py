"""Assembles the WGSL text of a WebGPU kernel for a shape, a model and a device. No GPU library is needed here.

The text is WGSL for any host. A browser needs `SUBGROUPS` before a text that shuffles; wgpu does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from pairhmm.backends import tiles
from pairhmm.backends.tiles import HALVES, LETTERS, LETTERS_SCALED, Shape
from pairhmm.backends.webgpu.long_pairs import long_constants, rescale_steps
from pairhmm.backends.webgpu.rows import (
    FOLDED_AT,
    FOLDED_COLUMNS,
    KIND_AT,
    KIND_COLUMNS,
    PROFILE_AT,
    QUALITIES,
    TABLE_AT,
)
from pairhmm.backends.webgpu.templates import Number, assemble, constants, float_bits, pieces
from pairhmm.backends.webgpu.work import (
    COARSE,
    EVENT,
    EVENT_FLAGS,
    FINE,
    LAST_JOIN,
    MADE,
    MASK_ENTRIES,
    MOST_TREE_TIERS,
    NO_LIST,
    NODE,
    PLACE,
    STRIP_ITEM,
    STRIP_RESULT,
    TAIL,
    TASK_ENTRIES,
    TREE,
    TREES_OF_GROUP,
    UNFINISHED,
    UNFOLDED,
    UNORDERED,
    UNSCALED,
    UNTURNED,
    WORK,
    indices,
    lane_entries,
    quads_of,
)
from pairhmm.models import scaling
from pairhmm.models.batch import PairBatch
from pairhmm.models.gatk import ERROR
from pairhmm.sequences import letters as sequences

FILES = {
    "forward": "forward/forward.wgsl",
    "forward_tall": "forward/tall.wgsl",
    "forward_tree_rows": "forward/tree_rows.wgsl",
    "forward_trees": "forward/trees.wgsl",
    "forward_scaled": "forward/scaled.wgsl",
    "forward_long_rows": "forward/long_rows.wgsl",
    "forward_long": "forward/long.wgsl",
    "forward_join": "forward/join.wgsl",
}
"""Entry points, and the file of shaders/ that has each."""

SUBGROUPS = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n"

PART, SOFTWARE_PART = 12, 4
"""Columns of an iteration of forward.wgsl's loop, on a GPU and on a software adapter. They are multiples of 4.

A software adapter compiles slowly, so it gets the shorter loop.
"""

PD_STEPS = 5
"""Lowest bit of the steps in a letter of a partially determined haplotype: kDeviceSteps of `cpu/pdhmm/columns.hpp`."""

FLAGS_PART = 2
"""Columns of an iteration beside partially determined haplotypes. A column with steps takes far more instructions, so
more columns would not pay."""

TREE_PART, LONG_TREE_PART = 4, 8
"""Columns of an iteration of tree_walk.wgsl's loop on a GPU, where events are near each other and where they are not.
Longer iterations leave more columns beside events to single steps."""

QUAD = 4
"""Rows of an entry of scratch memory."""

MAKERS = 128
"""Invocations of a workgroup of tree_rows.wgsl. They make four rows of each lane at once."""

LONG_PARTS = 6
"""Invocations of long_rows.wgsl that share the rows of a lane."""

LONG_GROWTH = 8
"""Bits of range above TOP_EXPONENT that lanes of forward/long.wgsl need in addition.

They have more rows than other lanes with exponents, in which values may grow until the next rescaling.
"""

WORD = 4
"""Bytes of a word."""


@dataclass(frozen=True, slots=True)
class KernelVariant:
    """A variant of a kernel, compiled for a shape, a model and a device."""

    kernel: str  # An entry point: a key of `FILES`
    # "forward_trees" and "forward_scaled" learn the lanes of a read at run time; here they are 1. So does
    # "forward_tree_rows", of the rows of a lane, too.
    shape: Shape
    width: int  # Invocations of a workgroup
    shuffles: bool  # Lanes hand values on by subgroup shuffles instead of workgroup memory
    # {"qualities", "profiles", "kinds", "folded"}: what rows are made from: the file shaders/forward/rows_*.wgsl of
    # that name. Or "flags": qualities, beside partially determined haplotypes.
    rows: str
    # Probability that a deletion is extended, if it is one number for the batch. This saves a register for each row.
    # The scores are the same bits either way.
    extension: float | None
    segment: int = 0  # For the kernels of long pairs: lanes of a segment, which hand values on to each other
    part: int = PART  # Columns of an iteration of the loop; of "forward_scaled", those between two rescalings

    @property
    def has_flags(self) -> bool:
        return self.rows == "flags"

    @property
    def is_long(self) -> bool:
        return self.kernel in ("forward_long", "forward_long_rows", "forward_join")

    @property
    def is_masked(self) -> bool:
        """A row has two emissions at most, and one of them is 1: masks say which letters have it (emissions.wgsl)."""
        return self.kernel in ("forward_trees", "forward_tree_rows") and self.rows == "qualities"

    @property
    def is_scaled(self) -> bool:
        """Lanes have exponents."""
        return self.is_long or self.kernel == "forward_scaled"


def extension_of(batch: PairBatch) -> float | None:
    """`KernelVariant.extension` of a batch."""
    if batch.qualities is not None:
        gap = batch.constant_qualities.get("gap_quality")
        return None if gap is None else float(ERROR[gap])
    if batch.profiles is not None:
        return float(batch.profiles.shared_transitions[6])
    assert batch.rows is not None
    dd = batch.rows[:, 11]
    return float(dd[0]) if len(dd) and dd.min() == dd.max() else None


def rows_of(batch: PairBatch) -> str:
    """`KernelVariant.rows` of a batch."""
    if batch.profiles is not None:
        return "profiles" if batch.profiles.kinds is None else "kinds"
    if batch.rows is not None:
        return "folded"
    return "qualities" if batch.flags is None else "flags"


def source(variant: KernelVariant) -> str:
    """The complete WGSL text of one variant of a kernel."""
    return "".join(source_pieces(variant))


def source_pieces(variant: KernelVariant) -> list[str]:
    """The text of a variant, as its declarations and modules."""
    sizes = _sizes(variant)
    switches = {
        "SHUFFLES": int(variant.shuffles),
        "VARYING": int(variant.extension is None),
        "SCALED": int(variant.is_scaled),
        "MASKED": int(variant.is_masked),
        "FLAGS": int(variant.has_flags),
        "PADDED": int(variant.is_long),
        "BOTH_WAYS": int(variant.kernel == "forward_long_rows"),
        "TREES": int(variant.kernel in ("forward_tree_rows", "forward_long_rows")),
    }
    way = "shuffles" if variant.shuffles else "memory"
    rows = "qualities" if variant.has_flags else variant.rows
    choices = {
        "forward/rows_*.wgsl": f"forward/rows_{rows}.wgsl",
        **{f"forward/{name}_*.wgsl": f"forward/{name}_{way}.wgsl" for name in ("pass", "bounds")},
    }
    values: dict[str, Number] = dict(sizes)
    values["TOP_EXPONENT"] = np.int32(scaling.TOP_EXPONENT - (LONG_GROWTH if variant.is_long else 0))
    if variant.is_long:
        values |= {"HALVES": HALVES, "LEAST_CUT": tiles.LEAST_CUT}
    if variant.extension is not None:
        values["EXTEND_DELETION"] = variant.extension
    return pieces(FILES[variant.kernel], read, shared() | constants(values), sizes | switches, choices)


def subgroups_source(width: int) -> str:
    """WGSL of subgroups.wgsl for workgroups of `width` invocations."""
    return assemble("forward/subgroups.wgsl", read, constants({"W": width}), {})


@cache
def read(name: str) -> str:
    """The text of a file of shaders/."""
    return (files("pairhmm") / "shaders" / name).read_text()


def _sizes(variant: KernelVariant) -> dict[str, int]:
    """Constants that depend on the variant; docs/webgpu.md says what the short names are."""
    rows = variant.shape.rows
    segment = variant.segment or variant.shape.lanes
    steps = rescale_steps(rows)
    return {
        "G": variant.shape.lanes,
        "K": rows,
        "W": variant.width,
        "EMITTED": LETTERS,
        "LETTERS": LETTERS_SCALED if variant.is_scaled else LETTERS,
        "NO_LETTER": LETTERS,
        "QUADS": quads_of(rows),
        "QUAD": QUAD,
        "LANE_ENTRIES": lane_entries(rows),
        "MADE_ROWS": variant.width * (TASK_ENTRIES + MASK_ENTRIES * variant.is_masked),
        "MADE_EXTEND_DELETION": len(MADE) - 1 + (1 if variant.is_masked else LETTERS),
        # Compilers address arrays whose size is a power of two in more steps.
        "STORED_ROWS": rows + (rows % 8 == 0 and not variant.is_scaled),
        "PART": variant.part,
        "PART_WORDS": variant.part // (WORD // 2 if variant.has_flags else WORD),
        "RESCALE_STEPS": steps,
        "SEGMENT": segment,
        # Most lanes that an insertion passes until the next rescaling.
        "REACH": steps if variant.kernel == "forward_scaled" else min(steps, segment),
    } | (long_constants(segment) if variant.is_long else {})


@cache
def shared() -> dict[str, str]:
    """Declarations that are the same for all variants."""
    numbers: dict[str, Number] = {
        "START_EXPONENT": np.int32(scaling.START_EXPONENT),
        "START_VALUE": 2.0**scaling.START_EXPONENT,
        "LEAST_SUM_BITS": float_bits(scaling.LEAST_SUM),
        "MOST_SUM_BITS": float_bits(scaling.MOST_SUM),
        "NO_EXPONENT": np.int32(scaling.NO_EXPONENT),
        "GAP_RANGE": scaling.GAP_RANGE,
        "DELETION_RANGE": scaling.DELETION_RANGE,
        "LEAST_OPENING": scaling.LEAST_OPENING,
        "LEAST_DELETION": scaling.LEAST_DELETION,
        "COARSE": COARSE,
        "FINE": FINE,
        "UNFOLDED": UNFOLDED,
        "UNSCALED": UNSCALED,
        "UNORDERED": UNORDERED,
        "UNFINISHED": UNFINISHED,
        "UNTURNED": UNTURNED,
        "HALF_VALUE": 2.0**scaling.HALF_EXPONENT,
        "JOINED_SCALE": 2.0 ** (scaling.START_EXPONENT - 2 * scaling.HALF_EXPONENT),
        "LEAST_JOINED_BITS": float_bits(scaling.LEAST_JOINED),
        "TREE_WORDS": len(TREE),
        **indices("TREE", TREE),
        "PLACE_WORDS": len(PLACE),
        **indices("PLACE", PLACE),
        "TREE_TIERS": MOST_TREE_TIERS,
        **{f"NODE_{name}": bits for name, bits in NODE.items()},
        "LAST_JOIN": LAST_JOIN,
        "NO_LIST": NO_LIST,
        "TAIL": TAIL,
        "EVENT_FLAGS": EVENT_FLAGS,
        **{f"EVENT_{name}": bits for name, bits in EVENT.items()},
        "CODES": sequences.LOWER_CASE + LETTERS,
        "CODE_OF_N": LETTERS - 1,
        "BASES": (1 << LETTERS - 1) - 1 | (1 << LETTERS) - 1 << sequences.LOWER_CASE,
        "JOINS": 1 << PD_STEPS,
        "KEEPS": 2 << PD_STEPS,
        "FIRST_ROW": 4 << PD_STEPS,
        "MAKERS": MAKERS,
        "PARTS": LONG_PARTS,
        "TREES_OF_GROUP": TREES_OF_GROUP,
        "TASK_ENTRIES": TASK_ENTRIES,
        **indices("MADE", MADE),
        "QUALITIES": QUALITIES,
        "FOLDED_COLUMNS": sum(FOLDED_COLUMNS.values()),
        **{f"FOLDED_{name}": at for name, at in FOLDED_AT.items()},
        "KIND_COLUMNS": sum(KIND_COLUMNS.values()),
        **{f"KIND_{name}": at for name, at in KIND_AT.items()},
        **TABLE_AT,
        **PROFILE_AT,
        "ITEM_WORDS": len(STRIP_ITEM),
        **indices("ITEM", STRIP_ITEM),
        "RESULT_WORDS": len(STRIP_RESULT),
        **indices("RESULT", STRIP_RESULT),
    }
    return {WORK.name: WORK.declaration} | constants(numbers)
