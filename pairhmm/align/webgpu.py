"""Alignment on a WebGPU device, with wgpu. The device computes scores; the CPU computes alignments and GATK's mode."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import ALIGNERS, Aligner, Alignments, SequencePairs
from pairhmm.align.scoring import Scoring
from pairhmm.align.webgpu_kernels import MOST, RESULT, WIDTH, largest_number, letters_of, plane_steps, planned, source
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.pair_kernels import USAGES, pair_device
from pairhmm.backends.webgpu.slot import WORD, Slot
from pairhmm.engine.tools import Fallback
from pairhmm.errors import OutOfDeviceMemory

MOST_CELLS = {"edit": 1 << 39, "linear": 1 << 36, "affine": 1 << 36}
"""Most cells of a submission to a discrete GPU, by the form of the scoring: what a fast one takes 7 to 30 ms for."""


class WebgpuAligner(Aligner):
    """Aligns on one WebGPU device."""

    def __init__(self, number: int) -> None:
        self.label = f"webgpu:{number}"
        self._shared = pair_device(number)
        self._slot = Slot(self._shared.handle, self.label, USAGES)
        self._fallback = Fallback(ALIGNERS, self.label)

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32). All cores pack letters.

        Raises OutOfDeviceMemory, DeviceLost.
        """
        if scoring.mode == "gatk":
            return self._fallback.of("GATK's rules").scores(pairs, scoring, threads)
        if not len(pairs):
            return np.zeros(0, dtype=np.int32)
        if _is_beyond_32_bits(pairs, scoring):
            return self._fallback.of("scores beyond 32 bits").scores(pairs, scoring, threads)
        try:
            with self._shared.in_use(self.label):
                return self._scores(pairs, scoring)
        except OutOfDeviceMemory:
            # A smaller call needs less of some buffers, and may need as much of others.
            self._slot.release()
            raise

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, by the CPU."""
        return self._fallback.of("alignments with CIGARs").alignments(pairs, scoring, threads)

    def _scores(self, pairs: SequencePairs, scoring: Scoring) -> NDArray[np.int32]:
        letters = letters_of(pairs)
        self._slot.begin_call()
        most_cells = MOST_CELLS[scoring.form] // self._shared.slower
        plan = planned(pairs, letters, scoring, most_cells, self._shared.most_border // WORD)
        self._slot.upload("given", letters.words)
        if letters.unknown is not None:
            self._slot.upload("more", letters.unknown)
        self._slot.upload("pairs", plan.pairs)
        self._slot.make_room("border", WORD * plan.border)
        size = RESULT.dtype.itemsize * len(plan.pairs)
        self._slot.make_room("found", size)
        self._shared.compile([dispatch.variant for dispatch in plan.dispatches], source)
        results = self._shared.run(self._slot, plan.dispatches, WIDTH, size).view(RESULT.dtype)
        ordered = results["best" if scoring.mode == "semi-global" else "last"]
        scores = np.empty(len(pairs), dtype=np.int32)
        scores[slice(None) if plan.place is None else plan.place] = ordered
        return scores


def _is_beyond_32_bits(pairs: SequencePairs, scoring: Scoring) -> bool:
    """Whether whole scores are needed, and may be too large for integers."""
    if scoring.form == "edit" or plane_steps(scoring) is not None:
        return False
    shorter = np.minimum(pairs.queries.lengths[pairs.query_index], pairs.targets.lengths[pairs.target_index])
    return bool(largest_number(scoring, shorter).max() > MOST[True])


def make(device: int = 0) -> WebgpuAligner:
    """An aligner on a WebGPU device. Raises BackendUnavailable."""
    with webgpu_setup.starting(f"webgpu:{device}"):
        return WebgpuAligner(device)
