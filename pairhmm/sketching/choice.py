"""Chooses the comparer of a run."""

from __future__ import annotations

import logging

from pairhmm import sketching
from pairhmm.backends.fastest import chosen
from pairhmm.errors import InputError
from pairhmm.sketching.base import Comparer
from pairhmm.sketching.sketches import WORD_BITS, Scheme

log = logging.getLogger(__name__)

WORTH_A_DEVICE = 40_000_000_000
"""Words of 64 slots for each CPU thread from which "auto" starts a GPU. A thread of an AMD EPYC with AVX-512 compares
29 G in a second, and a GPU begins to compare after about 1.5 s."""


def choose(backend: str, devices: tuple[int, ...] | None, pairs: int, scheme: Scheme, threads: int) -> Comparer:
    """The comparer of that name; for "auto", the one that is expected to finish first, which a message names.

    Parameters
    ----------
    backend : str
        "auto", or a name of `pairhmm.sketching.names`.
    devices : tuple of int, optional
        The index of the device. With "auto", it means that a GPU is wanted.
    pairs : int
    scheme : Scheme
    threads : int

    Raises
    ------
    BackendUnavailable, InputError
        As `pairhmm.sketching.load`; InputError for several devices.
    """
    if devices is not None and len(devices) > 1:
        raise InputError("--device", ",".join(map(str, devices)), "one device compares sketches", "name one")
    words = pairs * scheme.bits * scheme.slots // WORD_BITS
    name = chosen(sketching, backend, devices, words >= WORTH_A_DEVICE * threads)
    comparer = sketching.load(name, devices[0] if devices else None)
    log.info("backend %s", comparer.label)
    return comparer
