"""Chooses the warper for "auto", and goes on with the CPU where a device fails."""

from __future__ import annotations

import logging

from pairhmm import backends, warping
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.warping.base import Warper
from pairhmm.warping.batch import SignalPairs, Warpings, WarpOptions

log = logging.getLogger(__name__)

CPU_CELLS_A_SECOND = 5e9
"""Approximate cells that one CPU thread computes in a second. It was 5 to 12 G on an AMD EPYC with AVX-512."""

STARTING_SECONDS = 1.5
"""Approximate seconds until a device begins to warp."""


def choose(backend: str, device: int | None, cells: int, threads: int) -> Warper:
    """The warper of that name; for "auto", the one that is expected to finish first.

    Parameters
    ----------
    backend : str
        "auto", or a name of `pairhmm.warping.names`.
    device : int or None
        Index of the device. With "auto", a device means that a GPU is wanted.
    cells : int
        Approximate number of cells; 0 if unknown.
    threads : int

    Raises
    ------
    BackendUnavailable, InputError
        As `pairhmm.warping.load`.
    """
    if backend != "auto":
        return SteadyWarper(warping.load(backend, device))
    if device is not None or cells / CPU_CELLS_A_SECOND / threads > STARTING_SECONDS:
        for name in backends.on_devices():
            found = backends.status(name)
            if name not in warping.names():
                continue
            if not found.available:
                log.info("not %s: %s; %s", name, found.reason, found.cure)
            elif (device or 0) in found.software:
                log.info("not %s: %s is software", name, found.devices[device or 0])
            else:
                return SteadyWarper(warping.load(name, device))
    return _on_the_cpu(device)


def _on_the_cpu(device: int | None = None) -> Warper:
    """The fastest warper on the CPU that runs here. If only the oracle does, a warning says so."""
    lacks = []
    for name in backends.on_the_cpu():
        found = backends.status(name)
        if not found.available or name not in warping.names():
            lacks.append(f"{name}: {found.reason}; {found.cure}")
            continue
        if backends.is_oracle(name):
            log.warning("backend %s, which is slow (%s)", name, "; ".join(lacks))
        return warping.load(name, device)
    raise AssertionError("the oracle runs everywhere")


class SteadyWarper(Warper):
    """A warper whose work the CPU does once its device is lost, or lacks the memory for it."""

    def __init__(self, warper: Warper) -> None:
        self._warper = warper

    @property
    def label(self) -> str:  # type: ignore[override]
        return self._warper.label

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        try:
            return self._warper.warpings(pairs, options, threads)
        except DeviceLost as error:
            reason = f"lost ({error.cause})"
        except OutOfDeviceMemory:
            reason = "out of memory, however small the chunks"
        log.warning("%s: %s; the CPU goes on", self.label, reason)
        self._warper = _on_the_cpu()
        return self._warper.warpings(pairs, options, threads)
