"""Scan on a WebGPU device, with wgpu: the kernels of `shaders/scan/`, their buffers, and their launches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.pair_kernels import pair_device
from pairhmm.backends.webgpu.setup import grid, mapped, record
from pairhmm.backends.webgpu.slot import Slot
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
from pairhmm.scan.base import Patterns, Scanner, ScanOptions
from pairhmm.scan.device import FOUND_WORDS, DeviceScanner, RawMatches
from pairhmm.scan.index import PER_WORD, Index
from pairhmm.scan.sending import Bytes, Filling, Sender
from pairhmm.sequences.records import Samples

FILES = {
    "mark": "scan/mark.wgsl",
    "match_tile": "scan/match.wgsl",
    "sum": "scan/sums.wgsl",
    "carry": "scan/sums.wgsl",
    "total": "scan/verify.wgsl",
    "verify": "scan/verify.wgsl",
}
"""Entry points, and the file of shaders/ that has each."""

BINDINGS = {
    "mark": ("words", "with_letters"),
    "match_tile": ("words", "with_letters", "offset", "index", "patterns", "counts", "list"),
    "sum": ("qualities", "within", "tile_sums"),
    "carry": (None, None, "tile_sums", "before"),
    "total": ("qualities", "within", "before", *[None] * 5, "offset", "totals"),
    "verify": ("qualities", "within", "before", "words", "patterns", "counts", "list", "hits"),
}
"""Buffers of each entry point, from binding 1 on. None stands for a binding that it does not use."""

TILE = 1024
"""Positions that a workgroup of match_tile takes."""

MARK_WORDS = 128
"""Words of letters that a workgroup of mark takes, to make one word of bits."""

VERIFY_WIDTH = 64
"""Invocations of a workgroup of verify and of total. In total, each takes one segment."""

SUM_WIDTH, SUMMED = 256, 64
"""Invocations of a workgroup of sum, and qualities that each adds up."""

SUM_TILE = SUM_WIDTH * SUMMED
"""Qualities that a workgroup of sum adds up."""

PARAMS = Record(
    "Params",
    Field("bases", "u32", "letters of the samples"),
    Field("words", "u32", "words of letters, with those of N behind the last"),
    Field("segments", "u32", ""),
    Field("carried", "u32", "letters at the begin of the first segment that an earlier call had"),
    Field("first_at", "u32", "in the index, behind the bits: [5^BASES + 1] into anchors"),
    Field("anchor_at", "u32", "in the index: the handles of anchors"),
    Field("anchors", "u32", "handles that have an anchor"),
    Field("handles", "u32", "all handles; those behind the anchors are tried everywhere"),
    Field("pattern_at", "u32", "in the patterns, behind the handles: first word of letters, length"),
    Field("letters_at", "u32", "in the patterns: their letters"),
    Field("longest", "u32", "letters of the longest pattern"),
    Field("max_mismatches", "u32", "columns"),
    Field("min_informative", "u32", "columns"),
    Field("room", "u32", "of the list, and for hits"),
    Field("sum_tiles", "u32", "workgroups of `sum`"),
    Field("scored", "u32", "whether there are qualities"),
)
"""The uniform block of a call, for all kernels of the scan."""


def source(variant: tuple[str, int]) -> tuple[str, str]:
    """WGSL of an entry point for anchors of so many letters, and the entry point."""
    entry, bases = variant
    sizes = {
        "BASES": bases,
        "TILE": TILE,
        "MARK_WORDS": MARK_WORDS,
        "VERIFY_WIDTH": VERIFY_WIDTH,
        "SUM_WIDTH": SUM_WIDTH,
        "SUMMED": SUMMED,
        "SUM_TILE": SUM_TILE,
    }
    numbers = {"PER_WORD": PER_WORD, "BEYOND_WORD": bases - PER_WORD}
    return assemble(FILES[entry], read, {PARAMS.name: PARAMS.declaration} | constants(sizes), numbers), entry


PIECE, PIECES = 1 << 24, 16
"""Bytes of a buffer, and the number of buffers."""


class MappedSender(Sender):
    """Sends arrays to device buffers, whose sizes are whole words.

    While a buffer is being mapped, a thread of wgpu waits for the device, and no other thread can submit work. So
    buffers are mapped once everything is submitted, or when no mapped buffer is left.
    """

    def __init__(self, device: Any) -> None:
        super().__init__(PIECE, PIECES)
        self._device = device
        self._sent: list[Any] = []
        self._mapping: list[tuple[Any, Any]] = []  # buffers, each with the promise that it is mapped

    def map_sent(self) -> None:
        """Begin to map the buffers that were passed to the device."""
        self._mapping += [(piece, piece.map_async("WRITE", 0, PIECE)) for piece in self._sent]
        self._sent = []

    def _take(self) -> Any:
        if not self._free and self._mapping:
            self._wait_for_mapped()
        return super()._take()

    def _make(self) -> Any:
        return self._device.create_buffer(size=PIECE, usage="MAP_WRITE|COPY_SRC", mapped_at_creation=True)

    def _memory(self, piece: Any) -> Bytes:
        return mapped(piece)

    def _pass(self, filling: Filling) -> None:
        filling.piece.unmap()
        sending = filling.sending
        size = -(-sending.size(filling.count) // 4) * 4
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(filling.piece, 0, sending.target, sending.size(filling.first), size)
        self._device.queue.submit([encoder.finish()])
        self._sent.append(filling.piece)

    def _reclaim(self) -> None:
        self.map_sent()
        self._wait_for_mapped()

    def _wait_for_mapped(self) -> None:
        for piece, promise in self._mapping:
            promise.sync_wait()
            self._free.append(piece)
        self._mapping = []


VERIFY_BLOCKS = 512
"""Workgroups of `verify`."""

FIRST_CAPACITY = 1 << 14
"""Places that the list has room for at first. It grows when a call finds more."""

MOST_BASES = {"DiscreteGPU": 1 << 28, "IntegratedGPU": 1 << 24, "CPU": 1 << 21}
"""Most bases of a submission, by the kind of adapter. Operating systems abort submissions that take seconds."""

COUNTS, FOUND_BYTES = 16, 4 * FOUND_WORDS

USED = "STORAGE|COPY_DST|COPY_SRC"
USAGES = {name: USED for names in BINDINGS.values() for name in names if name is not None} | {
    "params": "UNIFORM|COPY_DST",
    "staging": "MAP_READ|COPY_DST",
}
"""Usage flags of the buffers of a scan."""


class WebgpuFinder:
    """Finds patterns on one WebGPU device."""

    def __init__(self, number: int, index: Index, longest: int, options: ScanOptions) -> None:
        self.label = f"webgpu:{number}"
        self._bases = index.bases
        self._shared = pair_device(number)
        self._shared.compile(((entry, index.bases) for entry in FILES), source)
        self._device = self._shared.handle
        self._sender = MappedSender(self._device)
        limit = int(self._device.limits["max-storage-buffer-binding-size"])
        kind = webgpu_setup.adapters()[number].kind
        self.most_bases = min(MOST_BASES.get(kind, MOST_BASES["IntegratedGPU"]), limit - 2 * SUM_TILE)
        self._capacity = FIRST_CAPACITY
        self._slot = Slot(self._device, self.label, USAGES)
        self._params = {
            "first_at": index.known.size,
            "anchor_at": index.known.size + index.first.size,
            "anchors": index.anchors,
            "handles": len(index.handles),
            "pattern_at": index.handles.size,
            "letters_at": index.handles.size + index.patterns.size,
            "longest": longest,
            "max_mismatches": min(options.max_mismatches, longest),
            "min_informative": options.min_informative,
        }
        self._slot.upload("index", index.known, index.first, index.anchor)
        self._slot.upload("patterns", index.handles.reshape(-1), index.patterns.reshape(-1), index.words)

    def find(self, samples: Samples) -> tuple[RawMatches, NDArray[np.int64]]:
        if not len(samples.letters):
            return np.empty((0, FOUND_WORDS), np.uint32), np.zeros(len(samples), np.int64)
        with self._shared.in_use(self.label):
            try:
                return self._find(samples)
            finally:
                # Copies that still run read the samples, so they must end first.
                self._sender.give_up()

    def _find(self, samples: Samples) -> tuple[RawMatches, NDArray[np.int64]]:
        """The matches and the totals. Matching overlaps the copy of the qualities."""
        sender = self._sender
        words = self._slot.make_room("words", 4 * self._words_of(len(samples.letters)))
        sending = [sender.begin(samples.letters, words, packed=True)]
        sum_tiles = 0
        if samples.qualities is not None:
            sum_tiles = len(samples.letters) // SUM_TILE + 1
            sending.append(sender.begin(samples.qualities, self._slot.make_room("qualities", SUM_TILE * sum_tiles)))
        self._make_room_for(samples, sum_tiles)
        while True:
            matching, scoring = self._matching(samples, sum_tiles), self._scoring(samples, sum_tiles)
            sender.finish(sending[0])
            self._device.queue.submit([matching])
            sender.finish(sending[-1])
            self._device.queue.submit([scoring])
            places, matches, raw, totals = self._downloaded(samples)
            if places <= self._capacity:
                return raw[:matches], totals
            self._capacity = places + places // 4

    def _words_of(self, bases: int) -> int:
        """Words for `bases` letters and a tile of N after them."""
        words = (-(-bases // TILE) + 1) * TILE // PER_WORD
        return -(-words // MARK_WORDS) * MARK_WORDS

    def _make_room_for(self, samples: Samples, sum_tiles: int) -> None:
        """Make room for what a call needs beside the samples, except buffers that grow with the number of places."""
        sizes = {
            "with_letters": self._words_of(len(samples.letters)) // 32,
            "qualities": 0,
            "within": 4 * SUM_WIDTH * sum_tiles,
            "tile_sums": 4 * sum_tiles,
            "before": 8 * sum_tiles,
            "totals": 8 * len(samples),
        }
        for name, size in sizes.items():
            self._slot.make_room(name, size)
        self._slot.upload("offset", samples.offset.astype(np.uint32))

    def _matching(self, samples: Samples, sum_tiles: int) -> Any:
        """Commands that list places. Everything that they need, except the letters, is uploaded here or before."""
        for name, size in (("list", 16), ("hits", FOUND_BYTES), ("counts", 0)):
            self._slot.make_room(name, max(COUNTS, size * self._capacity))
        words = self._words_of(len(samples.letters))
        sizes = {
            "bases": len(samples.letters),
            "words": words,
            "segments": len(samples),
            "carried": samples.carried,
            "room": self._capacity,
            "sum_tiles": sum_tiles,
            "scored": int(sum_tiles > 0),
        }
        self._slot.upload("params", PARAMS.values(self._params | sizes))
        encoder = self._device.create_command_encoder()
        encoder.clear_buffer(self._slot["counts"])
        encoder.clear_buffer(self._slot["totals"])
        compute = encoder.begin_compute_pass()
        self._dispatch(compute, "mark", words // MARK_WORDS)
        self._dispatch(compute, "match_tile", -(-len(samples.letters) // TILE))
        compute.end()
        return encoder.finish()

    def _scoring(self, samples: Samples, sum_tiles: int) -> Any:
        """Commands that compare the listed places, score them, and copy the matches for the host."""
        encoder = self._device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        if sum_tiles:
            self._dispatch(compute, "sum", sum_tiles)
            self._dispatch(compute, "carry", 1)
            self._dispatch(compute, "total", -(-len(samples) // VERIFY_WIDTH))
        self._dispatch(compute, "verify", VERIFY_BLOCKS)
        compute.end()
        sizes = self._downloads(samples)
        staging = self._slot.make_room("staging", sum(sizes.values()))
        at = 0
        for name, size in sizes.items():
            encoder.copy_buffer_to_buffer(self._slot[name], 0, staging, at, size)
            at += size
        return encoder.finish()

    def _downloads(self, samples: Samples) -> dict[str, int]:
        """Bytes of each buffer that the host reads, in their order."""
        return {"counts": COUNTS, "totals": 8 * len(samples), "hits": FOUND_BYTES * self._capacity}

    def _downloaded(self, samples: Samples) -> tuple[int, int, RawMatches, NDArray[np.int64]]:
        """Number of places, number of matches, the matches that there was room for, and the totals."""
        staging, sizes = self._slot["staging"], self._downloads(samples)
        promise = staging.map_async("READ_NOSYNC", 0, sum(sizes.values()))
        self._sender.map_sent()
        promise.sync_wait()
        try:
            words = np.frombuffer(staging.read_mapped(0, sum(sizes.values()), copy=False), dtype=np.uint32)
            places, matches = words[:2].tolist()
            hits_at = (COUNTS + sizes["totals"]) // 4
            totals = words[COUNTS // 4 : hits_at].view(np.int64).copy()
            raw = words[hits_at:][: FOUND_WORDS * matches].reshape(-1, FOUND_WORDS).copy()
        finally:
            del words
            staging.unmap()
        return places, matches, raw, totals

    def _dispatch(self, compute: Any, entry: str, workgroups: int) -> None:
        pipeline = self._shared.pipeline((entry, self._bases))
        names = ("params", *BINDINGS[entry])
        bound = {at: self._slot[name] for at, name in enumerate(names) if name is not None}
        record(self._device, compute, pipeline, bound, grid(workgroups))


def make(patterns: Patterns, options: ScanOptions, device: int = 0) -> Scanner:
    """A scanner on a WebGPU device. Raises BackendUnavailable."""
    longest = int(np.diff(patterns.offset).max(initial=1))
    index = Index.of(patterns, options.max_mismatches)
    label = f"webgpu:{device}"
    with webgpu_setup.starting(label):
        return DeviceScanner(WebgpuFinder(device, index, longest, options), patterns, options)
