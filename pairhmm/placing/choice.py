"""Chooses the placer of a run."""

from __future__ import annotations

import logging

from pairhmm import placing
from pairhmm.backends.fastest import chosen
from pairhmm.errors import InputError
from pairhmm.placing.base import Placer

log = logging.getLogger(__name__)


def choose(backend: str, devices: tuple[int, ...] | None, is_worth_a_device: bool) -> Placer:
    """The placer of that name; for "auto", the one that is expected to finish first, which a message names.

    Parameters
    ----------
    backend : str
        "auto", or a name of `pairhmm.placing.names`.
    devices : tuple of int, optional
        The index of the device. With "auto", it means that a GPU is wanted.
    is_worth_a_device : bool
        Whether the samples are worth a device's start.

    Raises
    ------
    BackendUnavailable, InputError
        As `pairhmm.placing.load`; InputError for several devices.
    """
    if devices is not None and len(devices) > 1:
        raise InputError("--device", ",".join(map(str, devices)), "one device places samples", "name one")
    name = chosen(placing, backend, devices, is_worth_a_device)
    placer = placing.load(name, devices[0] if devices else None)
    log.info("backend %s", placer.label)
    return placer
