"""The SIMD scanner: `cpu/scan/`, compiled for several instruction sets and chosen at run time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cpu import chosen_isa
from pairhmm.scan.base import HIT, LONGEST_TILE, SHORTEST_TILE, Patterns, Scanned, Scanner, ScanOptions, Tiling
from pairhmm.scan.tiles import SHORTEST_PART, TileScanner
from pairhmm.sequences.records import Samples

WINDOW = 9
"""The fewest letters of an anchor (`cpu/scan/index.hpp`). A pattern has one more anchor than it may have mismatches."""

FEW_PATTERNS = 16
"""So many patterns without anchors are compared with all positions in less time than seeds of theirs take."""


class CpuScanner(Scanner):
    """An index of the patterns' anchors, and bit-sliced matching for what has none.

    Many patterns of one length that are too short for their anchors are searched for as tiles, each of them one.
    """

    def __init__(self, level: str, patterns: Patterns, options: ScanOptions) -> None:
        from pairhmm.native import native

        self.label = f"cpu ({level})"
        short = list(_short_patterns(patterns, options.max_mismatches))
        self._tiles = [
            TileScanner(level, patterns.take(chosen), options, Tiling(length, length, mask=False))
            for length, chosen in short
        ]
        if short:
            is_short = np.isin(np.arange(len(patterns)), np.concatenate([chosen for _, chosen in short]))
            patterns = patterns.take(np.flatnonzero(~is_short))
        self._native = native.Scanner(
            level,
            patterns.letters,
            patterns.offset,
            patterns.signature,
            patterns.strand,
            patterns.least_total,
            options.max_mismatches,
            options.min_informative,
            options.every_match,
        )

    def scan_some(self, samples: Samples, threads: int) -> Scanned:
        totals = np.zeros(len(samples), dtype=np.int64)
        segments, found = self._native.scan(
            samples.letters, samples.qualities, samples.offset, samples.carried, threads, totals
        )
        hits = found.view(HIT).reshape(-1)
        if self._tiles:
            tiled = [tiles.scan_some(samples.take(0, segments), threads) for tiles in self._tiles]
            segments = min(len(part.quality_totals) for part in tiled)
            # The patterns of a signature have one length, so that no two scanners have hits of it.
            hits = np.concatenate([hits, *(part.hits for part in tiled)])
            hits = hits[hits["segment"] < segments]
            hits = hits[np.lexsort([hits[name] for name in ("strand", "start", "signature", "segment")])]
        return Scanned(hits, totals[:segments])


def _short_patterns(patterns: Patterns, max_mismatches: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The lengths that are too short for anchors but not for seeds, with the patterns of each, if they are many."""
    lengths = np.diff(patterns.offset)
    shortest = max(SHORTEST_PART * (max_mismatches + 1), SHORTEST_TILE)
    for length in range(shortest, min(WINDOW * (max_mismatches + 1), LONGEST_TILE + 1)):
        chosen = np.flatnonzero(lengths == length)
        if len(chosen) > FEW_PATTERNS:
            yield length, chosen


def make(patterns: Patterns, options: ScanOptions) -> Scanner:
    """A scanner at the level that runs here (`pairhmm.backends.cpu.chosen_isa`)."""
    return CpuScanner(chosen_isa(), patterns, options)
