"""Alignment on a WebGPU device, with wgpu. Scores are the device's; alignments, and GATK's rules, are the CPU's."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm import aligning
from pairhmm.aligning.base import Aligner
from pairhmm.aligning.batch import Alignments, SequencePairs
from pairhmm.aligning.scoring import Scoring
from pairhmm.aligning.webgpu_kernels import (
    MOST,
    PARAMS,
    RESULT,
    WIDTH,
    AlignVariant,
    largest_number,
    scoring_params,
    source,
)
from pairhmm.aligning.webgpu_plan import Dispatch, Plan, letters_of, planned
from pairhmm.backends.fastest import fastest_on_the_cpu
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.commands import grid, make_pipeline, record
from pairhmm.backends.webgpu.setup import Adapter, status, translated
from pairhmm.backends.webgpu.slot import WORD, Slot
from pairhmm.errors import DeviceLost

__all__ = ["WebgpuAligner", "make", "status"]

log = logging.getLogger(__name__)

MOST_CELLS = {"edit": 1 << 39, "linear": 1 << 36, "affine": 1 << 36}
"""Most cells of a submission to a discrete GPU, by the form of the scoring: what a fast one takes 50 ms for. Operating
systems abort submissions that take seconds."""

SLOWER = {"DiscreteGPU": 1, "IntegratedGPU": 32, "CPU": 512}
"""By how much submissions are smaller, by the kind of adapter. An unknown kind gets the value of an integrated GPU."""

MOST_BORDER = 1 << 28
"""Bytes that the borders of a dispatch take, unless one pair needs more."""

USED = "STORAGE|COPY_DST|COPY_SRC"
USAGES = dict.fromkeys(("letters", "pairs", "found", "border", "unknown"), USED) | {"staging": "MAP_READ|COPY_DST"}
"""Usage flags of the buffers of a call."""

BINDINGS = ("letters", "pairs", "found", "border", "unknown")
"""Buffers from binding 1 on. Binding 0 has the parameters; the last one is for letters among which there is N."""


class _Device:
    """A device, and whatever on it does not depend on a call."""

    def __init__(self, adapter: Adapter) -> None:
        self.handle = webgpu_setup.request_device(adapter)
        self.slower = SLOWER.get(adapter.kind, SLOWER["IntegratedGPU"])
        self.one_call = threading.Lock()
        self._pipelines: dict[AlignVariant, Any] = {}

    def compiled(self, variants: Sequence[AlignVariant]) -> dict[AlignVariant, Any]:
        """Pipelines of the variants. New ones are compiled in parallel."""
        new = [variant for variant in dict.fromkeys(variants) if variant not in self._pipelines]
        if new:
            with ThreadPoolExecutor(len(new)) as pool:
                self._pipelines.update(zip(new, pool.map(self._compile, new), strict=True))
        return self._pipelines

    def _compile(self, variant: AlignVariant) -> Any:
        return make_pipeline(self.handle, source(variant), variant.entry)


@cache
def _device(index: int) -> _Device:
    return _Device(webgpu_setup.adapters()[index])


class WebgpuAligner(Aligner):
    """Aligns on one WebGPU device.

    Parameters
    ----------
    number : int
        Index of the device.
    """

    def __init__(self, number: int) -> None:
        self.label = f"webgpu:{number}"
        self._shared = _device(number)
        self._device = self._shared.handle
        self._slot = Slot(self._device, self.label, USAGES)
        self._other: Aligner | None = None
        self._told: set[str] = set()

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32). `threads` pack letters.

        Raises
        ------
        OutOfDeviceMemory, DeviceLost
        """
        if scoring.mode == "gatk":
            return self._instead("GATK's rules").scores(pairs, scoring, threads)
        if not len(pairs):
            return np.zeros(0, dtype=np.int32)
        if scoring.form != "edit" and largest_number(scoring, _shorter(pairs)).max() > MOST[True]:
            return self._instead("scores beyond 32 bits").scores(pairs, scoring, threads)
        try:
            with self._shared.one_call, translated(self.label):
                return self._scores(pairs, scoring, threads)
        except DeviceLost:
            _device.cache_clear()
            raise

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, by the CPU."""
        return self._instead("alignments with CIGARs").alignments(pairs, scoring, threads)

    def _instead(self, what: str) -> Aligner:
        """The aligner of what has no kernel here. A message says so once."""
        if self._other is None:
            self._other = aligning.load(fastest_on_the_cpu(aligning.names()))
        if what not in self._told:
            self._told.add(what)
            log.warning("%s: it has no kernel for %s; %s computes them", self.label, what, self._other.label)
        return self._other

    def _scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        letters = letters_of(pairs, threads)
        self._slot.begin_call()
        limit = int(self._device.limits["max-storage-buffer-binding-size"])
        most_cells = MOST_CELLS[scoring.form] // self._shared.slower
        plan = planned(pairs, letters, scoring, most_cells, min(MOST_BORDER, limit) // WORD)
        self._slot.upload("letters", letters.words)
        if letters.unknown is not None:
            self._slot.upload("unknown", letters.unknown)
        self._slot.upload("pairs", plan.pairs)
        self._slot.make_room("border", WORD * max(dispatch.border for dispatch in plan.dispatches))
        size = RESULT.dtype.itemsize * len(plan.pairs)
        self._slot.make_room("found", size)
        self._slot.make_room("staging", size)
        self._submit(plan, scoring, size)
        found = self._downloaded(size)
        scores = np.empty(len(pairs), dtype=np.int32)
        scores[plan.place] = found["best" if scoring.mode == "semi-global" else "last"]
        return scores

    def _submit(self, plan: Plan, scoring: Scoring, size: int) -> None:
        """Submit the dispatches, one after the other; the last one's submission copies the results for the host."""
        pipelines = self._shared.compiled([dispatch.variant for dispatch in plan.dispatches])
        of_scoring = scoring_params(scoring)
        for dispatch in plan.dispatches:
            encoder = self._device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            workgroups = grid(-(-dispatch.items // WIDTH))
            record(self._device, compute, pipelines[dispatch.variant], self._bound(dispatch, of_scoring), workgroups)
            compute.end()
            if dispatch is plan.dispatches[-1]:
                encoder.copy_buffer_to_buffer(self._slot["found"], 0, self._slot["staging"], 0, size)
            self._device.queue.submit([encoder.finish()])

    def _bound(self, dispatch: Dispatch, of_scoring: dict[str, int]) -> dict[int, Any]:
        """The buffers of a dispatch, by binding."""
        params = PARAMS.values(
            {
                "first_pair": dispatch.first_pair,
                "items": dispatch.items,
                "stride": dispatch.items,
                "first_row": dispatch.first_row,
                "end_row": dispatch.end_row,
                **of_scoring,
            }
        )
        names = BINDINGS if dispatch.variant.unknown else BINDINGS[:-1]
        bound = {1 + at: self._slot[name] for at, name in enumerate(names)}
        bound[0] = self._device.create_buffer_with_data(data=params, usage="UNIFORM")
        return bound

    def _downloaded(self, size: int) -> NDArray[np.void]:
        staging = self._slot["staging"]
        staging.map_async("READ_NOSYNC", 0, size).sync_wait()
        try:
            return np.frombuffer(staging.read_mapped(0, size, copy=True), dtype=RESULT.dtype)
        finally:
            staging.unmap()


def _shorter(pairs: SequencePairs) -> NDArray[np.int64]:
    """Length of each pair's shorter sequence."""
    return np.minimum(pairs.queries.lengths[pairs.query_index], pairs.targets.lengths[pairs.target_index])


def make(device: int = 0) -> WebgpuAligner:
    """An aligner on a WebGPU device.

    Raises
    ------
    BackendUnavailable
    """
    with webgpu_setup.starting(f"webgpu:{device}"):
        return WebgpuAligner(device)
