"""The protocol of warpers, the choice of them, and the pool of those that share pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pairhmm.engine.pair_pool import PairPool
from pairhmm.engine.tools import Tool
from pairhmm.warp.batch import SignalPairs, Warpings, WarpOptions


class Warper(Protocol):
    """Warps signals onto signals. All warpers give the same costs and places: levels and sums are whole numbers.

    A module of this folder has ``make() -> Warper``, or ``make(device: int) -> Warper`` if its backend has devices.

    Attributes
    ----------
    label : str
        Name of the warper in messages.
    """

    label: str

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        """The cheapest warping of each pair, on `threads` CPU threads."""
        ...


WARPERS = Tool[Warper]("pairhmm.warp", "warp")

WORTH_A_DEVICE = 7_500_000_000
"""Cells for each CPU thread from which "auto" starts a GPU. A thread of an AMD EPYC with AVX-512 computes 5 to 12 G in
a second, and a GPU begins to warp after about 1.5 s."""


class WarperPool(PairPool[Warper, SignalPairs], Warper):
    """Warpers that share the pairs of each call."""

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        """The cheapest warping of each pair, on `threads` CPU threads."""
        return Warpings.concatenate(self.run(pairs, lambda one, chunk: one.warpings(chunk, options, threads)))


def choose(backend: str, devices: Sequence[int] | None, cells: int, threads: int) -> WarperPool:
    """The warpers of that name; for "auto", of the backend that is expected to finish first, which a message names.

    Parameters
    ----------
    backend, devices
        As for `Tool.choose`.
    cells : int
        Approximate number of cells; 0 if unknown.
    threads : int
    """
    workers = WARPERS.choose(backend, devices, cells >= WORTH_A_DEVICE * threads)
    return WarperPool(workers, WARPERS.on_the_cpu)
