"""`warp` of files: pairs of signals. Reading and warping run at the same time."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Annotated, TextIO, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import AnyPath, path_of
from pairhmm.engine import Choice
from pairhmm.engine.choice import named_devices
from pairhmm.errors import InputError
from pairhmm.files.background import begun_prefetch
from pairhmm.files.descriptors import STDIN
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.options import Within, check_choice, check_number, check_whole, with_keywords
from pairhmm.plurals import counted
from pairhmm.warp.base import SignalPairs, Signals, Warper, WarpKeywords, WarpOptions, choose
from pairhmm.warp.scaling import (
    NORMALISATIONS,
    SCALES,
    UNITS_PER_DEVIATION,
    Normalisation,
    fitting_scale,
    normalised,
    quantised,
)
from pairhmm.warp.signal_files import read_signals
from pairhmm.warp.signal_records import SignalRecord
from pairhmm.warp.writer import PAIR_COLUMNS, check_warpings, open_warpings, pair_lines

log = logging.getLogger(__name__)

LONGEST_SIGNAL = 1 << 28
"""The most levels of a signal. A warper keeps some twenty bytes for each."""

_LEVELS_AT_ONCE, _SIGNALS_AT_ONCE = 1 << 22, 1 << 12
"""Levels and signals that are read before they are warped, unless one signal is longer."""

_PAIRS_AT_ONCE = 1 << 18
_BYTES_A_LEVEL = 4
"""Approximate bytes that a level takes in a file, for the choice of a backend."""

_DEFAULTS = WarpOptions()

AnyItem = TypeVar("AnyItem")


@dataclass(slots=True)
class Quantiser:
    """Turns levels into whole numbers, and counts those that 16 bits do not hold."""

    normalise: Normalisation
    scale: float
    clipped: int = 0  # levels so far that were out of range

    def levels(self, values: NDArray[np.floating]) -> NDArray[np.int16]:
        """A signal's levels: int16[n]."""
        whole, outside = quantised(normalised(values, self.normalise), self.scale)
        self.clipped += outside
        return whole

    def tell(self) -> None:
        """Warn of levels that were out of range."""
        if self.clipped:
            log.warning(
                "%d levels are out of range at scale %g and were clipped; lower --scale", self.clipped, self.scale
            )


def log_scale(normalise: Normalisation, scale: float) -> None:
    """Log how levels are quantised."""
    unit = "unit of the signals" if normalise == "none" else f"deviation of a signal ({normalise})"
    log.info("levels are 16-bit integers: %g per %s", scale, unit)


