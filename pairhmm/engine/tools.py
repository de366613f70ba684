"""Kinds of work other than the forward that backends do: loads who does it, chooses for "auto", and falls back."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, Protocol, TypeVar

from pairhmm import backends
from pairhmm.errors import BackendUnavailable, InputError

log = logging.getLogger(__name__)


class LabelledWorker(Protocol):
    """What works on a backend; `label` is its name in messages."""

    label: str


AnyWorker = TypeVar("AnyWorker", bound=LabelledWorker)


class Tool(Generic[AnyWorker]):
    """A kind of work, with a module in `package` for each backend that does it.

    The module has the backend's name and ``make(*arguments) -> AnyWorker``. That of a backend with devices takes the
    index of one as well, behind the arguments.

    Parameters
    ----------
    package : str
        Such as "pairhmm.align".
    verb : str
        What its workers do, for messages: "align".
    """

    def __init__(self, package: str, verb: str) -> None:
        self._package, self._verb = package, verb

    def names(self) -> tuple[str, ...]:
        """The backends that do this work, fastest first."""
        return tuple(name for name in backends.names() if find_spec(f"{self._package}.{name}") is not None)

    def load(self, name: str, *arguments: object, device: int | None = None) -> AnyWorker:
        """The worker of a backend.

        Parameters
        ----------
        *arguments
            For the module's ``make``.
        device : int, optional
            Index of a GPU backend's device, as in `pairhmm devices`; the first device without it.

        Raises
        ------
        BackendUnavailable
            If the backend does not do this work, or does not run here. The error says what helps.
        InputError
            If the backend does not have this device.
        """
        known = self.names()
        if name not in known:
            raise BackendUnavailable(name, f"it does not {self._verb}", f"use one of {', '.join(known)}")
        number = backends.device_of(name, device)
        make: Any = import_module(f"{self._package}.{name}").make
        worker: AnyWorker = make(*arguments) if number is None else make(*arguments, number)
        return worker

    def choose(self, backend: str, devices: Sequence[int] | None, is_worth_a_device: bool) -> list[AnyWorker]:
        """The workers of a run, which a message names: those of the backend of that name, or that "auto" takes.

        Parameters
        ----------
        backend : str
            "auto", or a name of `names`.
        devices : sequence of int, optional
            Indices of the devices that share the work. With "auto", they mean that a GPU is wanted.
        is_worth_a_device : bool
            Whether the work is worth a device's start.

        Raises
        ------
        BackendUnavailable, InputError
            As `load`; InputError also if a device is named twice.
        """
        name = self.chosen(backend, devices, is_worth_a_device)
        workers = [self.load(name, device=device) for device in devices or (None,)]
        log.info("backend %s", ", ".join(worker.label for worker in workers))
        return workers

    def choose_one(self, backend: str, devices: Sequence[int] | None, is_worth_a_device: bool) -> AnyWorker:
        """The only worker of a run, as `choose`. InputError for several devices."""
        if devices is not None and len(devices) > 1:
            verb, *rest = self._verb.split()
            rule = " ".join(("one device", f"{verb}s", *rest))
            raise InputError("--device", ",".join(map(str, devices)), rule, "name one")
        return self.choose(backend, devices, is_worth_a_device)[0]

    def chosen(self, backend: str, devices: Sequence[int] | None, is_worth_a_device: bool) -> str:
        """The name of the backend that `choose` takes.

        For "auto" it is the first that runs here, on a device if that is worth its start. A message says what a device
        backend lacks.
        """
        if devices is not None and len(set(devices)) < len(devices):
            raise InputError("--device", ",".join(map(str, devices)), "a device is named twice", "name each once")
        if backend != "auto":
            return backend
        names, device = self.names(), devices[0] if devices else 0
        for name in backends.on_devices() if devices or is_worth_a_device else ():
            if name not in names:
                continue
            found = backends.status(name)
            if not found.available:
                log.info("not %s: %s; %s", name, found.reason, found.cure)
            elif device in found.software:
                log.info("not %s: %s is software", name, found.devices[device])
            else:
                return name
        return self._fastest_on_the_cpu()

    def on_the_cpu(self) -> AnyWorker:
        """The fastest worker on the CPU that runs here. If only the oracle does, a warning says so."""
        return self.load(self._fastest_on_the_cpu())

    def _fastest_on_the_cpu(self) -> str:
        names = self.names()
        known = [name for name in backends.on_the_cpu() if name in names]
        lacking = {name: found for name in known if not (found := backends.status(name)).available}
        taken = next(name for name in known if name not in lacking)
        if backends.is_oracle(taken):
            lacks = "; ".join(f"{name}: {found.reason}; {found.cure}" for name, found in lacking.items())
            log.warning("backend %s, which is slow%s", taken, f" ({lacks})" if lacks else "")
        return taken


class Fallback(Generic[AnyWorker]):
    """The CPU's worker for what a device does not do. It is made when it is first needed.

    Parameters
    ----------
    label : str
        The device's name in messages.
    """

    def __init__(self, tool: Tool[AnyWorker], label: str) -> None:
        self._tool, self._label = tool, label
        self._worker: AnyWorker | None = None
        self._announced: set[str] = set()

    def of(self, what: str) -> AnyWorker:
        """The worker for `what`, such as "pairs of such lengths". A warning says so once for each."""
        if self._worker is None:
            self._worker = self._tool.on_the_cpu()
        if what not in self._announced:
            self._announced.add(what)
            log.warning("%s: no kernel for %s; %s computes them", self._label, what, self._worker.label)
        return self._worker
