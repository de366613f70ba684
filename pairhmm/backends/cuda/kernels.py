"""Assembles the text of the kernels of `cuda/forward/` for a shape and a model. No GPU or CUDA library is needed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import tiles
from pairhmm.backends.cuda.layout import HEADER, KIND, PART, TREE_TIER, UNREAD_COLUMNS, WARP, reads_of
from pairhmm.backends.cuda.sources import Constant, source
from pairhmm.backends.tiles import HALVES, LETTERS, LETTERS_SCALED, Shape, TreeSizes
from pairhmm.models import scaling
from pairhmm.models.batch import FLOAT32, ROW_SIZE, SCALED_FLOAT32, UNSCORED, PairBatch
from pairhmm.models.gatk import ERROR
from pairhmm.sequences import letters as sequences
from pairhmm.sequences.letters import HIGHEST_QUALITY

QUALITIES, ROWS, PROFILES, KINDS = "QUALITIES", "ROWS", "PROFILES", "KINDS"
"""Inputs that a kernel makes rows from: GATK's quality bytes, rows of any model, a profile model's probabilities, or
the number of each base's distinct row. The macro of that name selects the code in `cuda/forward/rows.cuh`."""

FAST, SCALED, TREES, TREE_ROWS, PDHMM = "fast", "scaled", "trees", "tree_rows", "pdhmm"
"""Kernels of tiles: the files of `cuda/forward/` that hold them. fast.cu holds `PDHMM`, too, for the letters of
pdhmm.cuh."""

RUN = 6
"""Columns that `cuda/forward/trees.cu` walks without looking for an event. Fewer are better where haplotypes share
much, more where they share little."""

ROWS_WARPS = 4
"""Warps of a block of `cuda/forward/tree_rows.cu`. Each makes the rows of a work item."""

ROWS_BLOCKS = 6
"""Blocks of `cuda/forward/tree_rows.cu` that a multiprocessor must hold at once. Four to eight take as long."""

SHARED_PERCENT = 71
"""Share of its memory that a multiprocessor gives to shared memory while it rescues pairs. It is the same for all
shapes: a multiprocessor that runs one kernel divides its memory anew only when that kernel has ended there."""

STATE_BYTES = 8
"""Bytes of S and I (float32), which fast.cu hands from strip to strip and counts its memory in."""

TASK_BYTES = 40
"""Bytes of a `Task` of `cuda/forward/tasks.cuh`. Each read of a tile has one."""

LONG_ROWS = {"float": 12, "double": 10}
"""Rows of a lane in `cuda/forward/long.cu`, by the type that it computes in.

Both are at least as many as steps between two rescalings. 12 rows make one warp a scheduler of both halves of a pair of
100,000 x 100,000 bases on an H200. More float64 rows do not fit into registers.
"""

LONG_COLUMNS = 8
"""Columns that enter a strip together in `cuda/forward/long.cu`: as many as steps between two rescalings."""

SCRATCH_ALIGNMENT = 256
"""The scratch memory of each block of `cuda/forward/trees.cu` begins at a multiple of this many bytes."""

TASK_OF_LANE_BYTES = 32
"""Bytes of a `Task` of `cuda/forward/tree_tasks.cuh`. Each lane has one."""

REALS: dict[str, type[np.floating[Any]]] = {"float": np.float32, "double": np.float64}
"""Types that rows may be computed in, by their names in CUDA."""

RANGES: dict[str, dict[str, Constant]] = {
    "float": {
        "TOP_EXPONENT": scaling.TOP_EXPONENT,
        "GAP_RANGE": scaling.GAP_RANGE,
        "DELETION_RANGE": scaling.DELETION_RANGE,
        "LEAST_OPENING": scaling.LEAST_OPENING,
        "LEAST_DELETION": scaling.LEAST_DELETION,
    },
    "double": {
        "TOP_EXPONENT": scaling.TOP_EXPONENT_64,
        "GAP_RANGE": scaling.GAP_RANGE_64,
        "DELETION_RANGE": scaling.DELETION_RANGE_64,
        "LEAST_OPENING": scaling.LEAST_OPENING_64,
        "LEAST_DELETION": scaling.LEAST_DELETION_64,
    },
}
"""Limits of the values that share an exponent, by the type that rows are computed in (`REALS`)."""


