"""Embeds samples on a CUDA device: runs the kernels of `cuda/map/` through CuPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import translated
from pairhmm.backends.cuda.slot import ForwardSlot
from pairhmm.backends.tiles import Plan
from pairhmm.map.device import DeviceEmbedder, SlotSums, values_of
from pairhmm.map.sketch import published
from pairhmm.map.sketch.published import SLOTS
from pairhmm.map.tokens import Neighbours, TokenSets

WARPS = 8
"""Warps of a block of the kernels that sketch."""

BLOCKS = 3
"""Blocks of such a kernel that a multiprocessor holds, which bound its registers. Warps take samples in turns."""

MOST_EACH = 32
"""Most samples that a warp takes in a turn: a lane reads the offsets of one."""

BLEND_THREADS = 256
"""Threads of a block of place_blend."""

MOST_WORDS = 1 << 28
"""Words of the largest chunk. Offsets on the device are 32-bit words."""

BYTES_OF_WORD = 32
"""Bytes of free memory for each word of a chunk: two chunks, their results and positions."""

SUM_BYTES, POSITION_BYTES = 8, 8
"""Bytes of a sum (uint64) and of a position (two float32)."""

SUMS = 1 + 3 * SLOTS
"""Sums of a chunk: `sums` of `cuda/map/place.cu`."""

KERNELS = ("signatures", "columns", "project")


def sources_of_kernels() -> dict[str, str]:
    """Text of the kernels that sketch, and of the one that blends."""
    constants: dict[str, sources.Constant] = {
        "PRIME": published.PRIME,
        "SLOTS": SLOTS,
        "FEW": published.LEAST_FOR_ONE_PERMUTATION,
        "WARPS": WARPS,
        "BLOCKS": BLOCKS,
    }
    return {
        "sketch": sources.source(constants, "map/place.cuh", "map/place.cu"),
        "blend": sources.source({"THREADS": BLEND_THREADS}, "map/place_blend.cu"),
    }


@dataclass(frozen=True, slots=True)
class CudaChunk:
    """A chunk on the device."""

    slot: ForwardSlot
    arguments: tuple[Any, ...]  # the first ones of the kernels that sketch: its tokens, offsets and so on
    samples: int
    blocks: int


class CudaSketcher:
    """Runs the kernels of the map on one CUDA device."""

    def __init__(self, device: int) -> None:
        import cupy

        self._cupy = cupy
        self.label = f"cuda:{device}"
        self.row_words = 1  # an offset
        self._device = cupy.cuda.Device(device)
        self._timed: list[tuple[Any, Any]] | None = None
        with self._device:
            self._multiprocessors = int(cupy.cuda.runtime.getDeviceProperties(device)["multiProcessorCount"])
            self.most_words = min(MOST_WORDS, self._device.mem_info[0] // BYTES_OF_WORD)
            self._slots = [ForwardSlot(cupy, self.label, None) for _ in range(2)]
            doubled = 2 * np.stack([published.FACTORS, published.SUMMANDS], axis=1).astype(np.uint32)
            self._functions = cupy.asarray(doubled)
            texts = sources_of_kernels()
            self._kernels = {name: sources.compiled(cupy, texts["sketch"], f"place_{name}") for name in KERNELS}
            self._kernels["blend"] = sources.compiled(cupy, texts["blend"], "place_blend")
            # The functions were sent on another stream.
            self._device.synchronize()

    def signatures(self, chunk: TokenSets, out: NDArray[np.uint32]) -> None:
        begun = self.begin(chunk, False)
        with self._using(begun.slot) as slot:
            buffer = slot.device("out", out.nbytes)
            self._sketch("signatures", begun, int(buffer.ptr))
            slot.download("out", out.reshape(-1).view(np.uint8))

    def begin(self, chunk: TokenSets, is_summed: bool) -> CudaChunk:
        slot = self._slots[0]
        self._slots.reverse()
        with self._using(slot):
            slot.stream.synchronize()  # what was sent from the same pinned memory has arrived
            slot.begin_call()
            values_at, offsets_at = self._send(slot, chunk)
            samples = len(chunk)
            most = self._multiprocessors * BLOCKS * WARPS
            each = max(1, min(MOST_EACH, samples // most))
            blocks = min(self._multiprocessors * BLOCKS, -(-samples // (each * WARPS)))
            arguments = (values_at, offsets_at, np.uint32(samples), np.uint32(each), self._functions.data.ptr)
            begun = CudaChunk(slot, arguments, samples, blocks)
            if is_summed:
                self._sketch("columns", begun, slot.zeros("sums", SUM_BYTES * SUMS))
        return begun

    def sums(self, begun: CudaChunk) -> SlotSums:
        with self._using(begun.slot) as slot:
            size = SUM_BYTES * SUMS
            samples, *sums = slot.download("sums", slot.pinned("sums", size)[:size]).view(np.uint64).tolist()
        values, low, high = np.array(sums, dtype=object).reshape(3, SLOTS)
        return SlotSums(samples, values, low + high * 2**32)

    def project(self, begun: CudaChunk, form: NDArray[np.uint32], out: NDArray[np.float32]) -> None:
        with self._using(begun.slot) as slot:
            at = slot.upload("form", form.reshape(-1).view(np.uint8))
            buffer = slot.device("out", POSITION_BYTES * begun.samples)
            self._sketch("project", begun, at, int(buffer.ptr))
            _copy_out(slot, out)

    def blended(
        self, start: NDArray[np.float32], chunks: Sequence[Neighbours], alpha: float, passes: int
    ) -> NDArray[np.float32]:
        slot = self._slots[0]
        with self._using(slot):
            slot.stream.synchronize()
            slot.begin_call()
            size = POSITION_BYTES * len(start)
            started = slot.upload("start", np.ascontiguousarray(start, dtype=np.float32).reshape(-1).view(np.uint8))
            before, names = started, ["odd", "out"]
            sent = None
            for _ in range(passes):
                names.reverse()
                after, first = int(slot.device(names[0], size).ptr), 0
                for chunk in chunks:
                    if len(chunks) > 1:
                        slot.stream.synchronize()
                    if len(chunks) > 1 or sent is None:
                        sent = self._send(slot, chunk)
                    rows = np.uint32(first), np.uint32(len(chunk))
                    arguments = (*sent, *rows, np.float32(alpha), started, before, after)
                    self._launch("blend", -(-len(chunk) // BLEND_THREADS), BLEND_THREADS, arguments, slot)
                    first += len(chunk)
                before = after
            positions = np.empty_like(start, dtype=np.float32)
            if not passes:
                positions[:] = start
            else:
                slot.download(names[0], positions.reshape(-1).view(np.uint8))
        return positions

    def release(self) -> None:
        with self._device:
            for slot in self._slots:
                slot.release()

    @contextmanager
    def timing(self) -> Iterator[list[float]]:
        """Make a list that has, once the context ends, the seconds of each kernel that was launched in it."""
        seconds: list[float] = []
        self._timed = []
        try:
            yield seconds
            with translated(self.label), self._device:
                for begin, end in self._timed:
                    end.synchronize()
                    seconds.append(self._cupy.cuda.get_elapsed_time(begin, end) / 1000)
        finally:
            self._timed = None

    @contextmanager
    def _using(self, slot: ForwardSlot) -> Iterator[ForwardSlot]:
        with translated(self.label), self._device, slot.stream:
            yield slot

    def _send(self, slot: ForwardSlot, rows: TokenSets | Neighbours) -> tuple[int, int]:
        """Begin to send the values and offsets of rows; returns their addresses."""
        plan = Plan()
        values_at = plan.add(values_of(rows))
        offsets_at = plan.add_offsets(np.ascontiguousarray(rows.offsets, dtype=np.int64))
        plan.send(slot)
        return slot.base + values_at, slot.base + offsets_at

    def _sketch(self, name: str, begun: CudaChunk, *arguments: int) -> None:
        self._launch(name, begun.blocks, 32 * WARPS, (*begun.arguments, *arguments), begun.slot)

    def _launch(self, name: str, blocks: int, threads: int, arguments: tuple[Any, ...], slot: ForwardSlot) -> None:
        if self._timed is None:
            self._kernels[name]((blocks,), (threads,), arguments)
            return
        begin, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
        self._device.synchronize()  # a kernel that shared the device with another one's would seem slow
        begin.record(slot.stream)
        self._kernels[name]((blocks,), (threads,), arguments)
        end.record(slot.stream)
        self._timed.append((begin, end))


def _copy_out(slot: ForwardSlot, out: NDArray[np.float32]) -> None:
    """Fill an array of the caller from the buffer "out", by way of pinned memory."""
    size = out.nbytes
    out.reshape(-1).view(np.uint8)[:] = slot.download("out", slot.pinned("out", size)[:size])


def make(device: int = 0) -> DeviceEmbedder:
    """An embedder on a CUDA device. Raises BackendUnavailable."""
    with cuda_setup.starting(device):
        return DeviceEmbedder(CudaSketcher(device))
