"""The registry of backends: the value of ``--backend`` is the module's name.

A backend's module has ``status() -> Status`` and ``make() -> Backend``; where `Status.devices` lists devices, that is
``make(device: int, memory: int | None) -> Backend``, with the budget in bytes. Importing it imports no GPU library.
"""

from __future__ import annotations

from importlib import import_module

from pairhmm.backends.base import Backend, Status
from pairhmm.errors import BackendUnavailable, InputError

_NAMES = ("cuda", "webgpu", "cpu", "reference")

__all__ = ["Backend", "Status", "device_of", "load", "names", "status"]


def names() -> tuple[str, ...]:
    """Every backend of this version, the fastest first."""
    return _NAMES


def load(name: str, device: int | None = None, memory: int | None = None) -> Backend:
    """The backend of that name.

    Parameters
    ----------
    name : str
    device : int, optional
        Index into its `Status.devices`; the first device without it.
    memory : int, optional
        Bytes of that device's memory that may be used; all free memory without it.

    Raises
    ------
    BackendUnavailable
        Where the backend does not run here; says what is missing and how to get it.
    InputError
        For a device that the backend does not have.
    """
    number = device_of(name, device)
    make = import_module(f"pairhmm.backends.{name}").make
    if number is None and memory is not None:
        raise _on_the_cpu("--device-memory", name)
    backend: Backend = make() if number is None else make(number, memory)
    return backend


def device_of(name: str, device: int | None) -> int | None:
    """Index of the device that a backend takes: `device`, or the first one; None for a backend on the CPU.

    Raises
    ------
    BackendUnavailable, InputError
        As `load`.
    """
    found = status(name)
    if not found.available:
        raise BackendUnavailable(name, found.reason, found.cure)
    if not found.devices:
        if device is not None:
            raise _on_the_cpu("--device", name)
        return None
    if device is not None and not 0 <= device < len(found.devices):
        has = "device 0 only" if len(found.devices) == 1 else f"devices 0 to {len(found.devices) - 1}"
        raise InputError("--device", str(device), f"{name} has {has}", "see pairhmm devices")
    return device or 0


def _on_the_cpu(option: str, name: str) -> InputError:
    return InputError(option, "", f"backend {name} computes on the CPU", "leave it out, or name a GPU backend")


def status(name: str) -> Status:
    """Whether the backend runs here, and if not why and what helps."""
    if name not in _NAMES:
        return Status(False, reason="no such backend", cure=f"use one of {', '.join(_NAMES)}")
    found: Status = import_module(f"pairhmm.backends.{name}").status()
    return found
