"""Scans on a WebGPU device, with wgpu. The kernels are in webgpu_kernels.py."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.setup import Adapter, grid, make_pipeline, record, status, translated
from pairhmm.backends.webgpu.slot import Slot
from pairhmm.errors import DeviceLost
from pairhmm.scan.base import Scanner
from pairhmm.scan.batch import Patterns, ScanOptions
from pairhmm.scan.device import FOUND_WORDS, DeviceScanner, Found
from pairhmm.scan.index import PER_WORD, Index
from pairhmm.scan.mapped import MappedSender
from pairhmm.scan.webgpu_kernels import BINDINGS, MARK_WORDS, PARAMS, SUM_TILE, SUM_WIDTH, TILE, VERIFY_WIDTH, source
from pairhmm.sequences.records import Samples

__all__ = ["WebgpuFinder", "make", "status"]

VERIFYING = 512
"""Workgroups of `verify`."""

FIRST_ROOM = 1 << 14
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


class _Device:
    """A device, and whatever on it does not depend on signatures."""

    def __init__(self, adapter: Adapter) -> None:
        self.handle = webgpu_setup.request_device(adapter)
        self.sender = MappedSender(self.handle)
        self.one_call = threading.Lock()
        self._pipelines: dict[tuple[str, int], Any] = {}

    def pipeline(self, entry: str, bases: int) -> Any:
        """The pipeline of an entry point. Only `match_tile` depends on the length of an anchor, in bases."""
        key = entry, bases if entry == "match_tile" else 0
        if key not in self._pipelines:
            self._pipelines[key] = make_pipeline(self.handle, source(entry, bases), entry)
        return self._pipelines[key]


@cache
def _device(index: int) -> _Device:
    return _Device(webgpu_setup.adapters()[index])


class WebgpuFinder:
    """Finds patterns on one WebGPU device.

    Parameters
    ----------
    number : int
        Index of the device.
    index : Index
    longest : int
        Length of the longest pattern.
    options : ScanOptions
    """

    def __init__(self, number: int, index: Index, longest: int, options: ScanOptions) -> None:
        self.label = f"webgpu:{number}"
        self._number, self._bases = number, index.bases
        self._shared = _device(number)
        self._device = self._shared.handle
        limit = int(self._device.limits["max-storage-buffer-binding-size"])
        kind = webgpu_setup.adapters()[number].kind
        self.most_bases = min(MOST_BASES.get(kind, MOST_BASES["IntegratedGPU"]), limit - 2 * SUM_TILE)
        self._room = FIRST_ROOM
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

    def find(self, samples: Samples) -> tuple[Found, NDArray[np.int64]]:
        if not len(samples.letters):
            return np.empty((0, FOUND_WORDS), np.uint32), np.zeros(len(samples), np.int64)
        try:
            with self._shared.one_call, translated(self.label):
                try:
                    return self._find(samples)
                finally:
                    # Copies that still run read the samples, so they must end first.
                    self._shared.sender.give_up()
        except DeviceLost:
            _device.cache_clear()
            raise

    def _find(self, samples: Samples) -> tuple[Found, NDArray[np.int64]]:
        """The matches and the totals. Matching overlaps the copy of the qualities."""
        sender = self._shared.sender
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
            places, matches, found, totals = self._downloaded(samples)
            if places <= self._room:
                return found[:matches], totals
            self._room = places + places // 4

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
            self._slot.make_room(name, max(COUNTS, size * self._room))
        words = self._words_of(len(samples.letters))
        given = {
            "bases": len(samples.letters),
            "words": words,
            "segments": len(samples),
            "carried": samples.carried,
            "room": self._room,
            "sum_tiles": sum_tiles,
            "scored": int(sum_tiles > 0),
        }
        self._slot.upload("params", PARAMS.values(self._params | given))
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
        self._dispatch(compute, "verify", VERIFYING)
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
        return {"counts": COUNTS, "totals": 8 * len(samples), "hits": FOUND_BYTES * self._room}

    def _downloaded(self, samples: Samples) -> tuple[int, int, Found, NDArray[np.int64]]:
        """Number of places, number of matches, the matches that there was room for, and the totals."""
        staging, sizes = self._slot["staging"], self._downloads(samples)
        promise = staging.map_async("READ_NOSYNC", 0, sum(sizes.values()))
        self._shared.sender.map_sent()
        promise.sync_wait()
        try:
            words = np.frombuffer(staging.read_mapped(0, sum(sizes.values()), copy=False), dtype=np.uint32)
            places, matches = words[:2].tolist()
            hits_at = (COUNTS + sizes["totals"]) // 4
            totals = words[COUNTS // 4 : hits_at].view(np.int64).copy()
            found = words[hits_at:][: FOUND_WORDS * matches].reshape(-1, FOUND_WORDS).copy()
        finally:
            del words
            staging.unmap()
        return places, matches, found, totals

    def _dispatch(self, compute: Any, entry: str, workgroups: int) -> None:
        pipeline = self._shared.pipeline(entry, self._bases)
        names = ("params", *BINDINGS[entry])
        bound = {at: self._slot[name] for at, name in enumerate(names) if name is not None}
        record(self._device, compute, pipeline, bound, grid(workgroups))


def make(patterns: Patterns, options: ScanOptions, device: int = 0) -> Scanner:
    """A scanner on a WebGPU device.

    Raises
    ------
    BackendUnavailable
    """
    longest = int(np.diff(patterns.offset).max(initial=1))
    index = Index.of(patterns, options.max_mismatches)
    label = f"webgpu:{device}"
    with webgpu_setup.starting(label):
        return DeviceScanner(WebgpuFinder(device, index, longest, options), patterns, options)
