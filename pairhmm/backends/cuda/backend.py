"""CUDA through CuPy: the kernels of cuda/, compiled for the device that is there."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import kernels as cuda_kernels
from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda.kernels import LONG_ROWS, Variant
from pairhmm.backends.cuda.setup import status, translated
from pairhmm.backends.tiles import RESCUERS, WARP, Packed, Shape, pack, pack_pairs, rescuer_of, runs_within
from pairhmm.compiled import native
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.genomics.arrays import offsets
from pairhmm.models.batch import FLOAT64, SCALED_FLOAT32, UNSCORED, PairBatch, Scores

__all__ = ["CudaBackend", "make", "status"]

LONGEST_TILE = 2048
"""Bases. Longer reads are for long.cu; float32 without exponents holds a relative 1e-6 up to here."""

RESIDENT_WARPS = 2048
"""Warps of a kernel whose blocks take their work themselves: enough for any device."""

KEPT_AT = 8
"""Bytes before what the strips of each pair pass on to each other: the number of the next item."""

BORDER_SHARE = 4
"""One part in this many of a call's memory may be borders of long pairs."""

SCORE_COPIERS = 4
"""Threads that copy a call's scores out of the memory that the device writes."""

SIDE_STREAMS = 8
"""Kernels of a call that may run at once: each shape of tile is a kernel, and few tiles do not fill a device."""


class _Slot:
    """What one call at a time owns: a stream, and buffers on both sides that grow as they must."""

    def __init__(self, cupy: Any, label: str, memory: int | None) -> None:
        self._cupy, self._label, self._memory = cupy, label, memory
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.beside = ThreadPoolExecutor(1)
        self._sides = [cupy.cuda.Stream(non_blocking=True) for _ in range(SIDE_STREAMS)]
        self._pinned: dict[str, NDArray[np.uint8]] = {}
        self._device: dict[str, tuple[Any, int]] = {}

    def pinned(self, name: str, size: int) -> NDArray[np.uint8]:
        """Host memory that copies run from and to without a stop; what it held is lost when it grows."""
        held = self._pinned.get(name)
        if held is None or len(held) < size:
            self._pinned.pop(name, None)
            grown = size + size // 4
            held = np.frombuffer(self._cupy.cuda.alloc_pinned_memory(grown), np.uint8, grown)
            self._pinned[name] = held
        return held

    def device(self, name: str, size: int) -> Any:
        """Device memory; what it held is lost when it grows."""
        held, room = self._device.get(name, (None, -1))
        if room < size:
            self._device.pop(name, None)
            others = sum(taken for _, taken in self._device.values())
            if self._memory is not None and others + size > self._memory:
                raise OutOfDeviceMemory(f"{self._label}: {others + size} bytes are over the budget of a call")
            held = self._cupy.cuda.alloc(size)
            self._device[name] = held, size
        return held

    @contextmanager
    def side_by_side(self, count: int) -> Iterator[Iterator[Any]]:
        """Streams for `count` kernels that may run at once: after what this stream did, before what it does next."""
        if count == 1:
            yield itertools.repeat(self.stream)
            return
        sides = self._sides[:count]
        before = self.stream.record()
        for side in sides:
            side.wait_event(before)
        yield itertools.cycle(sides)
        for side in sides:
            self.stream.wait_event(side.record())

    def begin(self, size: int) -> NDArray[np.uint8]:
        self.device("in", size)
        return self.pinned("in", size)

    def send(self, first: int, end: int) -> None:
        there, _ = self._device["in"]
        (there + first).copy_from_host_async(self._pinned["in"].ctypes.data + first, end - first, self.stream)

    @property
    def base(self) -> int:
        """Address of what was sent."""
        return int(self._device["in"][0].ptr)

    def zeros(self, name: str, size: int) -> int:
        there = self.device(name, size)
        there.memset_async(0, size, self.stream)
        return int(there.ptr)

    def download(self, name: str, size: int) -> NDArray[np.uint8]:
        """Bytes of a device buffer, once everything before is done; overwritten by the next call of this slot."""
        host = self.pinned("out", size)
        self.device(name, size).copy_to_host_async(host.ctypes.data, size, self.stream)
        self.stream.synchronize()
        return host[:size]


