"""Tools other than the forward: loads the worker of a backend, chooses for "auto", and falls back to the CPU."""

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
    """A worker on a backend; `label` is its name in messages."""

    label: str


AnyWorker = TypeVar("AnyWorker", bound=LabelledWorker)


class Tool(Generic[AnyWorker]):
    """A tool, with a module in `package` for each backend that has it.

    The module has the backend's name and ``make(*arguments) -> AnyWorker``. For a backend with devices, ``make`` also
    takes the index of one, behind the arguments.

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
        """The backends that have this tool, fastest first."""
        return tuple(name for name in backends.names() if find_spec(f"{self._package}.{name}") is not None)

    def load(self, name: str, *arguments: object, device: int | None = None) -> AnyWorker:
        """The worker of a backend: on its first device, unless `device` has the index of another.

        Raises
        ------
        BackendUnavailable
            If the backend does not have this tool, or does not run here.
        InputError
            If the backend does not have this device.
        """
        names = self.names()
        if name not in names:
            raise BackendUnavailable(name, f"it does not {self._verb}", f"use one of {', '.join(names)}")
        number = backends.device_of(name, device)
        make: Any = import_module(f"{self._package}.{name}").make
        worker: AnyWorker = make(*arguments) if number is None else make(*arguments, number)
        return worker

    def choose(self, backend: str, devices: Sequence[int] | None, is_worth_a_device: bool) -> list[AnyWorker]:
        """The workers of a run on these devices, which a message names. Errors are those of `load` and `chosen`."""
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

        For "auto" it is the first that runs here: one with devices if some are named, or if the work is worth their
        start. A message says what a device backend lacks. InputError if a device is named twice.
        """
        if devices is not None and len(set(devices)) < len(devices):
            raise InputError("--device", ",".join(map(str, devices)), "a device is named twice", "name each once")
        if backend != "auto":
            return backend
        names, device = self.names(), devices[0] if devices else 0
        for name in backends.on_devices() if devices or is_worth_a_device else ():
            if name not in names:
                continue
            status = backends.status(name)
            if not status.available:
                log.info("not %s: %s; %s", name, status.reason, status.cure)
            elif device in status.software:
                log.info("not %s: %s is software", name, status.devices[device])
            else:
                return name
        return self._fastest_on_the_cpu()

    def on_the_cpu(self) -> AnyWorker:
        """The fastest worker on the CPU that runs here. If only the oracle does, a warning says so."""
        return self.load(self._fastest_on_the_cpu())

    def _fastest_on_the_cpu(self) -> str:
        names = self.names()
        on_the_cpu = [name for name in backends.on_the_cpu() if name in names]
        lacking = {name: status for name in on_the_cpu if not (status := backends.status(name)).available}
        fastest = next(name for name in on_the_cpu if name not in lacking)
        if backends.is_oracle(fastest):
            lacks = "; ".join(f"{name}: {status.reason}; {status.cure}" for name, status in lacking.items())
            log.warning("backend %s, which is slow%s", fastest, f" ({lacks})" if lacks else "")
        return fastest


class Fallback(Generic[AnyWorker]):
    """The CPU's worker for what a device can't do, made when it is first needed. `label` names the device."""

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
