"""Warps on one or several devices."""

from __future__ import annotations

from pairhmm.engine.pair_pool import PairPool
from pairhmm.warping.base import Warper
from pairhmm.warping.batch import SignalPairs, Warpings, WarpOptions


class WarperPool(PairPool[Warper, SignalPairs], Warper):
    """Warpers that share the pairs of each call."""

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        """The cheapest warping of each pair, on `threads` CPU threads."""
        return Warpings.concatenate(self.run(pairs, lambda one, chunk: one.warpings(chunk, options, threads)))