class CudaBackend:
    """Forward on one CUDA device.

    Parameters
    ----------
    device : int
        Its index.
    memory : int or None
        Bytes of it that all calls together may use; what is free without it.
    """

    name = "cuda"
    concurrency = 4
    chunk_cells = 17_000_000_000
    first_chunk_cells = 8_500_000_000
    longest_fast_read = LONGEST_TILE

    def __init__(self, device: int, memory: int | None) -> None:
        import cupy

        self._cupy = cupy
        self.label = f"{self.name}:{device}"
        self._device = cupy.cuda.Device(device)
        self._memory = memory
        self._kernels: dict[tuple[int, float | None], dict[tuple[Shape, bool], tuple[Any, int]]] = {}
        self._long_kernels: dict[tuple[int, float | None, str], Any] = {}
        self._preparing = threading.Lock()
        # The last one back is the first one out: its buffers have grown already.
        self._slots: queue.LifoQueue[_Slot] = queue.LifoQueue()
        with self._device:
            self._tables = cupy.asarray(cuda_kernels.tables().view(np.uint8))
            for _ in range(self.concurrency):
                self._slots.put(_Slot(cupy, self.label, None if memory is None else memory // self.concurrency))

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        with self._slot() as slot:
            # One call at a time: two that prepare at once would only wait for each other's turns of the interpreter.
            with self._preparing:
                packed = self._upload(slot, batch, skip_read)
                self._launch(slot, packed, batch)
            # While the device computes: what the scores are copied to has its pages then.
            scores = Scores.none(packed.pairs)
            out = slot.download("out", 9 * packed.pairs)
            native.copy_all(scores.log10.view(np.uint8), [0], [out[: 8 * packed.pairs]], SCORE_COPIERS)
            scores.precision[:] = out[8 * packed.pairs :]
            return scores

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        """Block-scaled float32, and float64 where gaps are too rare for its range."""
        scores = Scores.none(len(pairs))
        reads, haplotypes = batch.pair_indices(pairs)
        for real, precision in (("float", SCALED_FLOAT32), ("double", FLOAT64)):
            left = scores.unscored()
            for part in self._border_parts(batch, haplotypes[left], real):
                chosen = left[part]
                found = self._run_pairs(batch, reads[chosen], haplotypes[chosen], real)
                scores.log10[chosen] = found
                scores.precision[chosen] = np.where(np.isnan(found), UNSCORED, precision)
        return scores

    def kernel_seconds(self, batch: PairBatch, repetitions: int) -> list[float]:
        """Seconds that the kernels of `forward` take on arrays that are on the device, measured by events."""
        event = self._cupy.cuda.Event
        with self._slot() as slot:
            packed = self._upload(slot, batch, np.zeros(len(batch.read_offset) - 1, dtype=bool))
            seconds = []
            for _ in range(repetitions + 1):
                begin, end = event(), event()
                begin.record()
                self._launch(slot, packed, batch)
                end.record()
                end.synchronize()
                seconds.append(self._cupy.cuda.get_elapsed_time(begin, end) / 1000)
            return seconds[1:]

    @contextmanager
    def _slot(self) -> Iterator[_Slot]:
        slot = self._slots.get()
        try:
            with translated(self.label), self._device, slot.stream:
                yield slot
        finally:
            self._slots.put(slot)

    def _upload(self, slot: _Slot, batch: PairBatch, skip_read: NDArray[np.bool_]) -> Packed:
        """Send a batch, and make room for its scores."""
        packed = pack(batch, skip_read, LONGEST_TILE, slot, slot.beside)
        out = slot.device("out", 9 * packed.pairs)
        if skip_read.any():
            out.memset_async(0xFF, 9 * packed.pairs, slot.stream)  # NaN and UNSCORED
        return packed

    def _launch(self, slot: _Slot, packed: Packed, batch: PairBatch) -> None:
        """Start the kernels of all tiers at once, then those that rescue what they list."""
        model, extension = cuda_kernels.model_of(batch)
        tiers, base = packed.tiers, slot.base
        rescued = [0] * len(RESCUERS)  # pairs that may need each
        rescuers = [None if tier.shape.tall else rescuer_of(tier.shape) for tier in tiers]
        for tier, rescuer in zip(tiers, rescuers, strict=True):
            if rescuer is not None:
                rescued[rescuer] += tier.pairs
        needed = [k for k, pairs in enumerate(rescued) if pairs]
        wanted = [(tier.shape, False) for tier in tiers] + [(RESCUERS[k], True) for k in needed]
        kernels = self._compiled(model, extension, wanted)
        scores = slot.device("out", 9 * packed.pairs).ptr
        precision = scores + 8 * packed.pairs
        counts = slot.zeros("listed", 4 * len(RESCUERS))
        lists = slot.device("lists", 8 * packed.pairs + 8).ptr
        list_at = [(counts + 4 * k, lists + 8 * at) for k, at in enumerate(offsets(rescued)[:-1].tolist())]
        between_bytes = 8 * (packed.widest + 2 * WARP)
        between = slot.device("between", between_bytes * sum(tier.items for tier in tiers if tier.shape.tall) + 8).ptr
        with slot.side_by_side(len(tiers)) as streams:
            for tier, rescuer, stream in zip(tiers, rescuers, streams, strict=False):
                kernel, shared_bytes = kernels[tier.shape, False]
                listed, list_ = (0, 0) if rescuer is None else list_at[rescuer]
                arguments = (
                    *(base, self._tables.data.ptr, base + tier.items_at, tier.last, tier.haplotypes_each),
                    *(listed, list_, between, packed.widest, scores, precision),
                )
                with stream:
                    kernel((tier.items,), (WARP,), arguments, shared_mem=shared_bytes)
                if tier.shape.tall:
                    between += between_bytes * tier.items
        for k in needed:
            kernel, shared_bytes = kernels[RESCUERS[k], True]
            blocks = min(RESIDENT_WARPS, -(-rescued[k] // RESCUERS[k].reads))
            places = (base, self._tables.data.ptr, *list_at[k], scores, precision)
            kernel((blocks,), (WARP,), places, shared_mem=shared_bytes)

    def _border_parts(self, batch: PairBatch, haplotypes: NDArray[np.int64], real: str) -> Iterator[slice]:
        """Runs of pairs whose borders fit into their part of the memory."""
        with translated(self.label):
            free = self._device.mem_info[0] if self._memory is None else self._memory
        most = max(1, free // self.concurrency // BORDER_SHARE // cuda_kernels.border_bytes(real))
        return runs_within(np.diff(batch.haplotype_offset)[haplotypes], most)

    def _run_pairs(
        self, batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64], real: str
    ) -> NDArray[np.float64]:
        model, extension = cuda_kernels.model_of(batch)
        with self._slot() as slot:
            packed = pack_pairs(batch, reads, haplotypes, WARP * LONG_ROWS, slot)
            base = slot.base
            next_item = slot.zeros("listed", KEPT_AT + 16 * len(reads))
            borders = slot.zeros("between", cuda_kernels.border_bytes(real) * packed.columns + 8)
            scores = slot.device("out", 8 * len(reads)).ptr
            key = (model, extension, real)
            if key not in self._long_kernels:
                self._long_kernels[key] = self._compile(
                    cuda_kernels.long_source(model, extension, real), "forward_long"
                )
            places = (packed.item_pair, packed.pair_item, packed.pair_read, packed.pair_haplotype, packed.pair_column)
            arguments = (
                *(base, self._tables.data.ptr, np.uint32(packed.items)),
                *(base + place for place in places),
                *(next_item, next_item + KEPT_AT, borders, scores),
            )
            blocks = min(RESIDENT_WARPS, packed.items)
            self._long_kernels[key]((blocks,), (WARP,), arguments, shared_mem=cuda_kernels.long_shared_bytes(real))
            return slot.download("out", 8 * len(reads)).view(np.float64).copy()

    def _compiled(
        self, model: int, extension: float | None, wanted: Sequence[tuple[Shape, bool]]
    ) -> dict[tuple[Shape, bool], tuple[Any, int]]:
        """Kernels by shape and whether scaled, with the shared memory of a block; new ones are compiled all at once."""
        kernels = self._kernels.setdefault((model, extension), {})
        new = [Variant(shape, model, extension, scaled) for shape, scaled in wanted if (shape, scaled) not in kernels]
        if new:
            with ThreadPoolExecutor(len(new)) as pool:
                for variant, kernel in zip(new, pool.map(self._compile_variant, new), strict=True):
                    shared_bytes = cuda_kernels.forward_shared_bytes(variant)
                    kernels[variant.shape, variant.scaled] = kernel, shared_bytes
        return kernels

    def _compile_variant(self, variant: Variant) -> Any:
        name = "forward_scaled" if variant.scaled else "forward_fast"
        return self._compile(cuda_kernels.forward_source(variant), name)

    def _compile(self, source: str, name: str) -> Any:
        with self._device:
            kernel = self._cupy.RawKernel(source, name, options=cuda_kernels.OPTIONS)
            kernel.compile()
            cuda_setup.keep_loaded(kernel)
            return kernel


def make(device: int, memory: int | None) -> CudaBackend:
    with cuda_setup.starting(device):
        return CudaBackend(device, memory)