@dataclass(frozen=True, slots=True)
class KernelVariant:
    """A variant of a kernel of tiles, compiled for a shape and a model."""

    shape: Shape
    model: str  # `QUALITIES`, `ROWS`, `PROFILES` or `KINDS`
    # Probability that a deletion is extended, if it is one number for the batch. It is then part of an instruction,
    # which reads a register less. The scores are the same bits either way.
    extension: float | None
    kind: str = FAST  # `FAST`, `SCALED`, `TREES`, `TREE_ROWS` or `PDHMM`

    @property
    def name(self) -> str:
        """Name of the kernel in its source."""
        return f"forward_{FAST if self.kind == PDHMM else self.kind}"


PHREDS = HIGHEST_QUALITY + 1

TABLES = np.dtype(
    [
        ("log_unopened", "<f8", (PHREDS, PHREDS)),
        ("per_unopened", "<f8", (PHREDS, PHREDS)),
        ("log_best", "<f8", (2, PHREDS)),
        ("per_best", "<f8", (2, PHREDS)),
        ("ratio", "<f8", (2, PHREDS)),
        ("error", "<f8", (PHREDS,)),
        ("per_error", "<f8", (PHREDS,)),
        ("odds", "<f8", (PHREDS,)),
    ]
)
"""Layout of GATK's Phred tables. `Tables` in `cuda/forward/rows.cuh` says what each of them is."""

STRUCTS = {"Header": HEADER, "Kind": KIND, "Tables": TABLES}
TREE_STRUCTS = {**STRUCTS, "TreeTier": TREE_TIER}


def tables() -> NDArray[np.void]:
    """The Phred tables of GATK's model (`TABLES`), by the formulas of `pairhmm.models.gatk.rows`."""
    table = np.zeros(1, dtype=TABLES)
    error = ERROR[:PHREDS]
    right, wrong = 1 - error, error / 3
    best = np.array([np.maximum(right, wrong), right])
    with np.errstate(divide="ignore"):  # a quality of 0 leaves nothing that is right
        unopened = 1 - np.minimum(1, error[:, None] + error)
        table["log_unopened"], table["per_unopened"] = np.log10(unopened), 1 / unopened
        table["log_best"], table["per_best"] = np.log10(best), 1 / best
        table["odds"] = error / right
    table["ratio"] = np.array([np.minimum(right, wrong) / best[0], np.ones(PHREDS)])
    table["error"], table["per_error"] = error, 1 / error
    return table


def model_of(batch: PairBatch) -> tuple[str, float | None]:
    """`KernelVariant.model` and `KernelVariant.extension` of a batch."""
    if batch.qualities is not None:
        gap = batch.constant_qualities.get("gap_quality")
        return QUALITIES, None if gap is None else float(ERROR[gap])
    if batch.profiles is not None:
        return PROFILES if batch.profiles.kinds is None else KINDS, float(batch.profiles.shared_transitions[6])
    assert batch.rows is not None
    dd = batch.rows[:, 11]
    return ROWS, float(dd[0]) if len(dd) and dd.min() == dd.max() else None


