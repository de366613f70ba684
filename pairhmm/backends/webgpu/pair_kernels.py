"""Runs kernels of which each invocation has a pair, on a WebGPU device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.commands import grid, make_pipeline, record
from pairhmm.backends.webgpu.setup import Adapter
from pairhmm.backends.webgpu.slot import Slot

SLOWER = {"DiscreteGPU": 1, "IntegratedGPU": 32, "CPU": 512}
"""By how much submissions are smaller, by the kind of adapter. An unknown kind gets the value of an integrated GPU.
Operating systems abort submissions that take seconds."""

MOST_BORDER = 1 << 28
"""Bytes that the borders of a dispatch take, unless one pair needs more."""

USED = "STORAGE|COPY_DST|COPY_SRC"
USAGES = dict.fromkeys(("given", "more", "pairs", "found", "border"), USED) | {"staging": "MAP_READ|COPY_DST"}
"""Usage flags of the buffers of a call."""

BINDINGS = ("given", "pairs", "found", "border", "more")
"""Buffers from binding 1 on. Binding 0 has the parameters of a dispatch. Not all kernels have the last one."""


Variant = TypeVar("Variant", bound=Hashable)


class PairDispatch(NamedTuple):
    """A dispatch: its variant, which `PairDevice.compile` has compiled, its parameters, invocations and bindings."""

    variant: Hashable
    params: NDArray[np.void]
    items: int
    bindings: tuple[str, ...]


class PairDevice:
    """A device with its pipelines.

    Attributes
    ----------
    handle : GPUDevice
    slower : int
        As `SLOWER`.
    one_call : Lock
        Whoever uses the device holds it.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.handle = webgpu_setup.request_device(adapter)
        self.slower = SLOWER.get(adapter.kind, SLOWER["IntegratedGPU"])
        self.one_call = threading.Lock()
        self._pipelines: dict[Hashable, Any] = {}

    @property
    def most_border(self) -> int:
        """`MOST_BORDER`, or less on a device that has no buffers of that size."""
        return min(MOST_BORDER, int(self.handle.limits["max-storage-buffer-binding-size"]))

    def compile(self, variants: Iterable[Variant], source: Callable[[Variant], tuple[str, str]]) -> None:
        """Compile new variants in parallel; `source` gives the text of each, and its entry point."""
        new = [variant for variant in dict.fromkeys(variants) if variant not in self._pipelines]
        if new:
            with ThreadPoolExecutor(len(new)) as pool:
                made = pool.map(lambda variant: make_pipeline(self.handle, *source(variant)), new)
                self._pipelines.update(zip(new, made, strict=True))

    def pipeline(self, variant: Hashable) -> Any:
        """The pipeline of a variant that `compile` has compiled."""
        return self._pipelines[variant]

    def run(self, slot: Slot, dispatches: Sequence[PairDispatch], width: int, size: int) -> NDArray[np.uint8]:
        """Submit dispatches one after the other, and return `size` bytes of "found".

        The last submission copies them, so that nothing is submitted after a long wait.
        """
        staging = slot.make_room("staging", size)
        for number, dispatch in enumerate(dispatches):
            bound = {1 + at: slot[name] for at, name in enumerate(dispatch.bindings)}
            bound[0] = self.handle.create_buffer_with_data(data=dispatch.params, usage="UNIFORM")
            encoder = self.handle.create_command_encoder()
            compute = encoder.begin_compute_pass()
            workgroups = grid(-(-dispatch.items // width))
            record(self.handle, compute, self._pipelines[dispatch.variant], bound, workgroups)
            compute.end()
            if number == len(dispatches) - 1:
                encoder.copy_buffer_to_buffer(slot["found"], 0, staging, 0, size)
            self.handle.queue.submit([encoder.finish()])
        staging.map_async("READ_NOSYNC", 0, size).sync_wait()
        try:
            return np.frombuffer(staging.read_mapped(0, size, copy=True), dtype=np.uint8)
        finally:
            staging.unmap()


@cache
def pair_device(index: int) -> PairDevice:
    """The device of an adapter, which all calls share."""
    return PairDevice(webgpu_setup.adapters()[index])