@kept_apart()
def warp_files(
    queries: AnyPath,
    targets: AnyPath,
    output: AnyPath = "-",
    *,
    every_pair: bool = False,
    normalise: Normalisation = "none",
    scale: Annotated[float | None, Within(*SCALES)] = None,
    options: WarpOptions = _DEFAULTS,
    backend: str | Choice = "auto",
    threads: int = 1,
    **keywords: Unpack[WarpKeywords],
) -> int:
    """Warp the signals of one file onto those of another, and tell how many pairs, in order or each onto each.

    Files are SLOW5, BLOW5, POD5, .npy, .npz or text (docs/warp.md); ``-`` is stdin, as text. The output is a table of
    costs and places; ``-`` is stdout. With `every_pair`, all targets are held in memory. Signals are first normalised
    (`pairhmm.warp.scaling`). Without a scale, it is 64 for normalised signals; 1 for whole numbers; else a power of two
    that fits the first signals. Other parameters and errors are as for `warp`, and InputError for files that can't be
    used; no output is left then.
    """
    (options,) = with_keywords("warp_files", keywords, options)
    check_whole("threads", threads, 1)
    check_choice("normalise", normalise, NORMALISATIONS)
    if scale is not None:
        check_number("scale", scale, *SCALES)
    queries, targets, output = path_of(queries), path_of(targets), path_of(output)
    check_apart((queries, targets), [("-o", output)])
    check_warpings(output)
    if queries == targets == STDIN:
        raise InputError(STDIN, "", "stdin is named more than once", "give the other as a file")
    source = _every_pair(queries, targets) if every_pair else _in_order(queries, targets)
    with begun_prefetch(source) as (first, chunks):
        if not first:
            raise InputError(queries, "", "no signal in it", "check the file")
        if scale is None:
            scale = UNITS_PER_DEVIATION if normalise != "none" else fitting_scale(first[0].values())
        warper = choose(*named_devices(backend), _cells(queries, first[0]), threads)
        log_scale(normalise, scale)
        run = _Run(warper, options, threads, Quantiser(normalise, scale))
        settings = {"scale": f"{scale:g}", "normalise": normalise, "mode": options.mode}
        if options.band is not None:
            settings["band"] = str(options.band)
        with open_warpings(output, PAIR_COLUMNS, settings) as out:
            for chunk in chunks:
                run.write(chunk, out)
    run.quantiser.tell()
    log.info(counted(run.pairs, "pair"))
    return run.pairs


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Queries, and the targets of each, by their indices."""

    queries: list[SignalRecord]
    targets: list[SignalRecord]
    every_pair: bool

    def values(self) -> NDArray[np.float64]:
        return np.concatenate([signal.values.astype(np.float64) for signal in (*self.queries, *self.targets)])


@dataclass(slots=True)
class _Run:
    warper: Warper
    options: WarpOptions
    threads: int
    quantiser: Quantiser
    pairs: int = 0
    _whole_targets: Signals | None = field(default=None)

    def write(self, chunk: _Chunk, out: TextIO) -> None:
        """Warp a chunk, and write its rows."""
        targets = self._whole_targets or self._packed(chunk.targets)
        if chunk.every_pair:
            self._whole_targets = targets  # each chunk has the same ones
        queries = self._packed(chunk.queries)
        at_once = max(1, _PAIRS_AT_ONCE // len(targets)) if chunk.every_pair else len(queries)
        for first in range(0, len(queries), at_once):
            query = np.arange(first, min(first + at_once, len(queries)), dtype=np.int32)
            target = query
            if chunk.every_pair:
                every = np.arange(len(targets), dtype=np.int32)
                query, target = np.repeat(query, len(targets)), np.tile(every, len(query))
            found = self.warper.warpings(SignalPairs(queries, targets, query, target), self.options, self.threads)
            names = [chunk.queries[at].name for at in query.tolist()]
            out.write(pair_lines(names, [chunk.targets[at].name for at in target.tolist()], found))
            self.pairs += len(query)

    def _packed(self, signals: Sequence[SignalRecord]) -> Signals:
        return Signals.of([self.quantiser.levels(signal.values) for signal in signals])


def _signals(path: str) -> Iterator[SignalRecord]:
    """The signals of a file, each of which can be warped."""
    for signal in read_signals(path):
        if not len(signal.values):
            raise InputError(path, f"signal {signal.name}", "has no levels", "remove it")
        check_length(path, signal.name, len(signal.values))
        yield signal


def check_length(path: str, name: str, levels: int) -> None:
    """Raise InputError for a signal that is too long to be warped."""
    if levels > LONGEST_SIGNAL:
        rule = f"has {levels:,} levels; the most is {LONGEST_SIGNAL:,}"
        raise InputError(path, f"signal {name}", rule, "cut it into parts")


def _every_pair(queries: str, targets: str) -> Iterator[_Chunk]:
    all_targets = list(_signals(targets))
    if not all_targets:
        raise InputError(targets, "", "no signal in it", "check the file")
    signals = _signals(queries)
    while batch := _batch(signals, lambda signal: len(signal.values)):
        yield _Chunk(batch, all_targets, every_pair=True)


def _in_order(queries: str, targets: str) -> Iterator[_Chunk]:
    pairs: Iterator[tuple[SignalRecord | None, ...]] = zip_longest(_signals(queries), _signals(targets))
    done = 0
    while batch := _batch(pairs, lambda pair: sum(len(signal.values) for signal in pair if signal is not None)):
        for query, target in batch:
            done += 1
            if query is None or target is None:
                path, other = (queries, targets) if query is None else (targets, queries)
                rule = f"has {done - 1} signals, fewer than {other}"
                raise InputError(path, "", rule, "give as many, or --all for each onto each")
        first, second = zip(*batch, strict=True)
        yield _Chunk(list(first), list(second), every_pair=False)


def _batch(items: Iterator[AnyItem], levels: Callable[[AnyItem], int]) -> list[AnyItem]:
    """The next signals, or pairs of them: as many as are warped at once."""
    batch, total = [], 0
    for item in islice(items, _SIGNALS_AT_ONCE):
        batch.append(item)
        total += levels(item)
        if total >= _LEVELS_AT_ONCE:
            break
    return batch


def _cells(queries: str, first: _Chunk) -> int:
    """Approximate number of cells of all pairs."""
    lengths = sum(len(signal.values) for signal in first.targets)
    known = sum(len(signal.values) for signal in first.queries)
    total = max(known, os.path.getsize(queries) // _BYTES_A_LEVEL if os.path.isfile(queries) else 0)
    return total * (lengths if first.every_pair else lengths // len(first.targets))
