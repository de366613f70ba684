"""Time warping on a WebGPU device, with wgpu. The kernel is in webgpu_kernels.py."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.pair_kernels import BINDINGS, USAGES, PairDispatch, pair_device, strip_dispatches
from pairhmm.backends.webgpu.setup import status, translated
from pairhmm.backends.webgpu.slot import WORD, Slot
from pairhmm.engine.tools import Fallback
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.sequences.arrays import joined
from pairhmm.warp.base import WARPERS, Warper
from pairhmm.warp.batch import NO_PATH, SignalPairs, Signals, Warpings, WarpOptions
from pairhmm.warp.webgpu_kernels import (
    LARGEST,
    ROWS,
    SIGNAL_PAIR,
    WARP_PARAMS,
    WARP_RESULT,
    WIDTH,
    WarpVariant,
    source,
)

__all__ = ["WebgpuWarper", "make", "status"]

log = logging.getLogger(__name__)

MOST_CELLS = 1 << 36
"""Most cells of a submission to a discrete GPU: what a fast one takes 7 to 30 ms for."""

BACKWARDS = 2**32 - 1
"""-1 in unsigned integers."""

Table = NDArray[np.void]


class WebgpuWarper(Warper):
    """Warps on one WebGPU device.

    Parameters
    ----------
    number : int
        Index of the device.
    """

    def __init__(self, number: int) -> None:
        self.label = f"webgpu:{number}"
        self._shared = pair_device(number)
        self._slot = Slot(self._shared.handle, self.label, USAGES)
        self._fallback = Fallback(WARPERS, self.label)

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        """The cheapest warping of each pair.

        Raises
        ------
        DeviceLost
        """
        if not len(pairs):
            return _none(0)
        try:
            with self._shared.one_call, translated(self.label):
                return self._halved(pairs, options, threads)
        except DeviceLost:
            pair_device.cache_clear()
            raise

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
        found = _none(len(pairs))
        with_path = _with_path(pairs, options)
        found.costs[~with_path & _both_empty(pairs)] = 0
        table = self._upload(pairs, options)
        left = np.flatnonzero(with_path)
        for wide in (False, True):
            if len(left):
                left = self._costs(table, left, options, wide, found)
        if len(left):
            other = self._fallback.of("costs beyond 31 bits")
            some = pairs.taken(left)
            theirs = other.warpings(some, options, threads)
            found.costs[left], found.starts[left], found.ends[left] = theirs.costs, theirs.starts, theirs.ends
        return found

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
        self, table: Table, some: NDArray[np.int64], options: WarpOptions, wide: bool, found: Warpings
    ) -> NDArray[np.int64]:
        """Warp some pairs. Returns those whose costs are too large for these lanes."""
        results = self._run(table[some], wide, options.band, is_free=options.mode == "subsequence")
        costs = results["least" if options.mode == "subsequence" else "last"]
        fit = costs < LARGEST[wide]
        done, results = some[fit], results[fit]
        found.costs[done] = costs[fit]
        if options.mode == "global":
            found.ends[done] = table["columns"][done]
            return some[~fit]
        found.ends[done] = results["place"] + 1
        # From the path's end backwards: the first row that has its cost is where it begins.
        back = table[done]
        back["rows_at"] += results["place"]
        back["rows"] = results["place"] + 1
        back["columns_at"] += back["columns"] - 1
        back["cost"] = results["least"]
        if len(done):
            starts = self._run(back, wide, None, is_backward=True)["place"]
            found.starts[done] = results["place"].astype(np.int64) - starts
        return some[~fit]

    def _run(
        self, table: Table, wide: bool, band: int | None, *, is_free: bool = False, is_backward: bool = False
    ) -> Table:
        """What the kernel finds for each pair of a table."""
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
        dispatches, variants, border = [], [], 0
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
                items = cut.end - cut.begin
                params = WARP_PARAMS.values(
                    {
                        "first_pair": begin + cut.begin,
                        "items": items,
                        "stride": items,
                        "first_row": cut.first_row,
                        "end_row": cut.end_row,
                        **of_call,
                    }
                )
                dispatches.append(PairDispatch(variant, params, items, BINDINGS[:4]))
                variants.append(variant)
                border = max(border, cut.border)
        self._shared.compile(variants, source)
        self._slot.make_room("border", WORD * border)
        size = WARP_RESULT.dtype.itemsize * len(table)
        self._slot.make_room("found", size)
        results = np.empty(len(table), dtype=WARP_RESULT.dtype)
        results[order] = self._shared.run(self._slot, dispatches, WIDTH, size).view(WARP_RESULT.dtype)
        return results


def _none(pairs: int) -> Warpings:
    """No path."""
    return Warpings(np.full(pairs, NO_PATH, np.int64), np.zeros(pairs, np.int32), np.zeros(pairs, np.int32))


def _lengths(pairs: SignalPairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return pairs.queries.lengths[pairs.query_index], pairs.targets.lengths[pairs.target_index]


def _both_empty(pairs: SignalPairs) -> NDArray[np.bool_]:
    queries, targets = _lengths(pairs)
    empty: NDArray[np.bool_] = (queries == 0) & (targets == 0)
    return empty


def _with_path(pairs: SignalPairs, options: WarpOptions) -> NDArray[np.bool_]:
    """The pairs of signals that are not empty, and whose lengths the band allows."""
    queries, targets = _lengths(pairs)
    good: NDArray[np.bool_] = (queries > 0) & (targets > 0)
    if options.band is not None:
        good &= np.abs(queries - targets) <= options.band
    return good


def _needed(signals: Signals, index: NDArray[np.int32]) -> tuple[NDArray[np.int16], int]:
    """The levels from the first signal of an index to the last one, and where they begin in `Signals.levels`."""
    begin, end = int(signals.offsets[index.min()]), int(signals.offsets[int(index.max()) + 1])
    return signals.levels[begin:end], begin


def make(device: int = 0) -> WebgpuWarper:
    """A warper on a WebGPU device.

    Raises
    ------
    BackendUnavailable
    """
    with webgpu_setup.starting(f"webgpu:{device}"):
        return WebgpuWarper(device)
