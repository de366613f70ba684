"""`warp` of signals in memory: the cheapest time warping of each query onto each target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm.engine import Choice
from pairhmm.engine.choice import named_devices
from pairhmm.options import check_number, check_whole, with_keywords
from pairhmm.warp.base import NO_PATH, SignalPairs, Signals, WarpKeywords, WarpOptions, choose
from pairhmm.warp.scaling import SCALES, quantised

_DEFAULTS = WarpOptions()

Signal = Sequence[float] | NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Warped:
    """The cheapest warping of a query onto a target."""

    query: str
    target: str
    cost: float | None  # in the units of the signals; None where the band leaves no path
    start: int  # the part of the target under the path, 0-based half-open; 0 and 0 without one
    end: int


def warp(
    queries: Mapping[str, Signal],
    targets: Mapping[str, Signal],
    *,
    every_pair: bool = False,
    scale: float = 1.0,
    options: WarpOptions = _DEFAULTS,
    backend: str | Choice = "auto",
    threads: int = 1,
    **keywords: Unpack[WarpKeywords],
) -> list[Warped]:
    """Warp queries onto targets: the first onto the first, and so on, or each onto each.

    Parameters
    ----------
    queries, targets : mapping of str to sequence of float
        Signals by name.
    every_pair : bool
        Warp each query onto each target.
    scale : float
        Levels times this are rounded to whole numbers from -32,768 to 32,767, which are warped exactly.
    options : WarpOptions
        What a warping is.
    **keywords
        Fields of `WarpOptions` by name, such as ``mode="subsequence"``. They override those of `options`.
    backend : str or Choice
        "auto", or the name of a backend that warps; or that with its devices, which share the work.
    threads : int
        CPU threads.

    Returns
    -------
    list of Warped
        In the order of queries, and of targets.

    Raises
    ------
    ValueError
        For empty signals, values that are not finite or too large for the scale, and, without `every_pair`, unequal
        numbers of queries and targets.
    OptionError
        For an option with a value that it can't have.
    TypeError
        For signals without names, and for a keyword that no option has.
    BackendUnavailable
        Where a named backend does not run here.

    Examples
    --------
    >>> [(w.cost, w.start) for w in pairhmm.warp({"q": [5, 9]}, {"t": [0, 5, 5, 9]}, mode="subsequence")]
    [(0.0, 2)]
    """
    (options,) = with_keywords("warp", keywords, options)
    check_whole("threads", threads, 1)
    check_number("scale", scale, *SCALES)
    first, second = _packed("queries", queries, scale), _packed("targets", targets, scale)
    if not every_pair and len(first) != len(second):
        raise ValueError(f"{len(first)} queries and {len(second)} targets: give as many, or every_pair=True")
    pairs = (SignalPairs.all_of if every_pair else SignalPairs.in_order)(first, second)
    warpings = choose(*named_devices(backend), pairs.cells, threads).warpings(pairs, options, threads)
    names, others = list(queries), list(targets)
    rows = zip(
        pairs.query_index,
        pairs.target_index,
        warpings.costs.tolist(),
        warpings.starts.tolist(),
        warpings.ends.tolist(),
        strict=True,
    )
    return [
        Warped(names[q], others[t], None if cost == NO_PATH else cost / scale, start, end)
        for q, t, cost, start, end in rows
    ]


def _packed(what: str, signals: Mapping[str, Signal], scale: float) -> Signals:
    if not isinstance(signals, Mapping):
        raise TypeError(f"{what} is of type {type(signals).__name__}: give signals by name, such as {{'a': [1, 2]}}")
    whole = []
    for name, values in signals.items():
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
            raise ValueError(f"{what}[{name!r}] is empty, or not a list of finite numbers")
        levels, outside = quantised(numbers, scale)
        if outside:
            raise ValueError(f"{what}[{name!r}] has {outside} values that 16 bits do not hold: lower the scale")
        whole.append(levels)
    return Signals.of(whole)
