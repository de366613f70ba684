"""Chooses the scanner for "auto"."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from pairhmm import backends, scanning
from pairhmm.genomics.iupac import ANY
from pairhmm.scanning.batch import Patterns, ScanOptions

log = logging.getLogger(__name__)

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
    if device is None and (needed - READING_NS) * 1e-9 * bases < STARTING_SECONDS:
        return _on_the_cpu(patterns, options)
    for name in _scanners(backends.on_devices()):
        found = backends.status(name)
        if not found.available:
            log.info("not %s: %s; %s", name, found.reason, found.cure)
        elif (device or 0) in found.software:
            log.info("not %s: %s is software", name, found.devices[device or 0])
        else:
            return scanning.load(name, patterns, options, device)
    return _on_the_cpu(patterns, options, device)


def _on_the_cpu(patterns: Patterns, options: ScanOptions, device: int | None = None) -> scanning.Scanner:
    """The fastest scanner on the CPU that runs here. If only the oracle does, a warning says so."""
    names = _scanners(backends.on_the_cpu())
    lacking = [(name, found) for name in names if not (found := backends.status(name)).available]
    taken = next(name for name in names if name not in dict(lacking))
    if backends.is_oracle(taken):
        lacks = "; ".join(f"{name}: {found.reason}; {found.cure}" for name, found in lacking)
        log.warning("backend %s, which is slow (%s)", taken, lacks)
    return scanning.load(taken, patterns, options, device)


def _scanners(names: Sequence[str]) -> list[str]:
    return [name for name in names if name in scanning.names()]
