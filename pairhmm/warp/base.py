"""The data of a warping, the protocol of warpers, and the choice of them.

Signals are flat arrays with offsets. Warpers that share the pairs of a call are a pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from pairhmm.engine.pair_pool import PairPool
from pairhmm.engine.pairs import Pairs
from pairhmm.engine.tools import Tool
from pairhmm.errors import OptionError
from pairhmm.options import Within, check_fields
from pairhmm.sequences.arrays import joined, offsets

WarpMode = Literal["global", "subsequence"]


@dataclass(frozen=True, slots=True)
class WarpOptions:
    """Rules for warping paths.

    A path goes through cells (i, j), one of the query's levels and one of the target's, by steps of one in i, in j or
    in both. Its cost is the sum of |query[i] - target[j]| over its cells (Sakoe and Chiba 1978, without weights).

    Attributes
    ----------
    mode : str
        "global": from the first cell to the last. "subsequence": from any cell of the query's first level to any of its
        last, so that all of the query is warped onto the cheapest part of the target.
    band : int, optional
        The most that i may differ from j, for "global" alone (Sakoe and Chiba's window). Two lengths that differ by
        more have no path.
    """

    mode: WarpMode = "global"
    band: Annotated[int | None, Within(0)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.band is not None and self.mode != "global":
            raise OptionError("band", self.band, 'is for mode "global" alone')


class WarpKeywords(TypedDict, total=False):
    """The fields of `WarpOptions`."""

    mode: WarpMode
    band: int | None


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals end to end."""

    levels: NDArray[np.int16]  # [levels]
    offsets: NDArray[np.int64]  # [signals + 1]: where each begins in `levels`; the last is where the last one ends

    @classmethod
    def of(cls, signals: Sequence[NDArray[np.int16]]) -> Signals:
        """Put arrays of levels end to end."""
        return cls(joined(signals, np.int16), offsets([len(one) for one in signals]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.int16]:
        return self.levels[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)


class SignalPairs(Pairs[Signals]):
    """Which query is warped onto which target."""

    __slots__ = ()


NO_PATH = np.iinfo(np.int64).max
"""The cost where the band, or an empty signal beside one that is not, leaves no path."""


@dataclass(frozen=True, slots=True)
class Warpings:
    """The cheapest warping of each pair."""

    costs: NDArray[np.int64]  # [pairs]: `NO_PATH` where there is none. Two empty signals cost 0.
    # [pairs]: the part of the target that is under the path (0-based half-open); of several cheapest ones that which
    # ends first, and of those that which starts last. All of the target in mode "global"; 0 and 0 without a path.
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def unwarped(cls, pairs: SignalPairs, options: WarpOptions) -> tuple[Warpings, NDArray[np.bool_]]:
        """Results without paths, to be filled in, and which pairs have a path."""
        count = len(pairs)
        results = cls(np.full(count, NO_PATH, np.int64), np.zeros(count, np.int32), np.zeros(count, np.int32))
        queries, targets = pairs.queries.lengths[pairs.query_index], pairs.targets.lengths[pairs.target_index]
        results.costs[(queries == 0) & (targets == 0)] = 0
        has_path: NDArray[np.bool_] = (queries > 0) & (targets > 0)
        if options.band is not None:
            has_path &= np.abs(queries - targets) <= options.band
        return results, has_path

    def put(self, index: NDArray[np.int64], others: Warpings) -> None:
        """Replace the results of some pairs."""
        self.costs[index], self.starts[index], self.ends[index] = others.costs, others.starts, others.ends

    @classmethod
    def concatenate(cls, parts: Sequence[Warpings]) -> Warpings:
        """The warpings of several, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            joined([part.costs for part in parts], np.int64),
            joined([part.starts for part in parts], np.int32),
            joined([part.ends for part in parts], np.int32),
        )


class Warper(Protocol):
    """Warps signals onto signals. All warpers give the same costs and places: levels and sums are whole numbers.

    A module of this folder has ``make() -> Warper``, or ``make(device: int) -> Warper`` if its backend has devices.
    """

    label: str  # its name in messages

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
        return Warpings.concatenate(self.run(pairs, lambda warper, chunk: warper.warpings(chunk, options, threads)))


def choose(backend: str, devices: Sequence[int] | None, cells: int, threads: int) -> WarperPool:
    """The warpers of that name; for "auto", of the backend that is expected to finish first, which a message names.

    `cells` is the approximate number of cells, 0 if unknown. The others are as for `Tool.choose`.
    """
    workers = WARPERS.choose(backend, devices, cells >= WORTH_A_DEVICE * threads)
    return WarperPool(workers, WARPERS.on_the_cpu)
