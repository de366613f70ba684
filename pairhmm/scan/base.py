"""The protocol of scanners, and the choice of one."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pairhmm.engine.tools import Tool
from pairhmm.scan.batch import Patterns, Scanned, ScanOptions
from pairhmm.sequences.letters import ANY
from pairhmm.sequences.records import Samples


class Scanner(Protocol):
    """Finds signatures in samples. All scanners give the same hits, in the same order.

    A module of this folder has ``make(patterns: Patterns, options: ScanOptions) -> Scanner``. It prepares, once,
    whatever depends on the signatures alone: an index, or a device's copy of them.

    Attributes
    ----------
    label : str
        Name of the scanner in messages.
    """

    label: str

    def scan(self, samples: Samples, threads: int) -> Scanned:
        """Find the hits in each segment of the samples.

        Parameters
        ----------
        samples : Samples
        threads : int
            CPU threads.

        Returns
        -------
        Scanned
        """
        parts = []
        while True:
            part = self.scan_some(samples, threads)
            parts.append(part)
            if len(part.quality_totals) == len(samples):
                return Scanned.joined(parts)
            samples = samples.take(len(part.quality_totals), len(samples))

    def scan_some(self, samples: Samples, threads: int) -> Scanned:
        """As `scan`, of as many of the first segments as memory is meant for: at least one.

        A read of a repeat matches every signature that has the repeat, at every place of it. So what is found grows by
        the reads times the signatures, and is given in parts. By default, it is given at once.
        """
        return self.scan(samples, threads)


SCANNERS = Tool[Scanner]("pairhmm.scan", "scan")

READING_NS = 10.0
"""Approximate nanoseconds to read a base. Matching that is faster than this waits for the reader."""

STARTING_SECONDS = 1.5
"""Approximate seconds until a device begins to scan. CUDA took 1.0 on an H200, and then 0.07 ns a base."""

ANCHOR_BASES, LOOK_UP_NS, LISTED_NS = 10, 2.3, 12.0
"""Letters of an anchor; nanoseconds of a look-up; nanoseconds of each anchor that a look-up finds.

Both times were measured on the host of an H200. They make 2.6 ns a base for the 1,000 signatures of the reference
workload.
"""


def matching_ns(patterns: Patterns, options: ScanOptions) -> float:
    """Approximate nanoseconds a base on one CPU thread. Samples are assumed to have the signatures' share of Ns."""
    n_ratio = np.count_nonzero(patterns.letters == ANY) / max(1, len(patterns.letters))
    anchors = len(patterns) * (options.max_mismatches + 1)
    return float(LOOK_UP_NS + LISTED_NS * anchors * (0.25 + 0.75 * n_ratio) ** ANCHOR_BASES)


def choose(
    backend: str, device: int | None, patterns: Patterns, options: ScanOptions, bases: int, threads: int
) -> Scanner:
    """The scanner of that name; for "auto", the one that is expected to finish first.

    Parameters
    ----------
    backend, device
        As for `Tool.choose`.
    patterns : Patterns
    options : ScanOptions
    bases : int
        Approximate number of bases of the samples; 0 if unknown.
    threads : int
    """
    is_worth_a_device = False
    if backend == "auto":
        needed = matching_ns(patterns, options) / threads
        is_worth_a_device = (needed - READING_NS) * 1e-9 * bases >= STARTING_SECONDS
    name = SCANNERS.chosen(backend, None if device is None else [device], is_worth_a_device)
    return SCANNERS.load(name, patterns, options, device=device)
