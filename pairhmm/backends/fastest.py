"""What "auto" takes of the backends that can do a kind of work, other than the forward, which `pairhmm.engine` does."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from pairhmm import backends
from pairhmm.errors import InputError

log = logging.getLogger(__name__)

Worker = TypeVar("Worker", covariant=True)


class LabelledWorker(Protocol):
    """What works on a backend; `label` is its name in messages."""

    label: str


AnyWorker = TypeVar("AnyWorker", bound=LabelledWorker)


class Family(Protocol[Worker]):
    """A package of workers of one kind, a module a backend, such as `pairhmm.aligning`."""

    def names(self) -> tuple[str, ...]:
        """The backends that do this work, fastest first."""
        ...

    def load(self, name: str, device: int | None = None) -> Worker:
        """The worker of that backend."""
        ...


def chosen(family: Family[object], backend: str, devices: Sequence[int] | None, is_worth_a_device: bool) -> str:
    """The backend that a run takes: the one that was named, or for "auto" the one `fastest` finds.

    Parameters
    ----------
    family : Family
    backend : str
        "auto", or one of the family's names.
    devices : sequence of int, optional
        Indices of the devices that share the work. With "auto", they mean that a GPU is wanted.
    is_worth_a_device : bool
        Whether the work is worth a device's start.

    Raises
    ------
    InputError
        If a device is named twice.
    """
    if devices is not None and len(set(devices)) < len(devices):
        raise InputError("--device", ",".join(map(str, devices)), "a device is named twice", "name each once")
    if backend != "auto":
        return backend
    return fastest(family.names(), devices[0] if devices else None, is_worth_a_device)


def on_the_cpu(family: Family[AnyWorker], other_than: str = "") -> AnyWorker:
    """The family's fastest worker on the CPU that runs here. If only the oracle does, a warning says so."""
    return family.load(fastest_on_the_cpu([name for name in family.names() if name != other_than]))


class Instead(Generic[AnyWorker]):
    """The CPU's worker for what a device does not do. It is made when it is first needed.

    Parameters
    ----------
    family : Family
    label : str
        The device's name in messages.
    """

    def __init__(self, family: Family[AnyWorker], label: str) -> None:
        self._family, self._label = family, label
        self._worker: AnyWorker | None = None
        self._told: set[str] = set()

    def of(self, what: str) -> AnyWorker:
        """The worker for `what`, such as "pairs of such lengths". A warning says so once for each."""
        if self._worker is None:
            self._worker = on_the_cpu(self._family)
        if what not in self._told:
            self._told.add(what)
            log.warning("%s: no kernel for %s; %s computes them", self._label, what, self._worker.label)
        return self._worker


def fastest(names: Sequence[str], device: int | None, is_worth_a_device: bool) -> str:
    """The first backend that runs here: on a device if that is worth its start, else on the CPU.

    What a device backend lacks is told by a message, and that only the oracle is left by a warning.

    Parameters
    ----------
    names : sequence of str
        Those that can do the work, the oracle among them.
    device : int or None
        A device that was named, for which a device backend is wanted.
    is_worth_a_device : bool
    """
    for name in backends.on_devices() if device is not None or is_worth_a_device else ():
        if name not in names:
            continue
        found = backends.status(name)
        if not found.available:
            log.info("not %s: %s; %s", name, found.reason, found.cure)
        elif (device or 0) in found.software:
            log.info("not %s: %s is software", name, found.devices[device or 0])
        else:
            return name
    return fastest_on_the_cpu(names)


def fastest_on_the_cpu(names: Sequence[str]) -> str:
    """The first backend on the CPU that runs here. If only the oracle does, a warning says so."""
    known = [name for name in backends.on_the_cpu() if name in names]
    lacking = {name: found for name in known if not (found := backends.status(name)).available}
    taken = next(name for name in known if name not in lacking)
    if backends.is_oracle(taken):
        lacks = "; ".join(f"{name}: {found.reason}; {found.cure}" for name, found in lacking.items())
        log.warning("backend %s, which is slow%s", taken, f" ({lacks})" if lacks else "")
    return taken
