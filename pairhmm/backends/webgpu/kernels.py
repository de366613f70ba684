"""The WebGPU kernels as text: what is compiled for a shape, a model and a device. No GPU library is needed here.

What comes out is WGSL for any host. A browser wants `SUBGROUPS` before a text that shuffles; wgpu knows without.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import LETTERS, LETTERS_SCALED, Shape
from pairhmm.backends.webgpu import templates as wgsl
from pairhmm.backends.webgpu.strips import BLOCKS, LEAD_BLOCKS, passing_entries, rescale_steps
from pairhmm.models.batch import PairBatch
from pairhmm.models.gatk import ERROR

FILES = {
    "forward": "forward",
    "forward_tall": "tall",
    "forward_scaled": "scaled",
    "forward_long_rows": "long_rows",
    "forward_long": "long",
}
"""Entry points, and the files of shaders/forward/ that have them."""

SUBGROUPS = "enable subgroups;\n"

PART, SOFTWARE_PART = 12, 4
"""Columns of an iteration of forward.wgsl's loop, multiples of 4: on a GPU, and where compiling many takes seconds."""

COARSE, FINE = 16, 32
"""The logarithm of what a read's scores are relative to comes back in two parts, in units of 2^-16 and 2^-32."""


NOT_KEPT = 0x7FFFFFFF
"""In place of the coarse part, where a driver gave forward/forward.wgsl other subgroups than were measured; and"""

UNORDERED = 4
"""the same among what forward/long.wgsl finds unfit of a strip."""

UNFINISHED = 8
"""Beside it, in a strip that is not done."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What a kernel is compiled for.

    Attributes
    ----------
    kernel : {"forward", "forward_tall", "forward_scaled", "forward_long_rows", "forward_long"}
        An entry point (`FILES`).
    shape : Shape
    width : int
        Invocations of a workgroup.
    shuffles : bool
        Lanes hand values on by a subgroup's shuffles, and not through workgroup memory.
    rows : {"qualities", "profiles", "folded"}
        What rows are made from: a file of shaders/forward/.
    extension : float or None
        Probability that a deletion is extended, where it is one number for the batch: a register less for each row. The
        scores are the same bits either way.
    rescuer_reads : int
        Of forward/forward.wgsl: reads that share a workgroup of the forward/scaled.wgsl that rescues its pairs.
    segment : int
        Of forward/long.wgsl and forward/long_rows.wgsl: lanes that hand values on, one to the next.
    part : int
        Of forward/forward.wgsl and forward/tall.wgsl: columns of a loop's iteration.
    """

    kernel: str
    shape: Shape
    width: int
    shuffles: bool
    rows: str
    extension: float | None
    rescuer_reads: int = 1
    segment: int = 0
    part: int = PART


def extension_of(batch: PairBatch) -> float | None:
    """`Variant.extension` of a batch."""
    if batch.qualities is not None:
        gap = batch.constant_qualities.get("gap_quality")
        return None if gap is None else float(ERROR[gap])
    if batch.profiles is not None:
        return float(batch.profiles.transitions[6])
    assert batch.rows is not None
    dd = batch.rows[:, 11]
    return float(dd[0]) if len(dd) and dd.min() == dd.max() else None


def rows_of(batch: PairBatch) -> str:
    """`Variant.rows` of a batch."""
    return "folded" if batch.rows is not None else "qualities" if batch.qualities is not None else "profiles"


