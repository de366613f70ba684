"""Chooses the warpers of a run."""

from __future__ import annotations

import logging
from functools import partial

from pairhmm import warping
from pairhmm.backends.fastest import fastest, fastest_on_the_cpu
from pairhmm.errors import InputError
from pairhmm.warping.pool import WarperPool

log = logging.getLogger(__name__)

WORTH_A_DEVICE = 7_500_000_000
"""Cells for each CPU thread from which "auto" starts a GPU. A thread of an AMD EPYC with AVX-512 computes 5 to 12 G in
a second, and a GPU begins to warp after about 1.5 s."""


def choose(backend: str, devices: tuple[int, ...] | None, cells: int, threads: int) -> WarperPool:
    """The warpers of that name; for "auto", of the backend that is expected to finish first, which a message names.

    Parameters
    ----------
    backend : str
        "auto", or a name of `pairhmm.warping.names`.
    devices : tuple of int, optional
        Indices of the devices that share the work. With "auto", they mean that a GPU is wanted.
    cells : int
        Approximate number of cells; 0 if unknown.
    threads : int

    Raises
    ------
    BackendUnavailable, InputError
        As `pairhmm.warping.load`.
    """
    if devices is not None and len(set(devices)) < len(devices):
        raise InputError("--device", ",".join(map(str, devices)), "a device is named twice", "name each once")
    name = backend
    if backend == "auto":
        name = fastest(warping.names(), devices[0] if devices else None, cells >= WORTH_A_DEVICE * threads)
    pool = WarperPool([warping.load(name, device) for device in devices or (None,)], partial(_on_the_cpu, name))
    log.info("backend %s", pool.label)
    return pool


def _on_the_cpu(other_than: str) -> warping.Warper:
    """The fastest warper on the CPU that runs here. If only the oracle does, a warning says so."""
    return warping.load(fastest_on_the_cpu([name for name in warping.names() if name != other_than]))
