"""CUDA through CuPy: the kernels of cuda/, compiled for the device."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.base import Backend
from pairhmm.backends.cuda import kernels as cuda_kernels
from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda.kernels import FAST, LONG_ROWS, PDHMM, SCALED, TREE_ROWS, TREES, KernelVariant
from pairhmm.backends.cuda.layout import (
    UNREAD_COLUMNS,
    WARP,
    Packed,
    computed_cells,
    pack,
    pack_pairs,
    reads_of,
    strips_and_columns,
)
from pairhmm.backends.cuda.setup import translated
from pairhmm.backends.cuda.slot import SCORED_BYTES, ForwardSlot, PinnedPool
from pairhmm.backends.cuda.sources import compiled
from pairhmm.backends.cuda.walks import Walk, Walks, scratch_of, walks_of
from pairhmm.backends.tiles import (
    ITEM_BYTES,
    RESCUERS,
    SCORE_BYTES,
    TREE_ARRAYS,
    Shape,
    Tier,
    rescuer_of,
    rouse_team,
    runs_within,
)
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.models.batch import FLOAT64, SCALED_FLOAT32, UNSCORED, PairBatch, Scores
from pairhmm.models.profile import with_one_gap_model

LONGEST_TILE = 4096
"""Bases of the longest read in a tile. Up to this length, float32 without exponents is exact to a relative 1e-6.
`cuda/forward/long.cu` scores longer reads."""

RESIDENT_WARPS = 2048
"""Most warps of a kernel whose warps take their work from a list: enough to fill any device."""

BORDER_SHARE = 4
"""Divisor of a call's memory: what strips of long pairs hand on may take 1 / BORDER_SHARE of it."""

SCRATCH_SHARE = 4
"""Divisor of a call's memory: the scratch memory of warps that walk trees may take 1 / SCRATCH_SHARE of it."""

MOST_ROOM = 1 << 28
"""Most bytes of pinned memory for the scores of a batch."""

LISTED_BYTES, COUNT_BYTES = 8, 4
"""Bytes of an entry of a list of pairs to rescue (read and haplotype, uint32 each), and of a count of work or pairs."""

KernelKey = tuple[Shape, str]
"""`KernelVariant.shape` and `KernelVariant.kind`."""


class LoadedKernel(NamedTuple):
    """A compiled kernel, with the warps of a block and its bytes of shared memory."""

    kernel: Any
    warps: int
    shared_bytes: int

    def launch(self, blocks: int, arguments: tuple[Any, ...]) -> None:
        self.kernel((blocks,), (WARP * self.warps,), arguments, shared_mem=self.shared_bytes)


Launch = tuple[LoadedKernel, int, tuple[Any, ...]]
"""A kernel, its blocks and its arguments."""


def _start(launch: Launch) -> None:
    kernel, blocks, arguments = launch
    kernel.launch(blocks, arguments)


class Launches(NamedTuple):
    """The launches that score a batch, after the kernel that makes rows."""

    # `walks` begin in their order; `whole` are side by side with them, and `rescues` come after all
    walks: list[Launch]
    whole: list[Launch]
    rescues: list[Launch]


class Results(NamedTuple):
    """Addresses of what kernels write: scores and their precision, counters, and lists of pairs to rescue."""

    scores: int
    precision: int
    counters: int
    lists: int


class Sent(NamedTuple):
    """A batch that was sent, and what its first kernel needs."""

    packed: Packed
    # As in `KernelVariant`
    model: str
    extension: float | None
    whole: str  # `KernelVariant.kind` of the kernels of whole matrices
    rescued: list[int]  # Most pairs that may need each rescuer
    walks: Walks
    results: Results
    # Bytes of the buffer "listed", which is zero at first: how long each rescuer's list is, and the next work item of
    # each launch that walks trees.
    counter_bytes: int
    made: int  # Address of what the kernel of rows makes
    tiers: int  # Address of `walks.tiers`


def _shape_of(walk: Walk) -> Shape:
    return Shape(0, walk.rows, tall=walk.strips > 1)


