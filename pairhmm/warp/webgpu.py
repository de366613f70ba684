"""Time warping on a WebGPU device, with wgpu: the kernel of `shaders/warp/`, its records, and its launches."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.pair_kernels import (
    BINDINGS,
    DISPATCH_FIELDS,
    USAGES,
    PairDispatch,
    pair_device,
    strip_dispatches,
)
from pairhmm.backends.webgpu.slot import WORD, Slot
from pairhmm.backends.webgpu.templates import Field, Record, assemble, constants
from pairhmm.engine.tools import Fallback
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.sequences.arrays import joined
from pairhmm.warp.base import WARPERS, SignalPairs, Signals, Warper, Warpings, WarpOptions

WIDTH = 32
"""Invocations of a workgroup, each of which has a pair."""

ROWS = (8, 32)
"""Rows of a strip: of pairs with few rows, and of others."""

LARGEST_DIFFERENCE = 2**16 - 1

LARGEST = {False: 1 << 24, True: 2**31 - 1 - LARGEST_DIFFERENCE}
"""The cost from which on lanes do not hold it, by whether they are wide."""

SIGNAL_PAIR = Record(
    "SignalPair",
    Field("rows_at", "u32", "the level of the first row"),
    Field("rows", "u32", ""),
    Field("columns_at", "u32", "the level of the first column"),
    Field("columns", "u32", ""),
    Field("cost", "u32", "backwards: what the path costs"),
)

WARP_PARAMS = Record(
    "WarpParams",
    *DISPATCH_FIELDS,
    Field("direction", "u32", "from a level to the next one: 1, or 2^32 - 1 for backwards"),
    Field("is_free", "u32", "1: paths begin in any row"),
    Field("is_backward", "u32", "1: rows end where the path's cost is found"),
    Field("band", "u32", "the most that a row may differ from its column"),
)
"""The uniform block of a dispatch."""

WARP_RESULT = Record(
    "WarpResult",
    Field("last", "u32", ""),
    Field("least", "u32", ""),
    Field("place", "u32", ""),
)
"""The result of a dispatch for each pair (`Found` of warp.wgsl)."""


@dataclass(frozen=True, slots=True)
class WarpVariant:
    """Compile-time constants: the rows of a strip, whether costs are integers, and whether there is a band."""

    rows: int
    wide: bool
    banded: bool


def source(variant: WarpVariant) -> tuple[str, str]:
    """WGSL of a variant, and its entry point."""
    sizes = {"ROWS": variant.rows}
    switches = {"WIDE": int(variant.wide), "BANDED": int(variant.banded)}
    records = {record.name: record.declaration for record in (SIGNAL_PAIR, WARP_PARAMS)}
    values = constants({"W": WIDTH, "LARGEST": LARGEST[variant.wide]} | sizes)
    return assemble("warp/warp.wgsl", read, records | values, sizes | switches), "warp_signals"


log = logging.getLogger(__name__)

MOST_CELLS = 1 << 36
"""Most cells of a submission to a discrete GPU: what a fast one takes 7 to 30 ms for."""

BACKWARDS = 2**32 - 1
"""-1 in unsigned integers."""

Table = NDArray[np.void]


class WebgpuWarper(Warper):
    """Warps on one WebGPU device."""

    def __init__(self, number: int) -> None:
        self.label = f"webgpu:{number}"
        self._shared = pair_device(number)
        self._slot = Slot(self._shared.handle, self.label, USAGES)
        self._fallback = Fallback(WARPERS, self.label)

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        """The cheapest warping of each pair. Raises DeviceLost."""
        if not len(pairs):
            return Warpings.unwarped(pairs, options)[0]
        with self._shared.in_use(self.label):
            return self._halved(pairs, options, threads)

    def _halved(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        """Warp all pairs together; where memory does not suffice, one half after the other.

        A pool of devices would halve a chunk, too. A warper that is called alone has none.
        """
        try:
            return self._warpings(pairs, options, threads)
        except OutOfDeviceMemory:
            self._slot.release()
            if len(pairs) == 1:
                return self._fallback.of("pairs of this size").warpings(pairs, options, threads)
        middle = len(pairs) // 2
        log.warning("%s: out of memory; %s pairs at once now", self.label, f"{middle:,}")
        parts = [self._halved(pairs.part(*ends), options, threads) for ends in ((0, middle), (middle, len(pairs)))]
        return Warpings.concatenate(parts)

    def _warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        self._slot.begin_call()
        warpings, has_path = Warpings.unwarped(pairs, options)
        table = self._upload(pairs, options)
        left = np.flatnonzero(has_path)
        for wide in (False, True):
            if len(left):
                left = self._costs(table, left, options, wide, warpings)
        if len(left):
            fallback = self._fallback.of("costs beyond 31 bits")
            warpings.put(left, fallback.warpings(pairs.taken(left), options, threads))
        return warpings

    def _upload(self, pairs: SignalPairs, options: WarpOptions) -> Table:
        """Send the levels, and return the pairs as kernels read them."""
        queries, queries_at = _needed(pairs.queries, pairs.query_index)
        targets, targets_at = _needed(pairs.targets, pairs.target_index)
        padding = np.zeros(-(len(queries) + len(targets)) % 2, dtype=np.int16)
        self._slot.upload("given", joined([queries, targets, padding], np.int16))
        sides = [
            (pairs.queries.offsets[pairs.query_index] - queries_at, pairs.queries.lengths[pairs.query_index]),
            (
                pairs.targets.offsets[pairs.target_index] - targets_at + len(queries),
                pairs.targets.lengths[pairs.target_index],
            ),
        ]
        table = np.zeros(len(pairs), dtype=SIGNAL_PAIR.dtype)
        rows, columns = sides[::-1] if options.mode == "subsequence" else sides
        table["rows_at"], table["rows"] = rows
        table["columns_at"], table["columns"] = columns
        return table

    def _costs(
        self, table: Table, some: NDArray[np.int64], options: WarpOptions, wide: bool, warpings: Warpings
    ) -> NDArray[np.int64]:
        """Warp some pairs. Returns those whose costs are too large for these lanes."""
        results = self._run(table[some], wide, options.band, is_free=options.mode == "subsequence")
        costs = results["least" if options.mode == "subsequence" else "last"]
        fit = costs < LARGEST[wide]
        done, results = some[fit], results[fit]
        warpings.costs[done] = costs[fit]
        if options.mode == "global":
            warpings.ends[done] = table["columns"][done]
            return some[~fit]
        warpings.ends[done] = results["place"] + 1
        # From the path's end backwards: the first row that has its cost is where it begins.
        back = table[done]
        back["rows_at"] += results["place"]
        back["rows"] = results["place"] + 1
        back["columns_at"] += back["columns"] - 1
        back["cost"] = results["least"]
        if len(done):
            starts = self._run(back, wide, None, is_backward=True)["place"]
            warpings.starts[done] = results["place"].astype(np.int64) - starts
        return some[~fit]

    def _run(
        self, table: Table, wide: bool, band: int | None, *, is_free: bool = False, is_backward: bool = False
    ) -> Table:
        """Results of the kernel for each pair of a table."""
        rows, columns = table["rows"].astype(np.int64), table["columns"].astype(np.int64)
        strips = np.where(rows <= ROWS[0], ROWS[0], ROWS[1])
        order = np.lexsort((rows, columns, strips))
        table, rows, columns, strips = table[order], rows[order], columns[order], strips[order]
        self._slot.upload("pairs", table)
        banded = band is not None and band < max(rows.max(), columns.max())
        of_call = {
            "direction": BACKWARDS if is_backward else 1,
            "is_free": int(is_free),
            "is_backward": int(is_backward),
            "band": band if banded else 0,
        }
        dispatches, border = [], 0
        for strip in ROWS:
            begin, end = np.searchsorted(strips, [strip, strip + 1]).tolist()
            variant = WarpVariant(strip, wide, banded)
            for cut in strip_dispatches(
                rows[begin:end],
                columns[begin:end],
                strip,
                columns[begin:end],
                MOST_CELLS // self._shared.slower,
                self._shared.most_border // WORD,
            ):
                params = WARP_PARAMS.values(cut.params(begin) | of_call)
                dispatches.append(PairDispatch(variant, params, cut.end - cut.begin, BINDINGS[:4]))
                border = max(border, cut.border)
        self._shared.compile([dispatch.variant for dispatch in dispatches], source)
        self._slot.make_room("border", WORD * border)
        size = WARP_RESULT.dtype.itemsize * len(table)
        self._slot.make_room("found", size)
        results = np.empty(len(table), dtype=WARP_RESULT.dtype)
        results[order] = self._shared.run(self._slot, dispatches, WIDTH, size).view(WARP_RESULT.dtype)
        return results


def _needed(signals: Signals, index: NDArray[np.int32]) -> tuple[NDArray[np.int16], int]:
    """The levels from the first signal of an index to the last one, and where they begin in `Signals.levels`."""
    begin, end = int(signals.offsets[index.min()]), int(signals.offsets[int(index.max()) + 1])
    return signals.levels[begin:end], begin


def make(device: int = 0) -> WebgpuWarper:
    """A warper on a WebGPU device. Raises BackendUnavailable."""
    with webgpu_setup.starting(f"webgpu:{device}"):
        return WebgpuWarper(device)
