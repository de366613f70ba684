"""The protocol of warpers."""

from __future__ import annotations

from typing import Protocol

from pairhmm.engine.tools import Tool
from pairhmm.warping.batch import SignalPairs, Warpings, WarpOptions


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


WARPERS = Tool[Warper]("pairhmm.warping", "warp")