ROWS_KERNEL: KernelKey = (Shape(0, 20), TREE_ROWS)


class CudaBackend(Backend):
    """Forward on one CUDA device.

    Parameters
    ----------
    device : int
        Index of the device.
    memory : int or None
        Bytes of its memory that all calls together may use; None for all that is free.
    """

    name = "cuda"
    concurrency = 4
    chunk_cells = 34_000_000_000
    first_chunk_cells = 8_500_000_000
    longest_fast_read = LONGEST_TILE
    times_kernels = True

    def __init__(self, device: int, memory: int | None) -> None:
        import cupy

        self._cupy = cupy
        self.label = f"{self.name}:{device}"
        self._device = cupy.cuda.Device(device)
        self._memory = memory
        self._kernels: dict[tuple[str, float | None], dict[KernelKey, LoadedKernel]] = {}
        self._long_kernels: dict[tuple[str, float | None, str], tuple[Any, Any, Any]] = {}
        self._preparing, self._lending = threading.Lock(), threading.Lock()
        self._room = PinnedPool(cupy)
        # The slot returned last is taken first, because its buffers have already grown.
        self._slots: queue.LifoQueue[ForwardSlot] = queue.LifoQueue()
        with self._device:
            self._multiprocessors = int(cupy.cuda.runtime.getDeviceProperties(device)["multiProcessorCount"])
            free = self._device.mem_info[0] if memory is None else memory
            self._call_memory = free // self.concurrency
            self._tables = cupy.asarray(cuda_kernels.tables().view(np.uint8))
            for _ in range(self.concurrency):
                self._slots.put(ForwardSlot(cupy, self.label, None if memory is None else memory // self.concurrency))

    def room_for(self, pairs: int) -> Scores | None:
        if SCORED_BYTES * pairs > MOST_ROOM:
            return None
        with self._lending, translated(self.label), self._device:
            return self._room.lend_scores(pairs)

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        return self._forward(batch, skip_read, None)

    def forward_into(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int, into: Scores) -> Scores:
        return self._forward(batch, skip_read, into)

    def _forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], into: Scores | None) -> Scores:
        batch = with_one_gap_model(batch)
        with self._slot() as slot:
            # One call prepares at a time: two at once would only take turns in the interpreter.
            with self._preparing:
                rouse_team(batch)
                sent = self._upload(slot, batch, skip_read)
                self._begin(slot, sent)
                self._launch(slot, self._prepare(slot, sent))  # while the device makes rows
            return slot.scores_to_keep(batch.pairs, into)

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        """Block-scaled float32, and float64 where gaps are too rare for its range. The CPU scores pairs with flags."""
        if batch.flags is not None:
            return Scores.none(len(pairs))
        batch = with_one_gap_model(batch)
        scores = Scores.none(len(pairs))
        reads, haplotypes = batch.pair_indices(pairs)
        for real, precision in (("float", SCALED_FLOAT32), ("double", FLOAT64)):
            left = scores.unscored()
            for part in self._parts_of_pairs(batch, reads[left], haplotypes[left], real):
                chosen = left[part]
                log10 = self._run_pairs(batch, reads[chosen], haplotypes[chosen], real)
                scores.log10[chosen] = log10
                scores.precision[chosen] = np.where(np.isnan(log10), UNSCORED, precision)
        return scores

    def computed_cells(self, batch: PairBatch) -> int:
        return computed_cells(batch, LONGEST_TILE)

    def kernel_seconds(self, batch: PairBatch, repetitions: int) -> list[float]:
        batch = with_one_gap_model(batch)
        with self._slot() as slot:
            sent = self._upload(slot, batch, np.zeros(batch.reads, dtype=bool))
            launches = self._prepare(slot, sent)

            def start() -> None:
                self._begin(slot, sent)
                self._launch(slot, launches)

            return slot.graph_seconds(start, repetitions)

    @contextmanager
    def _slot(self) -> Iterator[ForwardSlot]:
        slot = self._slots.get()
        slot.begin_call()
        try:
            with translated(self.label), self._device, slot.stream:
                yield slot
        except OutOfDeviceMemory:
            # The next call needs less of some buffers, and may need as much of others.
            slot.release()
            raise
        finally:
            self._slots.put(slot)

    def _upload(self, slot: ForwardSlot, batch: PairBatch, skip_read: NDArray[np.bool_]) -> Sent:
        """Send a batch, and prepare its first kernel while the last bytes are written."""
        model, extension = cuda_kernels.model_of(batch)
        whole = FAST if batch.flags is None else PDHMM
        found: list[Sent] = []

        def prepare(packed: Packed) -> None:
            out = slot.device("out", SCORED_BYTES * packed.pairs)
            if skip_read.any():
                out.memset_async(0xFF, SCORED_BYTES * packed.pairs, slot.stream)  # NaN and UNSCORED
            rescued = [0] * len(RESCUERS)
            for tier in packed.tiers:
                if not tier.shape.tall and whole == FAST:
                    rescued[rescuer_of(tier.shape)] += tier.pairs
            in_trees = [] if packed.trees is None else packed.tiers
            longest = min(batch.longest_read, LONGEST_TILE)
            walks = walks_of(in_trees, extension, [0, *itertools.accumulate(rescued[:-1])], longest)
            counter_bytes = COUNT_BYTES * (len(RESCUERS) + len(walks.launches))
            results = Results(
                int(out.ptr),
                int(out.ptr) + SCORE_BYTES * packed.pairs,
                int(slot.device("listed", counter_bytes).ptr),
                int(slot.device("lists", LISTED_BYTES * (packed.pairs + 1)).ptr),
            )
            entries = int(slot.device("made", walks.made_bytes).ptr) if in_trees else 0
            tiers = slot.upload("tiers", walks.tiers) if in_trees else 0
            found.append(Sent(packed, model, extension, whole, rescued, walks, results, counter_bytes, entries, tiers))

        pack(batch, skip_read, LONGEST_TILE, slot, prepare)
        return found[0]

    def _begin(self, slot: ForwardSlot, sent: Sent) -> None:
        """Start the kernel that makes rows for trees, where there are any."""
        slot.zeros("listed", sent.counter_bytes)
        trees, walks = sent.packed.trees, sent.walks
        if trees is None or not walks.items:
            return
        kernel = self._compiled(sent.model, sent.extension, [ROWS_KERNEL])[ROWS_KERNEL]
        base = slot.base
        arguments = (
            *(base, self._tables.data.ptr, base + trees.of_group, base + sent.packed.items),
            *(sent.tiers, walks.tier_count, walks.items, sent.made),
        )
        kernel.launch(-(-walks.items // cuda_kernels.ROWS_WARPS), arguments)

    def _prepare(self, slot: ForwardSlot, sent: Sent) -> Launches:
        """Compile the other kernels of a batch, and allocate all that they write."""
        packed, walks, results = sent.packed, sent.walks, sent.results
        needed = [k for k, pairs in enumerate(sent.rescued) if pairs]
        whole = packed.tiers if packed.trees is None else []
        wanted: list[KernelKey] = [(tier.shape, sent.whole) for tier in whole] + [(RESCUERS[k], SCALED) for k in needed]
        wanted += [(_shape_of(walk), TREES) for walk in walks.launches]
        kernels = self._compiled(sent.model, sent.extension, wanted)
        first_of_list = itertools.accumulate(sent.rescued, initial=0)
        list_at = [
            (results.counters + COUNT_BYTES * k, results.lists + LISTED_BYTES * at)
            for k, at in enumerate(first_of_list)
        ]
        tree_launches = self._tree_launches(slot, sent, kernels)
        whole_launches = self._whole_launches(slot, sent, whole, kernels, list_at)
        rescues = []
        for k in needed:
            blocks = min(RESIDENT_WARPS, -(-sent.rescued[k] // reads_of(RESCUERS[k])))
            arguments = (slot.base, self._tables.data.ptr, *list_at[k], results.scores, results.precision)
            rescues.append((kernels[RESCUERS[k], SCALED], blocks, arguments))
        return Launches(tree_launches, whole_launches, rescues)

    def _tree_launches(self, slot: ForwardSlot, sent: Sent, kernels: dict[KernelKey, LoadedKernel]) -> list[Launch]:
        trees, walks, results = sent.packed.trees, sent.walks.launches, sent.results
        if trees is None or not walks:
            return []
        base = slot.base
        most = self._call_memory // SCRATCH_SHARE
        blocks = scratch_of(walks, trees.sizes, sent.extension, self._multiprocessors, most)
        scratch = int(slot.device("scratch", sum(count * size for count, (size, *_) in blocks) + 8).ptr)
        arrays = [base + getattr(trees, name) for name in TREE_ARRAYS[1:]]  # the first, `of_group`, is for the rows
        launches: list[Launch] = []
        for number, (walk, (count, (size, *parts))) in enumerate(zip(walks, blocks, strict=True)):
            arguments = (
                *(base, self._tables.data.ptr, *arrays),
                *(
                    sent.tiers,
                    sent.made + walk.made,
                    walk.item_bytes,
                    walk.items,
                    sent.packed.lead,
                    scratch,
                    size,
                    *parts,
                ),
                *(results.counters + COUNT_BYTES * (len(RESCUERS) + number), results.counters),
                *(results.lists, results.scores, results.precision),
            )
            launches.append((kernels[_shape_of(walk), TREES], count, arguments))
            scratch += count * size
        return launches

    def _whole_launches(
        self,
        slot: ForwardSlot,
        sent: Sent,
        tiers: Sequence[Tier],
        kernels: dict[KernelKey, LoadedKernel],
        list_at: Sequence[tuple[int, int]],
    ) -> list[Launch]:
        packed, results = sent.packed, sent.results
        sizes = [self._whole_blocks(sent, tier, len(tiers)) for tier in tiers]
        between = int(slot.device("between", sum(blocks * size for blocks, size, _ in sizes) + 8).ptr)
        launches: list[Launch] = []
        for tier, (blocks, size, widest) in zip(tiers, sizes, strict=True):
            lists = (0, 0) if tier.shape.tall else list_at[rescuer_of(tier.shape)]
            arguments = (
                *(slot.base, self._tables.data.ptr, slot.base + packed.items + ITEM_BYTES * tier.first_item),
                *(tier.items, tier.last, tier.haplotypes_each, *lists, between, widest),
                *(results.scores, results.precision),
            )
            launches.append((kernels[tier.shape, sent.whole], blocks, arguments))
            between += blocks * size
        return launches

    def _whole_blocks(self, sent: Sent, tier: Tier, tiers: int) -> tuple[int, int, int]:
        """Blocks of a tier's launch, the bytes of memory that each needs, and fast.cu's `widest`.

        Where blocks keep states, there are as many as the device holds, or as a share of its memory allows.
        """
        if tier.shape.tall:
            return tier.items, cuda_kernels.between_bytes(sent.packed.widest), sent.packed.widest
        size = sent.packed.slots * cuda_kernels.pdhmm_slot_bytes(tier.shape.rows)
        if size == 0:
            return tier.items, 0, 0
        resident = self._multiprocessors * cuda_kernels.resident_pdhmm(tier.shape, sent.extension)
        most = self._call_memory // SCRATCH_SHARE // tiers // size
        return max(1, min(tier.items, resident, most)), size, size // cuda_kernels.STATE_BYTES

    def _launch(self, slot: ForwardSlot, launches: Launches) -> None:
        """Start the kernels of all tiers side by side, then those that rescue the pairs that they list.

        The counter of each walk is set to zero when the walk before it may begin. So walks begin in their order, in a
        CUDA graph, too.
        """
        with slot.side_by_side(len(launches.walks) + len(launches.whole)) as streams:
            for number, launch in enumerate(launches.walks):
                slot.zero("listed", COUNT_BYTES * (len(RESCUERS) + number), COUNT_BYTES)
                side = next(streams)
                side.wait_event(slot.stream.record())
                with side:
                    _start(launch)
            for launch in launches.whole:
                with next(streams):
                    _start(launch)
        with slot.side_by_side(len(launches.rescues)) as streams:
            for launch in launches.rescues:
                with next(streams):
                    _start(launch)

    def _parts_of_pairs(
        self, batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64], real: str
    ) -> Iterator[slice]:
        """Runs of pairs whose borders and crossings fit into their share of the device's memory."""
        with translated(self.label):
            free = self._device.mem_info[0] if self._memory is None else self._memory
        strips, columns = strips_and_columns(batch, reads, haplotypes, WARP * LONG_ROWS[real])
        sizes = cuda_kernels.crossing_bytes(real) * strips + cuda_kernels.border_bytes(real) * columns
        return runs_within(sizes, max(1, free // self.concurrency // BORDER_SHARE))

    def _run_pairs(
        self, batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64], real: str
    ) -> NDArray[np.float64]:
        model, extension = cuda_kernels.model_of(batch)
        with self._slot() as slot:
            packed = pack_pairs(batch, reads, haplotypes, WARP * LONG_ROWS[real], slot)
            base, tables = slot.base, self._tables.data.ptr
            next_item = slot.zeros("listed", COUNT_BYTES)
            borders = slot.zeros("between", cuda_kernels.border_bytes(real) * (packed.columns + UNREAD_COLUMNS))
            crossings = slot.device("crossings", cuda_kernels.crossing_bytes(real) * packed.items).ptr
            scores = slot.device("out", SCORE_BYTES * len(reads)).ptr
            pairs = tuple(base + place for place in (packed.pair_item, packed.pair_read, packed.pair_haplotype))
            places = base + packed.item_pair, *pairs, base + packed.pair_column
            strips, join, add = self._compiled_pairs(model, extension, real)
            blocks = min(RESIDENT_WARPS, packed.items)
            arguments = base, tables, np.uint32(packed.items), *places, next_item, borders, crossings
            strips((blocks,), (WARP,), arguments, shared_mem=cuda_kernels.long_shared_bytes(real))
            join((packed.items,), (WARP,), (base, *places, borders, crossings))
            add((len(reads),), (WARP,), (base, *pairs, crossings, scores))
            return slot.scores(SCORE_BYTES * len(reads)).view(np.float64).copy()

    def _compiled_pairs(self, model: str, extension: float | None, real: str) -> tuple[Any, Any, Any]:
        """The kernels of single pairs: that of their strips, that which joins their halves, and that of their sums."""
        key = (model, extension, real)
        if key not in self._long_kernels:
            text = cuda_kernels.long_source(*key)
            strips, join, add = (compiled(self._cupy, text, f"forward_{name}") for name in ("long", "join", "sum"))
            self._long_kernels[key] = strips, join, add
        return self._long_kernels[key]

    def _compiled(
        self, model: str, extension: float | None, wanted: Sequence[KernelKey]
    ) -> dict[KernelKey, LoadedKernel]:
        """Kernels by shape and kind. New kernels are compiled in parallel."""
        kernels = self._kernels.setdefault((model, extension), {})
        new = [
            KernelVariant(shape, model, extension, kind)
            for shape, kind in dict.fromkeys(wanted)
            if (shape, kind) not in kernels
        ]
        if new:
            with ThreadPoolExecutor(len(new)) as pool:
                for variant, kernel in zip(new, pool.map(self._compile_variant, new), strict=True):
                    kernels[variant.shape, variant.kind] = kernel
        return kernels

    def _compile_variant(self, variant: KernelVariant) -> LoadedKernel:
        shared_bytes = cuda_kernels.forward_shared_bytes(variant)
        with self._device:
            kernel = compiled(self._cupy, cuda_kernels.forward_source(variant), variant.name)
            if variant.kind == SCALED:
                kernel.preferred_shared_memory_carveout = cuda_kernels.SHARED_PERCENT
        return LoadedKernel(kernel, cuda_kernels.warps_of(variant.kind), shared_bytes)


def make(device: int, memory: int | None) -> CudaBackend:
    with cuda_setup.starting(device):
        return CudaBackend(device, memory)
