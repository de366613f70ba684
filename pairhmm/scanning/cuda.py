"""The scan on a CUDA device: cuda/scan.cu through CuPy."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib.resources import files
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm import cuda_setup
from pairhmm.cuda_kernels import OPTIONS
from pairhmm.cuda_setup import status, translated
from pairhmm.scanning.base import Scanner
from pairhmm.scanning.batch import Patterns, Samples, ScanOptions
from pairhmm.scanning.device import FOUND_WORDS, DeviceScanner, Found
from pairhmm.scanning.index import PER_WORD, Index

__all__ = ["CudaFinder", "make", "source", "status"]

KERNELS = ("pack", "match", "sums", "carry", "totals", "verify")
THREADS = 256
"""Of a block."""

TILE = 2048
"""Positions of a block of scan_match."""

SUM_TILE = 64 * THREADS
"""Qualities of a block of scan_sums."""

COPIERS, PIECE, PIECES = 8, 1 << 22, 16
"""Threads that copy samples into pinned memory, bytes that each takes at once, and pieces of pinned memory."""

VERIFYING = 512
"""Blocks of scan_verify at most: it has four for each of scan_match, and entries wait for their turn."""

FIRST_ROOM = 1 << 16
"""Places that the list has room for at first; it grows to what was met."""

FOUND_BYTES, COUNT_BYTES, LISTED_BYTES = 4 * FOUND_WORDS, 16, 16
FIRST_FOUND = 4096
"""Matches that are sent with their number."""

MOST_BASES = 1 << 30
"""Positions are words of 32 bits."""


def source(bases: int) -> str:
    """Text of scan.cu for anchors of that many letters."""
    text = (files("pairhmm") / "cuda" / "scan.cu").read_text()
    return f'#define BASES {bases}\n#define TILE {TILE}\n#line 1 "cuda/scan.cu"\n{text}'


class _Sender:
    """Sends arrays to the device through pieces of pinned memory: some are filled while others are on their way."""

    def __init__(self, cupy: Any, device: Any) -> None:
        self._cupy, self._device = cupy, device
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self._threads = ThreadPoolExecutor(COPIERS)
        self._free: SimpleQueue[tuple[NDArray[np.uint8], Any]] = SimpleQueue()
        self._unmade = iter(range(PIECES))

    def send(self, values: NDArray[np.uint8], target: Any) -> list[Future[None]]:
        """Begin to send; in order of the calls, about, and on `stream` once the futures are done."""
        starts = range(0, len(values), PIECE)
        return [self._threads.submit(self._send, values[at : at + PIECE], target + at) for at in starts]

    def _send(self, values: NDArray[np.uint8], target: Any) -> None:
        with self._device:
            memory, sent = self._piece()
            try:
                sent.synchronize()
                memory[: len(values)] = values
                target.copy_from_host_async(memory.ctypes.data, len(values), self.stream)
                sent.record(self.stream)
            finally:
                self._free.put((memory, sent))

    def _piece(self) -> tuple[NDArray[np.uint8], Any]:
        """Pinned memory, and the event after which it is free; as many are made as are needed at once."""
        if self._free.empty() and next(self._unmade, None) is not None:
            memory = np.frombuffer(self._cupy.cuda.alloc_pinned_memory(PIECE), np.uint8, PIECE)
            return memory, self._cupy.cuda.Event(disable_timing=True)
        return self._free.get()


class CudaFinder:
    """Finds patterns on one CUDA device.

    Parameters
    ----------
    device : int
        Its index.
    index : Index
    longest : int
        Length of the longest pattern.
    options : ScanOptions
    """

    most_bases = MOST_BASES

    def __init__(self, device: int, index: Index, longest: int, options: ScanOptions) -> None:
        import cupy

        self._cupy = cupy
        self.label = f"cuda:{device}"
        self._device = cupy.cuda.Device(device)
        self._rules = np.uint32(min(options.max_mismatches, longest)), np.uint32(options.min_informative)
        self._longest = np.uint32(longest)
        self._room = FIRST_ROOM
        self._buffers: dict[str, tuple[Any, int]] = {}
        self._one_call = threading.Lock()
        with self._device:
            self._sizes = np.uint32(index.anchors), np.uint32(len(index.handles))
            names = ("known", "first", "anchor", "handles", "patterns", "words")
            self._tables = {name: cupy.asarray(_not_empty(getattr(index, name))) for name in names}
            self._stream = cupy.cuda.Stream(non_blocking=True)
            self._sender = _Sender(cupy, self._device)
            self._kernels = {name: self._compiled(source(index.bases), f"scan_{name}") for name in KERNELS}
            # The tables were sent by another stream.
            self._device.synchronize()

    def find(self, samples: Samples) -> tuple[Found, NDArray[np.int64]]:
        if not len(samples.letters):
            return np.empty((0, FOUND_WORDS), np.uint32), np.zeros(len(samples), np.int64)
        with self._one_call, translated(self.label), self._device, self._stream:
            sending: list[Future[None]] = []
            try:
                return self._find(samples, sending)
            finally:
                # What still runs reads the samples.
                wait(sending)

    def _find(self, samples: Samples, sending: list[Future[None]]) -> tuple[Found, NDArray[np.int64]]:
        """The matches and the totals; matching goes on while the qualities are on their way."""
        bases, segments = len(samples.letters), len(samples)
        tiles = -(-bases // TILE)
        words = (tiles + 1) * TILE // PER_WORD
        letters, offset = self._buffer("letters", PER_WORD * words), self._buffer("offset", 4 * (segments + 1))
        sending += self._sender.send(samples.letters, letters)
        sending += self._sender.send(samples.offset.astype(np.uint32).view(np.uint8), offset)
        arrived = len(sending)
        sums = self._send_qualities(samples, sending)
        packed = self._buffer("packed", 4 * words).ptr, self._buffer("with_letters", words // 32).ptr
        self._after(sending[:arrived])
        self._launch("pack", -(-words // THREADS), letters.ptr, np.uint32(bases), np.uint32(words), *packed)
        carried, count = np.uint32(samples.carried), np.uint32(segments)
        head = COUNT_BYTES + 8 * segments + 8 * (segments % 2)
        while True:
            listed = self._buffer("list", LISTED_BYTES * self._room).ptr
            out = self._buffer("out", head + FOUND_BYTES * self._room)
            out.memset_async(0, head, self._stream)
            room = np.uint32(self._room)
            self._launch(
                "match",
                tiles,
                *packed,
                offset.ptr,
                count,
                carried,
                *self._table("known", "first", "anchor", "handles"),
                *self._sizes,
                *self._table("patterns", "words"),
                self._longest,
                *self._rules,
                out.ptr,
                listed,
                room,
            )
            self._after(sending[arrived:])
            if sums is not None:
                blocks = bases // SUM_TILE + 1
                all_sums = self._buffer("all", 4 * blocks).ptr
                self._launch("sums", blocks, *sums[:2], all_sums)
                self._launch("carry", 1, all_sums, np.uint32(blocks), sums[2])
                self._launch(
                    "totals", -(-segments // THREADS), *sums, offset.ptr, count, carried, out.ptr + COUNT_BYTES
                )
            self._launch(
                "verify",
                min(VERIFYING, 4 * tiles),
                packed[0],
                *self._table("patterns", "words"),
                *self._rules,
                *(sums or (0, 0, 0)),
                listed,
                room,
                out.ptr,
                out.ptr + head,
            )
            host = self._download(out, head + FOUND_BYTES * min(FIRST_FOUND, self._room))
            needed, matches = host[:8].view(np.uint32).tolist()
            if needed <= self._room:
                break
            self._room = needed + needed // 4
        if matches > FIRST_FOUND:
            host = self._download(out, head + FOUND_BYTES * matches)
        totals = host[COUNT_BYTES : COUNT_BYTES + 8 * segments].view(np.int64)
        found = host[head : head + FOUND_BYTES * matches].view(np.uint32).reshape(-1, FOUND_WORDS)
        return found, totals

    def _send_qualities(self, samples: Samples, sending: list[Future[None]]) -> tuple[int, int, int] | None:
        """Begin to send the qualities; where they and their prefix sums are."""
        if samples.qualities is None:
            return None
        blocks = len(samples.qualities) // SUM_TILE + 1
        qualities = self._buffer("qualities", SUM_TILE * blocks)
        sending += self._sender.send(samples.qualities, qualities)
        sizes = {"within": 4 * THREADS * blocks, "before": 8 * blocks}
        within, before = (self._buffer(name, size).ptr for name, size in sizes.items())
        return qualities.ptr, within, before

    def _after(self, sending: Sequence[Future[None]]) -> None:
        """Let kernels wait until all of that is on the device."""
        for sent in sending:
            sent.result()
        self._stream.wait_event(self._sender.stream.record())

    def _launch(self, name: str, blocks: int, *arguments: Any) -> None:
        self._kernels[name]((blocks,), (THREADS,), arguments)

    def _table(self, *names: str) -> Iterator[int]:
        return (int(self._tables[name].data.ptr) for name in names)

    def _buffer(self, name: str, size: int) -> Any:
        """Device memory of that name; what it held is lost when it grows."""
        held, room = self._buffers.get(name, (None, -1))
        if room < size:
            self._buffers.pop(name, None)
            held = self._cupy.cuda.alloc(size)
            self._buffers[name] = held, size
        return held

    def _download(self, source: Any, size: int) -> NDArray[np.uint8]:
        host = np.empty(size, dtype=np.uint8)
        source.copy_to_host_async(host.ctypes.data, size, self._stream)
        self._stream.synchronize()
        return host

    def _compiled(self, text: str, name: str) -> Any:
        kernel = self._cupy.RawKernel(text, name, options=OPTIONS)
        kernel.compile()
        cuda_setup.keep_loaded(kernel)
        return kernel


def _not_empty(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return values if values.size else np.zeros(4, dtype=np.uint32)


def make(patterns: Patterns, options: ScanOptions, device: int = 0) -> Scanner:
    """A scanner on a CUDA device.

    Raises
    ------
    BackendUnavailable
    """
    longest = int(np.diff(patterns.offset).max(initial=1))
    with cuda_setup.starting(device):
        finder = CudaFinder(device, Index.of(patterns, options.max_mismatches), longest, options)
    return DeviceScanner(finder, patterns, options)
