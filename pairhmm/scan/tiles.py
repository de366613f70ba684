"""Scanners of tiles: every signature is cut, and a match of a tile is a match of its signature.

Tiles of low complexity say nothing of where a read is from: `cpu/scan/complexity.hpp` has the rule.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import on_the_cpu
from pairhmm.backends.cpu import chosen_isa
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.native import native
from pairhmm.scan.base import HIT, RUN, Patterns, Scanned, Scanner, ScanOptions, Tiling
from pairhmm.scan.reference import ReferenceScanner
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures


def masked_places(letters: NDArray[np.uint8], offset: NDArray[np.int64], tiling: Tiling) -> NDArray[np.int64]:
    """Where the tiles begin that are not searched for: intervals of places in the letters, int64[intervals, 2].

    Letters are sets of bases of all sequences, which begin at the offsets.
    """
    if not tiling.mask:
        return np.empty((0, 2), dtype=np.int64)
    return native.low_complexity(letters, offset, tiling.length)


def masked_tiles(signatures: Signatures, tiling: Tiling) -> NDArray[np.int64]:
    """How many tiles of each signature are not searched for, int64[signatures]."""
    places = masked_places(signatures.letters, signatures.offset, tiling)
    owner = np.searchsorted(signatures.offset, places[:, 0], side="right") - 1
    begin, end = (places - signatures.offset[owner][:, None]).T
    # Positions in [begin, end) where a tile begins.
    counts = -(-end // tiling.step) - -(-begin // tiling.step)
    return np.bincount(owner, weights=counts, minlength=len(signatures)).astype(np.int64)


log = logging.getLogger(__name__)

SHORTEST_PART = 5
"""The least letters of a tile for each mismatch that is allowed, and one more. One of these parts matches exactly."""


class TileScanner(Scanner):
    """Seeds of the signatures, and their diagonals (`cpu/scan/tiles.hpp`)."""

    def __init__(self, level: str, patterns: Patterns, options: ScanOptions, tiling: Tiling) -> None:
        from pairhmm.native import native

        masked = masked_places(patterns.letters, patterns.offset, tiling)
        self.label = f"cpu ({level})"
        self._native = native.TileScanner(
            level,
            patterns.letters,
            patterns.offset,
            patterns.signature,
            patterns.strand,
            tiling.length,
            tiling.step,
            int(patterns.least_total.max(initial=0)),
            options.max_mismatches,
            options.min_informative,
            options.every_match,
            masked.reshape(-1),
        )

    def scan_some(self, samples: Samples, threads: int) -> Scanned:
        totals = np.zeros(len(samples), dtype=np.int64)
        segments, hits, runs = self._native.scan(
            samples.letters, samples.qualities, samples.offset, samples.carried, threads, totals
        )
        return Scanned(hits.view(HIT).reshape(-1), totals[:segments], runs.view(RUN).reshape(-1))


def check_tiling(tiling: Tiling, options: ScanOptions) -> None:
    """Require that tiles can match, and that they are long enough for their mismatches. Raises InputError."""
    if options.min_informative > tiling.length:
        rule = f"a tile of {tiling.length} letters has no {options.min_informative} columns (--min-informative)"
        raise InputError("--tile", str(tiling.length), rule, "give longer tiles, or lower --min-informative")
    if tiling.length < SHORTEST_PART * (options.max_mismatches + 1):
        least = SHORTEST_PART * (options.max_mismatches + 1)
        rule = f"--max-mismatches {options.max_mismatches} needs tiles of at least {least} letters"
        raise InputError("--tile", str(tiling.length), rule, "give longer tiles, or allow fewer mismatches")


def load_tiles(backend: str, patterns: Patterns, options: ScanOptions, tiling: Tiling) -> Scanner:
    """The scanner of tiles of a backend. "auto" is the CPU.

    Raises BackendUnavailable for a backend that does not search for tiles.
    """
    if backend == "reference":
        return ReferenceScanner(patterns, options, tiling)
    if backend != "auto" and backend not in on_the_cpu():
        raise BackendUnavailable(backend, "it does not search for tiles", "leave out --backend: the CPU does")
    return TileScanner(chosen_isa(), patterns, options, tiling)
