"""Scanners of tiles: every signature is cut, and a match of a tile is a match of its signature."""

from __future__ import annotations

import logging

import numpy as np

from pairhmm.backends import on_the_cpu
from pairhmm.backends.cpu import chosen_isa
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.scan import reference_tiles
from pairhmm.scan.base import Scanner
from pairhmm.scan.batch import HIT, RUN, Patterns, Scanned, ScanOptions, Tiling
from pairhmm.scan.complexity import masked_places
from pairhmm.sequences.records import Samples

log = logging.getLogger(__name__)

LEAST_PART = 5
"""The least letters of a tile for each mismatch that is allowed, and one more. One of these parts matches exactly."""


class TileScanner(Scanner):
    """Seeds of the signatures, and the diagonals that they tell (`cpu/scan/tiles.hpp`)."""

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
    """Require that tiles can match, and that they are long enough for their mismatches.

    Raises
    ------
    InputError
    """
    if options.min_informative > tiling.length:
        rule = f"a tile of {tiling.length} letters has no {options.min_informative} columns (--min-informative)"
        raise InputError("--tile", str(tiling.length), rule, "give longer tiles, or lower --min-informative")
    if tiling.length < LEAST_PART * (options.max_mismatches + 1):
        least = LEAST_PART * (options.max_mismatches + 1)
        rule = f"--max-mismatches {options.max_mismatches} needs tiles of at least {least} letters"
        raise InputError("--tile", str(tiling.length), rule, "give longer tiles, or allow fewer mismatches")


def load_tiles(backend: str, patterns: Patterns, options: ScanOptions, tiling: Tiling) -> Scanner:
    """The scanner of tiles of a backend. "auto" is the CPU.

    Raises
    ------
    BackendUnavailable
        For a backend that does not search for tiles.
    """
    if backend == "reference":
        return reference_tiles.make(patterns, options, tiling)
    if backend != "auto" and backend not in on_the_cpu():
        raise BackendUnavailable(backend, "it does not search for tiles", "leave out --backend: the CPU does")
    return TileScanner(chosen_isa(), patterns, options, tiling)