def source(variant: Variant) -> str:
    """WGSL of a kernel with all its parts, for one variant."""
    lanes, rows = variant.shape.lanes, variant.shape.rows
    is_long = variant.kernel.startswith("forward_long")
    is_scaled = is_long or variant.kernel == "forward_scaled"
    segment = variant.segment or lanes
    steps = rescale_steps(rows)
    reach = min(steps, segment)  # lanes that an insertion passes until the next rescaling, at most
    constants = {
        "G": lanes,
        "K": rows,
        "W": variant.width,
        "EMITTED": LETTERS,
        "LETTERS": LETTERS_SCALED if is_scaled else LETTERS,
        "QUADS": -(-rows // 4),
        # Compilers address arrays whose size is a power of two in more steps.
        "STORED_ROWS": rows + (rows % 8 == 0 and not is_scaled),
        "RESCUER_READS": variant.rescuer_reads,
        "PART": variant.part,
        "PART_WORDS": variant.part // 4,
        "RESCALE_STEPS": steps,
        "ENTERING_COLUMNS": steps if is_long else 0,
        "SEGMENT": segment,
        "REACH": reach,
        "BLOCKS": BLOCKS,
        "LEAD_BLOCKS": LEAD_BLOCKS,
        "PASSING_ENTRIES": passing_entries(segment),
    }
    switches = {
        "SHUFFLES": int(variant.shuffles),
        "VARYING": int(variant.extension is None),
        "SCALED": int(is_scaled),
    }
    names = ["tiles", "emissions"]
    if variant.kernel != "forward_long_rows":
        names.append("pass_shuffles" if variant.shuffles else "pass_memory")
    if variant.kernel != "forward_long":
        names += ["lanes", "pairs", f"rows_{variant.rows}"]
    names += ["scaling" if is_scaled else "sums"] + ["strips"] * is_long + [FILES[variant.kernel]]
    lines = [f"const {name} = {value}u;" for name, value in constants.items()]
    if variant.extension is not None:
        lines.append(f"const EXTEND_DELETION = {float(np.float32(variant.extension)).hex()}f;")
    parts = (wgsl.expand(f"forward/{name}.wgsl", _read, constants | switches) for name in names)
    return "\n".join(lines) + "\n" + "".join(parts)


def subgroups_source(width: int) -> str:
    """WGSL of subgroups.wgsl for workgroups of that many invocations."""
    return f"const W = {width}u;\n" + _read("forward/subgroups.wgsl")


def tables() -> NDArray[np.uint32]:
    """uint32[entries, 4]: Phred tables as rows_qualities.wgsl has them; the formulas are `pairhmm.models.gatk.rows`."""
    error = ERROR[:128]
    right, wrong = 1 - error, error / 3
    best = np.array([np.maximum(right, wrong), right])
    ratio = np.array([np.minimum(right, wrong) / best[0], np.ones(128)])
    unopened = 1 - np.minimum(1, error[:, None] + error)
    likelier = np.array([wrong > right, wrong > right])
    return np.concatenate(
        [
            np.hstack([_fixed_log10(unopened), _pairs_of_inverse(unopened)]),
            np.hstack([_fixed_log10(best), _pairs_of_inverse(best)]),
            np.hstack([pairs_of(error), pairs_of(1 / error)]),
            np.stack([_bits(ratio), likelier.reshape(-1).astype(np.uint32), *np.zeros((2, 256), np.uint32)], axis=1),
        ]
    )


def _fixed_log10(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """uint32[n, 2]: log10 in units of 2^-COARSE, and in units of 2^-FINE what is above that; 0 for values of zero."""
    fixed = np.rint(np.log10(np.where(values > 0, values, 1.0)) * 2.0**FINE).astype(np.int64).reshape(-1)
    bits = FINE - COARSE
    coarse, fine = fixed >> bits, fixed & ((1 << bits) - 1)
    return np.stack([coarse.astype(np.int32).view(np.uint32), fine.astype(np.uint32)], axis=1)


def _pairs_of_inverse(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """uint32[n, 2]: 1 / value as a pair, zeros for values of zero."""
    positive = values > 0
    return pairs_of(np.where(positive, 1 / np.where(positive, values, 1.0), 0.0))


def pairs_of(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """uint32[n, 2]: the float32 next to each value, and what it lacks (shaders/forward/pairs.wgsl)."""
    near = values.astype(np.float32)
    return np.stack([_bits(near), _bits(values - near)], axis=1)


def _bits(values: NDArray[np.floating]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(values, dtype=np.float32).reshape(-1).view(np.uint32)


@cache
def _read(name: str) -> str:
    return (files("pairhmm") / "shaders" / name).read_text()
