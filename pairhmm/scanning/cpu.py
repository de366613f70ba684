"""The SIMD scanner: `cpu/scan/`, compiled for several instruction sets and chosen at run time."""

from __future__ import annotations

import numpy as np

from pairhmm.backends.cpu import chosen_level
from pairhmm.scanning.base import Scanner
from pairhmm.scanning.batch import HIT, Patterns, Samples, Scanned, ScanOptions


class CpuScanner(Scanner):
    """An index of the patterns' anchors, and bit-sliced matching for what has none."""

    def __init__(self, level: str, patterns: Patterns, options: ScanOptions) -> None:
        from pairhmm.compiled import native

        self.label = f"cpu ({level})"
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

    def scan(self, samples: Samples, threads: int) -> Scanned:
        totals = np.zeros(len(samples), dtype=np.int64)
        hits = self._native.scan(samples.letters, samples.qualities, samples.offset, samples.carried, threads, totals)
        return Scanned(hits.view(HIT).reshape(-1), totals)


def make(patterns: Patterns, options: ScanOptions) -> Scanner:
    """A scanner at the level that runs here (`pairhmm.backends.cpu.chosen_level`)."""
    return CpuScanner(chosen_level(), patterns, options)
