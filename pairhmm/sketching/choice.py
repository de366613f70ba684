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


def words_of(pairs: int, scheme: Scheme) -> int:
    """Words of 64 slots that are compared for pairs of sketches."""
    return pairs * scheme.bits * scheme.slots // WORD_BITS


def choose(backend: str, devices: tuple[int, ...] | None, is_worth_a_device: bool) -> Comparer:
    """The comparer of that name; for "auto", the one that is expected to finish first, which a message names.

    Parameters
    ----------
    backend : str
        "auto", or a name of `pairhmm.sketching.names`.
    devices : tuple of int, optional
        The index of the device. With "auto", it means that a GPU is wanted.
    is_worth_a_device : bool
        Whether the work is worth a device's start.

    Raises
    ------
    BackendUnavailable, InputError
        As `pairhmm.sketching.load`; InputError for several devices.
    """
    if devices is not None and len(devices) > 1:
        raise InputError("--device", ",".join(map(str, devices)), "one device compares sketches", "name one")
    name = chosen(sketching, backend, devices, is_worth_a_device)
    comparer = sketching.load(name, devices[0] if devices else None)
    log.info("backend %s", comparer.label)
    return comparer
