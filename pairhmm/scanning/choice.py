"""Chooses the scanner for "auto"."""

from __future__ import annotations

import numpy as np

from pairhmm import scanning
from pairhmm.backends.fastest import fastest
from pairhmm.genomics.iupac import ANY
from pairhmm.scanning.batch import Patterns, ScanOptions

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
) -> scanning.Scanner:
    """The scanner of that name; for "auto", the one that is expected to finish first.

    Parameters
    ----------
    backend : str
        "auto", or a name of `pairhmm.scanning.names`.
    device : int or None
        Index of the device. With "auto", a device means that a GPU is wanted.
    patterns : Patterns
    options : ScanOptions
    bases : int
        Approximate number of bases of the samples; 0 if unknown.
    threads : int

    Raises
    ------
    BackendUnavailable, InputError
        As `pairhmm.scanning.load`.
    """
    if backend != "auto":
        return scanning.load(backend, patterns, options, device)
    needed = matching_ns(patterns, options) / threads
    is_worth_a_device = (needed - READING_NS) * 1e-9 * bases >= STARTING_SECONDS
    name = fastest(scanning.names(), device, is_worth_a_device)
    return scanning.load(name, patterns, options, device)