def forward_source(variant: KernelVariant) -> str:
    """Text of `cuda/forward/fast.cu`, `scaled.cu`, `trees.cu` or `tree_rows.cu`, for one variant."""
    shape = variant.shape
    constants: dict[str, Constant] = {
        "K": shape.rows,
        "LETTERS": LETTERS_SCALED if variant.kind == SCALED else LETTERS,
        "PRECISION_FAST": FLOAT32,
        "PRECISION_SCALED": SCALED_FLOAT32,
        "PRECISION_NONE": UNSCORED,
        "SHARED_BYTES": forward_shared_bytes(variant),
    }
    if variant.kind == TREE_ROWS:
        constants |= {"ROWS_WARPS": ROWS_WARPS, "ROWS_BLOCKS": ROWS_BLOCKS}
    elif variant.kind == TREES:
        constants |= {
            "HALF_EXPONENT": scaling.HALF_EXPONENT,
            "LEAST_JOINED": scaling.LEAST_JOINED,
            "SLOT_BYTES": slot_bytes(shape.rows),
            "TALL": int(shape.tall),
            "RUN": RUN,
            "BLOCKS": resident_trees(shape.rows, variant.extension),
        }
    else:
        constants |= {
            "G": shape.lanes,
            "TALL": int(shape.tall),
            "PART": PART,
            "START_EXPONENT": scaling.START_EXPONENT,
            "LEAST_SUM": scaling.LEAST_SUM,
            "TASK_BYTES": TASK_BYTES,
        }
    if variant.kind == PDHMM:
        constants |= {
            "BLOCKS": resident_pdhmm(shape, variant.extension),
            "SLOT_BYTES": pdhmm_slot_bytes(shape.rows),
            "START_EXPONENT": scaling.SHARED_EXPONENT,
        }
    if variant.kind == SCALED:
        parts: tuple[str, ...] = ("strips.cuh", "scaling.cuh", "reads.cuh", "tiles.cuh", "scaled.cu")
    elif variant.kind in (FAST, PDHMM):
        lane = "letters.cuh" if variant.kind == FAST else "pdhmm.cuh"
        parts = ("strips.cuh", "reads.cuh", "tiles.cuh", "tasks.cuh", lane, "fast.cu")
    else:
        parts = ("reads.cuh", "tree_tasks.cuh", f"{variant.kind}.cu")
    return _source(constants, variant.model, variant.extension, "float", *parts)


def long_source(model: str, extension: float | None, real: str) -> str:
    """Text of `cuda/forward/long.cu` and `join.cu`. `real` is "float" or "double"; `KernelVariant` has the others."""
    constants: dict[str, Constant] = {
        "G": WARP,
        "K": LONG_ROWS[real],
        "LETTERS": LETTERS_SCALED,
        "BLOCK_COLUMNS": LONG_COLUMNS,
        "BORDER_BYTES": border_bytes(real),
        "UNREAD_COLUMNS": UNREAD_COLUMNS,
        "HALVES": HALVES,
        "LEAST_CUT": tiles.LEAST_CUT,
        "CROSSING_BYTES": crossing_bytes(real),
        "SHARED_BYTES": long_shared_bytes(real),
    }
    files = "strips.cuh", "backward.cuh", "scaling.cuh", "crossings.cuh", "long.cu", "join.cu"
    return _source(constants, model, extension, real, *files)


def forward_shared_bytes(variant: KernelVariant) -> int:
    """Bytes of dynamic shared memory of a block: emissions, and what fast.cu keeps beside them."""
    shape = variant.shape
    if variant.kind == TREE_ROWS:
        return 0
    if variant.kind == SCALED:
        return _emission_bytes(shape.rows, LETTERS_SCALED, "float")
    tasks = TASK_BYTES * reads_of(shape) if variant.kind in (FAST, PDHMM) else 0
    return _emission_bytes(shape.rows, LETTERS, "float") + tasks


def warps_of(kind: str) -> int:
    """Warps of a block."""
    return ROWS_WARPS if kind == TREE_ROWS else 1


def resident_trees(rows: int, extension: float | None) -> int:
    """Warps of trees.cu that a multiprocessor must hold at once. They bound the registers of a lane.

    With 12 warps a lane has 168 registers. 19 and 20 rows need a few more, which are spilled. An H200 is faster so than
    with 10 warps, which spill nothing. Rows that extend deletions each in their own way need a register more each.
    """
    return 12 if extension is not None or rows <= 17 else 8


