"""The SIMD backend: `cpu/`, compiled for several instruction sets and chosen at run time."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.base import Backend, Status
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.models import profile
from pairhmm.models.batch import FLOAT32, FLOAT64, UNSCORED, PairBatch, Qualities, Scores
from pairhmm.models.gatk import ERROR
from pairhmm.models.profile import rows_of
from pairhmm.native import is_compiled, native, require_compiled

ISA_VARIABLE = "PAIRHMM_CPU"
"""The environment variable that forces an instruction set (ISA)."""


class CpuBackend(Backend):
    """Forward over the SIMD kernels of one instruction set."""

    name = "cpu"
    label = "cpu"

    def __init__(self, native: ModuleType, isa: str) -> None:
        self._native = native
        self.isa = isa

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        scores = np.full(batch.pairs, np.nan)
        self._native.forward(self.isa, self.native_batch(batch), skip_read.view(np.uint8), threads, scores)
        return _scores(scores, FLOAT32)

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        scores = np.full(len(pairs), np.nan)
        reads, haplotypes = batch.pair_indices(pairs)
        self._native.forward_pairs(self.isa, self.native_batch(batch), reads, haplotypes, threads, scores)
        return _scores(scores, FLOAT64)

    def computed_cells(self, batch: PairBatch) -> int:
        cells: int = self._native.computed_cells(self.native_batch(batch), self.longest_fast_read)
        return cells

    def native_batch(self, batch: PairBatch) -> Any:
        """The batch as the compiled part takes it."""
        native = self._native.Batch(
            batch.group_read,
            batch.group_haplotype,
            batch.group_pair,
            batch.read_offset,
            batch.haplotype_offset,
            np.ascontiguousarray(batch.haplotypes),
            None if batch.flags is None else np.ascontiguousarray(batch.flags),
            batch.start.match,
            batch.start.deletion,
        )
        if batch.qualities is not None:
            arrays = (getattr(batch.qualities, name) for name in Qualities.__dataclass_fields__)
            native.set_qualities(*(np.ascontiguousarray(values) for values in arrays), ERROR)
        elif batch.profiles is not None and batch.profiles.kinds is not None:
            kinds = np.ascontiguousarray(batch.profiles.kinds)
            native.set_profiles(profile.distinct_rows(batch.profiles).reshape(-1), kinds)
        else:
            native.set_rows(np.ascontiguousarray(rows_of(batch)).reshape(-1))
        return native


def _scores(log10: NDArray[np.float64], precision: int) -> Scores:
    return Scores(log10, np.where(np.isnan(log10), UNSCORED, precision).astype(np.uint8))


def instruction_sets() -> list[tuple[str, bool]]:
    """Instruction sets of this build, slowest first, and whether this machine has each. Empty if not compiled."""
    native = _native()
    return [] if native is None else native.levels()


def chosen_isa() -> str:
    """The instruction set in use: the fastest that this machine has, or the one that ``PAIRHMM_CPU`` names.

    Raises
    ------
    InputError
        Where ``PAIRHMM_CPU`` names a set that does not exist or that this machine does not have.
    BackendUnavailable
        Where the compiled part is missing, or this machine has none of the sets.
    """
    require_compiled("backend cpu")
    known = dict(instruction_sets())
    running = [name for name, runs in known.items() if runs]
    forced = os.environ.get(ISA_VARIABLE)
    if forced:
        if forced not in running:
            where = "machine" if forced in known else "build"
            why = f"this {where} has no such instruction set"
            raise InputError(ISA_VARIABLE, forced, why, f"unset it or use one of {', '.join(running)}")
        return forced
    if not running:
        raise BackendUnavailable(
            "cpu", f"this machine has none of {', '.join(known)}", "use --backend reference, or another machine"
        )
    return running[-1]


def status() -> Status:
    """Whether an instruction set runs here. A wrong ``PAIRHMM_CPU`` is an error: no other backend takes the work."""
    try:
        return Status(True, detail=chosen_isa())
    except BackendUnavailable as error:
        return Status(False, reason=error.reason, cure=error.cure)


def make() -> CpuBackend:
    native = _native()
    assert native is not None
    return CpuBackend(native, chosen_isa())


def _native() -> ModuleType | None:
    return native if is_compiled() else None
