"""The CUDA kernels as text: what is compiled for a shape and a model. No GPU and no CUDA library is needed here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import LETTERS, LETTERS_SCALED, WARP, Shape
from pairhmm.models.batch import FLOAT32, SCALED_FLOAT32, UNSCORED, PairBatch
from pairhmm.models.gatk import ERROR

OPTIONS = ("--std=c++17",)

TASK_BYTES = 32
"""Of `Task` in fast.cu."""

LONG_ROWS = 10
"""Rows of a lane in long.cu: at least the steps between the choice of an exponent and the next."""

LONG_COLUMNS = 8
"""Columns that are taken at once there: kRescaleSteps of cuda/forward/scaling.cuh."""

REAL_BYTES = {"float": 4, "double": 8}

QUALITIES, ROWS, PROFILES = 0, 1, 2
"""What a row is made from: MODEL of cuda/forward/rows.cuh."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What fast.cu is compiled for.

    Attributes
    ----------
    shape : Shape
    model : int
        `QUALITIES`, `ROWS` or `PROFILES`.
    extension : float or None
        Probability that a deletion is extended, where it is one number for the batch: an instruction that holds it
        reads a register less. The scores are the same bits either way.
    scaled : bool
        scaled.cu instead of fast.cu.
    """

    shape: Shape
    model: int
    extension: float | None
    scaled: bool = False


TABLES = np.dtype(
    [
        ("log_unopened", "<f8", (128, 128)),
        ("log_best", "<f8", (2, 128)),
        ("best", "<f8", (2, 128)),
        ("ratio", "<f8", (2, 128)),
        ("error", "<f8", (128,)),
    ]
)
"""`Tables` of cuda/forward/rows.cuh."""


def tables() -> NDArray[np.void]:
    """`TABLES` with GATK's Phred tables; the formulas are those of `pairhmm.models.gatk.rows`."""
    table = np.zeros(1, dtype=TABLES)
    error = ERROR[:128]
    right, wrong = 1 - error, error / 3
    best = np.array([np.maximum(right, wrong), right])
    with np.errstate(divide="ignore"):  # a quality of 0 leaves nothing that is right
        table["log_unopened"] = np.log10(1 - np.minimum(1, error[:, None] + error))
        table["log_best"] = np.log10(best)
    table["ratio"] = np.array([np.minimum(right, wrong) / best[0], np.ones(128)])
    table["best"], table["error"] = best, error
    return table


def model_of(batch: PairBatch) -> tuple[int, float | None]:
    """`Variant.model` and `Variant.extension` of a batch."""
    if batch.qualities is not None:
        gap = batch.constant_qualities.get("gap_quality")
        return QUALITIES, None if gap is None else float(ERROR[gap])
    if batch.profiles is not None:
        return PROFILES, float(batch.profiles.transitions[6])
    assert batch.rows is not None
    dd = batch.rows[:, 11]
    return ROWS, float(dd[0]) if len(dd) and dd.min() == dd.max() else None


def forward_source(variant: Variant) -> str:
    """Text of fast.cu, or scaled.cu, with everything that it includes, for one variant."""
    shape = variant.shape
    defines: dict[str, object] = {
        "G": shape.lanes,
        "K": shape.rows,
        "TALL": int(shape.tall),
        "LETTERS": LETTERS_SCALED if variant.scaled else LETTERS,
        "PRECISION_FAST": FLOAT32,
        "PRECISION_SCALED": SCALED_FLOAT32,
        "PRECISION_NONE": UNSCORED,
    }
    parts = ("scaling.cuh", "tiles.cuh", "scaled.cu") if variant.scaled else ("tiles.cuh", "fast.cu")
    return _source(defines | _model(variant.model, variant.extension), "rows.cuh", "lanes.cuh", *parts)


def long_source(model: int, extension: float | None, real: str) -> str:
    """Text of long.cu; `real` is "float" or "double", the rest as in `Variant`."""
    defines: dict[str, object] = {
        "G": WARP,
        "K": LONG_ROWS,
        "LETTERS": LETTERS_SCALED,
        "REAL": real,
        "ENTERING_COLUMNS": LONG_COLUMNS,
    }
    precision = np.float32 if real == "float" else np.float64
    return _source(
        defines | _model(model, extension, precision), "rows.cuh", "lanes.cuh", "scaling.cuh", "long.cu"
    )


def forward_shared_bytes(variant: Variant) -> int:
    """Dynamic shared memory of a block of fast.cu (emissions, and a `Task` a read) or of scaled.cu."""
    shape = variant.shape
    if variant.scaled:
        return _emission_bytes(shape.rows, LETTERS_SCALED)
    return _emission_bytes(shape.rows, LETTERS) + TASK_BYTES * shape.reads


def long_shared_bytes(real: str) -> int:
    """Dynamic shared memory of a block of long.cu: emissions, and what is passed on in a block of columns."""
    size = REAL_BYTES[real]
    return _emission_bytes(LONG_ROWS, LETTERS_SCALED) // 4 * size + (WARP + 2 * LONG_COLUMNS) * 2 * size


def border_bytes(real: str) -> int:
    """Of a column between two strips in long.cu: S, I and an exponent, four bytes at a time signed by four."""
    return 8 * (2 * REAL_BYTES[real] // 4 + 1)


def _emission_bytes(rows: int, letters: int) -> int:
    return 4 * letters * -(-rows // 4) * 4 * WARP


def _model(model: int, extension: float | None, real: type[np.floating] = np.float32) -> dict[str, object]:
    defines: dict[str, object] = {"MODEL": model, "VARYING": int(extension is None)}
    if extension is not None:
        defines["EXTEND_DELETION"] = float(real(extension)).hex()
    return defines


def _source(defines: dict[str, object], *names: str) -> str:
    lines = [f"#define {name} {value}" for name, value in defines.items()]
    folder = files("pairhmm") / "cuda" / "forward"
    for name in names:
        # Messages of the compiler name the file and its line.
        lines += [f'#line 1 "cuda/forward/{name}"', (folder / name).read_text()]
    return "\n".join(lines)
