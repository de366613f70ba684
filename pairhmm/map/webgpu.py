"""Embeds samples on a WebGPU device, with wgpu: the text of the kernels, their parameters, and their launches."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import Plan
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.pair_kernels import pair_device
from pairhmm.backends.webgpu.setup import INT64, TIMESTAMPS, grid, record, translated, wait
from pairhmm.backends.webgpu.slot import OF_HOST, UPLOADS, WORD, BatchSlot
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
from pairhmm.map.device import DeviceEmbedder, SlotSums, values_of
from pairhmm.map.sketch.published import FACTORS, LEAST_FOR_ONE_PERMUTATION, PRIME, SLOTS, SUMMANDS
from pairhmm.map.tokens import Neighbours, TokenSets

SKETCH_WIDTH = 32
"""Invocations of a workgroup that sketches a sample."""

TOGETHER = 2
"""Tokens that are hashed together, so that their loads and hashes overlap."""

LOADS = 4
"""Samples whose signatures an invocation reads together. It divides `SKETCH_WIDTH`."""

BLEND_WIDTH = 64
"""Invocations of a workgroup of `blend`, each of which has a sample."""

BLOCK = 32
"""Neighbours that are added up before their sum is added to that of the others."""

PIECES = 16
"""Pieces of 16 bits of the four sums of a slot's values and squares (`Sums` of place.wgsl). Each sum has four."""

SUM_WORDS = PIECES * SLOTS + 1
"""Words of the sums of a chunk."""

PLACE_PARAMS = Record(
    "PlaceParams",
    Field("samples", "u32", "of the chunk"),
    Field("tokens_at", "u32", "in `given`: the tokens"),
    Field("offsets_at", "u32", "in `given`: where each sample's tokens begin, and where the last one's end"),
    Field("unused", "u32", ""),
)

BLEND_PARAMS = Record(
    "BlendParams",
    Field("samples", "u32", "of the chunk"),
    Field("first", "u32", "of these samples"),
    Field("values_at", "u32", "in `given`: the neighbours"),
    Field("offsets_at", "u32", "in `given`: where each sample's neighbours begin, and where the last one's end"),
    Field("alpha", "f32", "the neighbours' share"),
)

BINDINGS = {
    "signatures": ("in", "table", "found"),
    "columns": ("in", "table", "found", "sums"),
    "project": ("in", None, "found", None, "form", "out"),
    "blend": ("in", "start", "before", "after"),
}
"""Buffers of each entry point, from binding 1 on. None stands for a binding that it does not use."""