def resident_pdhmm(shape: Shape, extension: float | None) -> int:
    """Warps of pdhmm.cuh that a multiprocessor must hold at once: as many as leave a lane the registers it needs."""
    return 12 if shape.rows + 4 * (extension is None) + 5 * shape.tall < 20 else 8


def pdhmm_slot_bytes(rows: int) -> int:
    """Bytes of a slot of pdhmm.cuh: one of trees.cu, and three states of each row before a deletion."""
    return slot_bytes(rows) + _emission_bytes(rows, 3, "float")


def slot_bytes(rows: int) -> int:
    """Bytes of a slot of trees.cu: S and D of a warp's rows, in fours, and four numbers for the sum."""
    return (2 * -(-rows // 4) + 1) * 4 * WARP * _size("float")


def made_bytes(rows: int, extension: float | None, strips: int) -> int:
    """Bytes that tree_rows.cu makes for an item: a task for each lane, and arrays of rows of each strip, in fours."""
    arrays = strips * (4 + (extension is None))
    return WARP * TASK_OF_LANE_BYTES + arrays * -(-rows // 4) * 4 * WARP * _size("float")


def scratch_places(rows: int, sizes: TreeSizes, strips: int) -> tuple[int, ...]:
    """Scratch memory of a block of trees.cu: its bytes, where its parts begin behind the stack, and bytes of some.

    The parts are leaves of left halves, joins, sums of right leaves, and the two borders between strips. The bytes at
    the end are those of a strip's leaves, of its joins, and of a border.
    """
    numbers = WARP * _size("float")
    leaves, joins = sizes.left_leaves * slot_bytes(rows), sizes.joins * numbers
    border = 2 * _size("float") * (sizes.nodes + 1) if strips > 1 else 0
    parts = [
        sizes.open_branches * slot_bytes(rows),
        strips * leaves,
        strips * joins,
        sizes.right_leaves * numbers,
        2 * border,
    ]
    *places, size = itertools.accumulate(parts)
    return -(-size // SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT, *places, leaves, joins, border


def long_shared_bytes(real: str) -> int:
    """Bytes of dynamic shared memory of a block of long.cu: emissions, and S and I of columns that enter."""
    return _emission_bytes(LONG_ROWS[real], LETTERS_SCALED, real) + (2 * WARP + LONG_COLUMNS) * 2 * _size(real)


def border_bytes(real: str) -> int:
    """Bytes of a column between two strips of long.cu: S and I. Every 4 bytes carry 4 of signature."""
    return 2 * 2 * _size(real)


def crossing_bytes(real: str) -> int:
    """Bytes of a `Crossing` of `cuda/forward/crossings.cuh`, of which each strip leaves one: two values a row."""
    return 32 + 4 * WARP + 2 * _size(real) * LONG_ROWS[real] * WARP


def between_bytes(widest: int) -> int:
    """Bytes that a work item of tall reads keeps between two strips in fast.cu: S and I of each column."""
    return STATE_BYTES * (widest + 2 * WARP)


def _emission_bytes(rows: int, letters: int, real: str) -> int:
    return _size(real) * letters * -(-rows // 4) * 4 * WARP


def _size(real: str) -> int:
    return np.dtype(REALS[real]).itemsize


def _source(constants: dict[str, Constant], model: str, extension: float | None, real: str, *parts: str) -> str:
    constants |= {
        model: 1,
        "REAL": real,
        "N_CODE": sequences.LETTERS.index("N"),
        "ROW_SIZE": ROW_SIZE,
        "PHREDS": PHREDS,
        "NO_EXPONENT": scaling.NO_EXPONENT,
        "VARYING": int(extension is None),
        **RANGES[real],
    }
    if extension is not None:
        constants["EXTEND_DELETION"] = float(REALS[real](extension))
    names = (f"forward/{name}" for name in ("rows.cuh", "lanes.cuh", *parts))
    return source(constants, *names, structs=TREE_STRUCTS if "tree_tasks.cuh" in parts else STRUCTS)
