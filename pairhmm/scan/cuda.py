"""Scan on a CUDA device: run the kernels of `cuda/scan/` through CuPy."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import translated
from pairhmm.backends.cuda.slot import Slot
from pairhmm.scan.base import Patterns, Scanner, ScanOptions
from pairhmm.scan.device import FOUND_WORDS, DeviceScanner, RawMatches
from pairhmm.scan.index import COLUMNS, PER_WORD, Index
from pairhmm.scan.sending import Bytes, Filling, Sender, Sending
from pairhmm.sequences.records import Samples

KERNELS = ("mark", "match", "sums", "carry", "totals", "verify")
THREADS = 256
"""Threads of a block."""

TILE = 2048
"""Positions that a block of scan_match takes."""

MARKED = 32
"""Letters that share a bit. The bit says whether any of them is not N."""

SUMMED = 64
"""Qualities that a thread of scan_sums adds up."""

SUM_TILE = SUMMED * THREADS
"""Qualities that a block of scan_sums adds up."""

VERIFY_BLOCKS = 512
"""Most blocks of scan_verify. Up to here it has four blocks for each block of scan_match."""

FIRST_CAPACITY = 1 << 16
"""Places that the list has room for at first. It grows when a call finds more."""

FOUND_BYTES, COUNT_BYTES, LISTED_BYTES = 4 * FOUND_WORDS, 16, 16
"""Bytes on the device of a match, of the numbers of places and of matches, and of a place on the list."""

FIRST_MATCHES = 4096
"""Most matches that are downloaded along with their number. If there are more, a second download fetches them all."""

MOST_BASES = 1 << 30
"""Most bases of a call. Positions are 32-bit words."""


CONSTANTS: dict[str, sources.Constant] = {
    "THREADS": THREADS,
    "TILE": TILE,
    "MARKED": MARKED,
    "COLUMNS": COLUMNS,
    "SUMMED": SUMMED,
    "FOUND_BYTES": FOUND_BYTES,
    "LISTED_BYTES": LISTED_BYTES,
}
"""Constants that the kernels of `cuda/scan/` are compiled with."""


def source(bases: int) -> str:
    """Text of the kernels for anchors of `bases` letters."""
    parts = ("letters.cuh", "mark.cu", "match.cu", "sums.cu", "verify.cu")
    return sources.source(CONSTANTS | {"BASES": bases}, *(f"scan/{name}" for name in parts))


@dataclass(frozen=True, slots=True)
class _Part:
    """The device memory of one call."""

    # Number of segments, and of tiles of scan_match and of scan_sums.
    segments: int
    tiles: int
    # Letters, words of letters (with N after the last letter), and carried letters.
    bases: np.uint32
    word_count: np.uint32
    carried: np.uint32
    # `qualities` is None for samples without qualities.
    words: Any
    with_letters: Any
    offset: Any
    qualities: Any
    sums: tuple[int, ...]  # addresses of `within`, `before` and the tiles' sums; empty without qualities
    sum_tiles: int

    @property
    def packed(self) -> tuple[int, int]:
        """Addresses of the words of letters, and of the bits that mark letters other than N."""
        return self.words.ptr, self.with_letters.ptr


class CudaFinder:
    """Finds patterns on one CUDA device."""

    most_bases = MOST_BASES

    def __init__(self, device: int, index: Index, longest: int, options: ScanOptions) -> None:
        import cupy

        self._cupy = cupy
        self.label = f"cuda:{device}"
        self._device = cupy.cuda.Device(device)
        self._rules = np.uint32(min(options.max_mismatches, longest)), np.uint32(options.min_informative)
        self._longest = np.uint32(longest)
        self._capacity = FIRST_CAPACITY
        self._lock = threading.Lock()
        with self._device:
            self._sizes = np.uint32(index.anchors), np.uint32(len(index.handles))
            names = ("known", "first", "anchor", "handles", "patterns", "words")
            self._tables = {name: cupy.asarray(_not_empty(getattr(index, name))) for name in names}
            self._slot = Slot(cupy, self.label)
            self._sender = PinnedSender(cupy)
            text = source(index.bases)
            self._kernels = {name: sources.compiled(cupy, text, f"scan_{name}") for name in KERNELS}
            # The tables were sent on another stream.
            self._device.synchronize()

    def find(self, samples: Samples) -> tuple[RawMatches, NDArray[np.int64]]:
        if not len(samples.letters):
            return np.empty((0, FOUND_WORDS), np.uint32), np.zeros(len(samples), np.int64)
        with self._lock, translated(self.label), self._device, self._slot.stream:
            try:
                return self._find(samples)
            finally:
                # Copies that still run read the samples, so they must end first.
                self._sender.give_up()

    def _find(self, samples: Samples) -> tuple[RawMatches, NDArray[np.int64]]:
        """The matches and the totals. Matching overlaps the copy of the qualities."""
        part = self._part(samples)
        self._sender.begin(samples.offset.astype(np.uint32).view(np.uint8), part.offset)
        letters = last = self._sender.begin(samples.letters, part.words, packed=True)
        if samples.qualities is not None:
            last = self._sender.begin(samples.qualities, part.qualities)
        self._after(letters)
        self._launch("mark", -(-int(part.word_count) // THREADS), part.bases, part.word_count, *part.packed)
        while True:
            head = COUNT_BYTES + 8 * part.segments + 8 * (part.segments % 2)
            out = self._slot.device("out", head + FOUND_BYTES * self._capacity)
            out.memset_async(0, head, self._slot.stream)
            listed = self._slot.device("list", LISTED_BYTES * self._capacity).ptr, np.uint32(self._capacity)
            self._match(part, out.ptr, *listed)
            self._after(last)
            if part.sums:
                self._sum(part, out.ptr + COUNT_BYTES)
            self._verify(part, *listed, out.ptr, out.ptr + head)
            host = self._download(head + FOUND_BYTES * min(FIRST_MATCHES, self._capacity))
            needed, matches = host[:8].view(np.uint32).tolist()
            if needed <= self._capacity:
                break
            self._capacity = needed + needed // 4
        if matches > FIRST_MATCHES:
            host = self._download(head + FOUND_BYTES * matches)
        totals = host[COUNT_BYTES : COUNT_BYTES + 8 * part.segments].view(np.int64)
        found = host[head : head + FOUND_BYTES * matches].view(np.uint32).reshape(-1, FOUND_WORDS)
        return found, totals

    def _part(self, samples: Samples) -> _Part:
        """Make room for a call on the device."""
        bases, segments = len(samples.letters), len(samples)
        tiles = -(-bases // TILE)
        words = (tiles + 1) * TILE // PER_WORD
        blocks = bases // SUM_TILE + 1 if samples.qualities is not None else 0
        sizes = {"within": 4 * THREADS * blocks, "before": 8 * blocks, "all": 4 * blocks}
        return _Part(
            segments,
            tiles,
            np.uint32(bases),
            np.uint32(words),
            np.uint32(samples.carried),
            self._slot.device("packed", 4 * words),
            self._slot.device("with_letters", words * PER_WORD // MARKED // 8),
            self._slot.device("offset", 4 * (segments + 1)),
            self._slot.device("qualities", SUM_TILE * blocks) if blocks else None,
            tuple(self._slot.device(name, size).ptr for name, size in sizes.items()) if blocks else (),
            blocks,
        )

    def _match(self, part: _Part, counts: int, listed: int, room: np.uint32) -> None:
        self._launch(
            "match",
            part.tiles,
            *part.packed,
            part.offset.ptr,
            np.uint32(part.segments),
            part.carried,
            *self._table("known", "first", "anchor", "handles"),
            *self._sizes,
            *self._table("patterns", "words"),
            self._longest,
            *self._rules,
            counts,
            listed,
            room,
        )

    def _sum(self, part: _Part, totals: int) -> None:
        within, before, tile_sums = part.sums
        qualities, segments = part.qualities.ptr, np.uint32(part.segments)
        self._launch("sums", part.sum_tiles, qualities, within, tile_sums)
        self._launch("carry", 1, tile_sums, np.uint32(part.sum_tiles), before)
        blocks = -(-part.segments // THREADS)
        self._launch("totals", blocks, qualities, within, before, part.offset.ptr, segments, part.carried, totals)

    def _verify(self, part: _Part, listed: int, room: np.uint32, counts: int, hits: int) -> None:
        sums = (part.qualities.ptr, *part.sums[:2]) if part.sums else (0, 0, 0)
        tables = self._table("patterns", "words")
        blocks = min(VERIFY_BLOCKS, 4 * part.tiles)
        self._launch("verify", blocks, part.packed[0], *tables, *self._rules, *sums, listed, room, counts, hits)

    def _after(self, sending: Sending) -> None:
        """Make the kernels launched after this wait until an array is on the device."""
        self._sender.finish(sending)
        self._slot.stream.wait_event(self._sender.stream.record())

    def _launch(self, name: str, blocks: int, *arguments: Any) -> None:
        self._kernels[name]((blocks,), (THREADS,), arguments)

    def _table(self, *names: str) -> Iterator[int]:
        return (int(self._tables[name].data.ptr) for name in names)

    def _download(self, size: int) -> NDArray[np.uint8]:
        return self._slot.download("out", np.empty(size, dtype=np.uint8))


def _not_empty(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return values if values.size else np.zeros(4, dtype=np.uint32)


def make(patterns: Patterns, options: ScanOptions, device: int = 0) -> Scanner:
    """A scanner on a CUDA device. Raises BackendUnavailable."""
    longest = int(np.diff(patterns.offset).max(initial=1))
    with cuda_setup.starting(device):
        finder = CudaFinder(device, Index.of(patterns, options.max_mismatches), longest, options)
    return DeviceScanner(finder, patterns, options)


PIECE, PIECES = 1 << 23, 16
"""Bytes of a piece of pinned memory, and the number of pieces."""


class PinnedSender(Sender):
    """Sends arrays to device memory, on `stream`."""

    def __init__(self, cupy: Any) -> None:
        super().__init__(PIECE, PIECES)
        self._cupy = cupy
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self._sent: deque[tuple[Bytes, Any]] = deque()  # pieces, with the event after which they are free

    def _take(self) -> Any:
        while self._sent and self._sent[0][1].done:
            self._free.append(self._sent.popleft())
        return super()._take()

    def _make(self) -> tuple[Bytes, Any]:
        memory = np.frombuffer(self._cupy.cuda.alloc_pinned_memory(PIECE), np.uint8, PIECE)
        return memory, self._cupy.cuda.Event(disable_timing=True)

    def _memory(self, piece: tuple[Bytes, Any]) -> Bytes:
        return piece[0]

    def _pass(self, filling: Filling) -> None:
        memory, sent = filling.piece
        target = filling.sending.target + filling.sending.size(filling.first)
        target.copy_from_host_async(memory.ctypes.data, filling.sending.size(filling.count), self.stream)
        sent.record(self.stream)
        self._sent.append(filling.piece)

    def _reclaim(self) -> None:
        self._sent[0][1].synchronize()
        self._free.append(self._sent.popleft())