def source(variant: tuple[str, bool]) -> tuple[str, str]:
    """WGSL of an entry point for devices with or without integers of 64 bits, and the entry point."""
    entry, int64 = variant
    if entry == "blend":
        declared = constants({"WIDTH": BLEND_WIDTH, "BLOCK": BLOCK}) | {BLEND_PARAMS.name: BLEND_PARAMS.declaration}
        return assemble("map/place_blend.wgsl", read, declared, {}), entry
    sizes = {"PRIME": PRIME, "SLOTS": SLOTS, "FEW": LEAST_FOR_ONE_PERMUTATION, "WIDTH": SKETCH_WIDTH, "PIECES": PIECES}
    repeated = {"TOGETHER": TOGETHER, "LOADS": LOADS}
    numbers = {"OWN_SLOTS": SLOTS // SKETCH_WIDTH, "INT64": int(int64)} | repeated
    declared = constants(sizes | repeated) | {PLACE_PARAMS.name: PLACE_PARAMS.declaration}
    return assemble("map/place.wgsl", read, declared, numbers), entry


log = logging.getLogger(__name__)

MOST_WORDS = 1 << 28
"""Words of the largest chunk on a discrete GPU, which takes it far less than a second."""

WORKGROUPS = 8192
"""Most workgroups of a kernel that sketches: enough to fill any device. Each takes at most `MOST_WORDS` / 8192 samples,
of which place.wgsl allows 2^16."""

PIECE_UNITS = np.array([2 ** (16 * piece) for piece in range(4)], dtype=object)
"""Units of the four limbs of a sum."""

USED = "STORAGE|COPY_DST|COPY_SRC"
USAGES = dict.fromkeys(("table", "found", "sums", "form", "out", "start", "odd"), USED) | {
    **dict.fromkeys(UPLOADS, "MAP_WRITE|COPY_SRC"),
    "in": "STORAGE|COPY_DST",
    "staging": "MAP_READ|COPY_DST",
    "times": "QUERY_RESOLVE|COPY_SRC",
}
"""Usage flags of the buffers of a chunk."""

assert set(OF_HOST) <= set(USAGES)


@dataclass(frozen=True, slots=True)
class WebgpuChunk:
    """A chunk on the device: its slot, its samples, and the parameters of the kernels that sketch."""

    slot: BatchSlot
    samples: int
    params: NDArray[np.void]


class WebgpuSketcher:
    """Runs the kernels of the map on one WebGPU device.

    Kernels may have integers of 64 bits, if the device has them. No bit of a signature depends on it.
    """

    def __init__(self, number: int, *, int64: bool = True) -> None:
        self.label = f"webgpu:{number}"
        self._shared = pair_device(number)
        self._handle = self._shared.handle
        limit = int(self._handle.limits["max-storage-buffer-binding-size"]) // WORD
        self.most_words = min(MOST_WORDS // self._shared.slower, limit // 2)
        self.row_words = 1 + SLOTS
        self._seconds: list[float] | None = None
        self._slots = [BatchSlot(self._handle, self.label, None, USAGES) for _ in range(2)]
        for slot in self._slots:
            slot.upload("table", np.stack([FACTORS, SUMMANDS], axis=1))
        self._int64 = int64 and INT64 in self._handle.features
        self._shared.compile(((entry, self._int64) for entry in BINDINGS), source)

    def signatures(self, chunk: TokenSets, out: NDArray[np.uint32]) -> None:
        begun = self._sent(chunk)
        self._sketch("signatures", begun, ("found", out.nbytes))
        with self._downloaded(begun.slot, out.nbytes) as words:
            out.reshape(-1)[:] = words

    def begin(self, chunk: TokenSets, is_summed: bool) -> WebgpuChunk:
        begun = self._sent(chunk)
        if is_summed:
            size = WORD * SUM_WORDS
            begun.slot.make_room("sums", size)
            self._sketch("columns", begun, ("sums", size), is_cleared=True)
        else:
            self._sketch("signatures", begun, None)
        return begun

    def sums(self, begun: WebgpuChunk) -> SlotSums:
        with self._downloaded(begun.slot, WORD * SUM_WORDS) as words:
            pieces = words[: SUM_WORDS - 1].astype(object).reshape(SLOTS, 4, PIECES // 4)
            samples = int(words[SUM_WORDS - 1])
        values, low, mixed, high = (pieces * PIECE_UNITS).sum(axis=2).T
        return SlotSums(samples, values, low + mixed * 2**17 + high * 2**32)

    def project(self, begun: WebgpuChunk, form: NDArray[np.uint32], out: NDArray[np.float32]) -> None:
        begun.slot.upload("form", form)
        begun.slot.make_room("out", out.nbytes)
        self._sketch("project", begun, ("out", out.nbytes))
        with self._downloaded(begun.slot, out.nbytes) as words:
            out.reshape(-1)[:] = words.view(np.float32)

    def blended(
        self, start: NDArray[np.float32], chunks: Sequence[Neighbours], alpha: float, passes: int
    ) -> NDArray[np.float32]:
        positions = np.array(start, dtype=np.float32)
        if not passes:
            return positions
        with self._shared.in_use(self.label):
            slot = self._next_slot()
            slot.upload("start", positions)
            names, before = ["odd", "out"], "start"
            for name in names:
                slot.make_room(name, positions.nbytes)
            places = None
            for number in range(passes):
                names.reverse()
                first = 0
                for chunk in chunks:
                    if places is None or len(chunks) > 1:
                        places = self._send(slot, chunk)
                    values_at, offsets_at = places
                    sizes = {"samples": len(chunk), "first": first, "alpha": alpha}
                    params = BLEND_PARAMS.values(sizes | {"values_at": values_at, "offsets_at": offsets_at})
                    first += len(chunk)
                    is_last = number == passes - 1 and first == len(start)
                    copied = (names[0], positions.nbytes) if is_last else None
                    named = {"before": before, "after": names[0]}
                    workgroups = grid(-(-len(chunk) // BLEND_WIDTH))
                    self._submit("blend", slot, params, workgroups, copied, named=named)
                before = names[0]
            with self._downloaded(slot, positions.nbytes) as words:
                positions.reshape(-1)[:] = words.view(np.float32)
        return positions

    def release(self) -> None:
        for slot in self._slots:
            slot.release()
            slot.upload("table", np.stack([FACTORS, SUMMANDS], axis=1))

    @contextmanager
    def timing(self) -> Iterator[list[float]]:
        """Make a list of the seconds of each kernel that is launched in the context, by the device's timestamps.

        A device without timestamps is timed by the host's clock around each submission, and a warning says so.
        """
        if TIMESTAMPS not in self._handle.features:
            log.warning("%s has no timestamps: kernels are timed by the clock, with their submission", self.label)
        self._seconds = []
        try:
            yield self._seconds
        finally:
            self._seconds = None

    def _next_slot(self) -> BatchSlot:
        slot = self._slots[0]
        self._slots.reverse()
        slot.begin_call()
        slot.make_room("table", SLOTS * 2 * WORD)
        return slot

    def _sent(self, chunk: TokenSets) -> WebgpuChunk:
        with self._shared.in_use(self.label):
            slot = self._next_slot()
            tokens_at, offsets_at = self._send(slot, chunk)
            slot.make_room("found", WORD * SLOTS * len(chunk))
        places = {"tokens_at": tokens_at, "offsets_at": offsets_at, "unused": 0}
        return WebgpuChunk(slot, len(chunk), PLACE_PARAMS.values({"samples": len(chunk)} | places))

    def _send(self, slot: BatchSlot, rows: TokenSets | Neighbours) -> tuple[int, int]:
        """Send the values and offsets of rows; returns the words at which they begin."""
        plan = Plan()
        values_at = plan.add(values_of(rows))
        offsets_at = plan.add_offsets(np.ascontiguousarray(rows.offsets, dtype=np.int64))
        plan.send(slot)
        encoder = self._handle.create_command_encoder()
        slot.record_upload(encoder)
        slot.end_upload()
        self._handle.queue.submit([encoder.finish()])
        return values_at // WORD, offsets_at // WORD

    def _sketch(
        self, entry: str, begun: WebgpuChunk, copied: tuple[str, int] | None, *, is_cleared: bool = False
    ) -> None:
        turns = -(-begun.samples // (SKETCH_WIDTH if entry == "project" else 1))
        with self._shared.in_use(self.label):
            self._submit(entry, begun.slot, begun.params, (min(WORKGROUPS, turns), 1), copied, is_cleared=is_cleared)

    def _submit(
        self,
        entry: str,
        slot: BatchSlot,
        params: NDArray[np.void],
        workgroups: tuple[int, int],
        copied: tuple[str, int] | None,
        *,
        named: Mapping[str, str] | None = None,
        is_cleared: bool = False,
    ) -> None:
        """Submit a dispatch, and a copy of a buffer's first bytes for `_downloaded`; `is_cleared` zeroes them before.

        `named` maps names of `BINDINGS` to other buffers.
        """
        names = (BINDINGS[entry][at] for at in range(len(BINDINGS[entry])))
        bound = {1 + at: slot[(named or {}).get(name, name)] for at, name in enumerate(names) if name is not None}
        bound[0] = self._handle.create_buffer_with_data(data=params, usage="UNIFORM")
        staging = None if copied is None else slot.make_room("staging", copied[1])
        encoder = self._handle.create_command_encoder()
        if copied is not None and is_cleared:
            encoder.clear_buffer(slot[copied[0]], 0, copied[1])
        with self._timed(slot) as writes:
            compute = encoder.begin_compute_pass(**writes)
            record(self._handle, compute, self._shared.pipeline((entry, self._int64)), bound, workgroups)
            compute.end()
            if copied is not None:
                encoder.copy_buffer_to_buffer(slot[copied[0]], 0, staging, 0, copied[1])
            self._handle.queue.submit([encoder.finish()])

    @contextmanager
    def _timed(self, slot: BatchSlot) -> Iterator[dict[str, Any]]:
        """Arguments of a compute pass; what it takes is noted where kernels are timed."""
        if self._seconds is None:
            yield {}
            return
        begin = time.perf_counter()
        if TIMESTAMPS not in self._handle.features:
            yield {}
            wait(self._handle, slot["table"])
            self._seconds.append(time.perf_counter() - begin)
            return
        queries = self._handle.create_query_set(type="timestamp", count=2)
        writes = {"query_set": queries, "beginning_of_pass_write_index": 0, "end_of_pass_write_index": 1}
        yield {"timestamp_writes": writes}
        times = slot.make_room("times", 16)
        encoder = self._handle.create_command_encoder()
        encoder.resolve_query_set(queries, 0, 2, times, 0)
        self._handle.queue.submit([encoder.finish()])
        first, last = np.frombuffer(self._handle.queue.read_buffer(times, 0, 16), dtype=np.uint64).tolist()
        self._seconds.append((last - first) * 1e-9)

    @contextmanager
    def _downloaded(self, slot: BatchSlot, size: int) -> Iterator[NDArray[np.uint32]]:
        """The bytes that the last submission copied. They are valid within the context only."""
        with translated(self.label):
            staging = slot["staging"]
            slot.map_uploads()
            staging.map_async("READ_NOSYNC", 0, size).sync_wait()
            try:
                yield np.frombuffer(staging.read_mapped(0, size, copy=False), dtype=np.uint32)
            finally:
                staging.unmap()


def make(device: int = 0) -> DeviceEmbedder:
    """An embedder on a WebGPU device. Raises BackendUnavailable."""
    with webgpu_setup.starting(f"webgpu:{device}"):
        return DeviceEmbedder(WebgpuSketcher(device))
