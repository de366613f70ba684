"""Chooses the warpers of a run."""

from __future__ import annotations

import logging
from functools import partial

from pairhmm import warping
from pairhmm.backends.fastest import chosen, on_the_cpu
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
    name = chosen(warping, backend, devices, cells >= WORTH_A_DEVICE * threads)
    pool = WarperPool([warping.load(name, device) for device in devices or (None,)], partial(on_the_cpu, warping, name))
    log.info("backend %s", pool.label)
    return pool
