"""The registry of backends.

A new backend is a module or folder here, with the name that ``--backend`` takes, and a line in `REGISTRY`. Its module
has ``status() -> Status`` and ``make() -> Backend``. If it has devices (`Entry.has_devices`), the latter is
``make(device: int, memory: int | None) -> Backend``, with the memory budget in bytes, and there is
``require_installed()``, which raises BackendUnavailable without the driver's library, and takes no time. Importing the
module must not import a GPU library.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from pairhmm.backends.base import Backend, Status
from pairhmm.errors import BackendUnavailable, InputError, OptionError
from pairhmm.native import is_compiled, require_compiled

__all__ = [
    "REGISTRY",
    "Backend",
    "Entry",
    "Status",
    "device_of",
    "is_oracle",
    "load",
    "names",
    "on_devices",
    "on_the_cpu",
    "require_installed",
    "status",
    "takes_oracle",
]


class Entry(NamedTuple):
    """A backend of this version."""

    name: str  # Name of the backend and of its module
    # Whether it computes on devices that ``--device`` chooses; otherwise it computes on the CPU
    has_devices: bool = False
    # Whether it is the oracle that others are compared with. It is hundreds of times slower, so nobody should get it
    # without being told.
    is_oracle: bool = False


REGISTRY = (
    Entry("cuda", has_devices=True),
    Entry("webgpu", has_devices=True),
    Entry("cpu"),
    Entry("reference", is_oracle=True),
)
"""Every backend of this version, fastest first; the oracle last."""


def names() -> tuple[str, ...]:
    """Every backend of this version, fastest first."""
    return tuple(entry.name for entry in REGISTRY)


def on_devices() -> tuple[str, ...]:
    """The backends that compute on devices, fastest first."""
    return tuple(entry.name for entry in REGISTRY if entry.has_devices)


def on_the_cpu() -> tuple[str, ...]:
    """The backends that compute on the CPU, fastest first. The first that runs here scores what no device can score."""
    return tuple(entry.name for entry in REGISTRY if not entry.has_devices)


def is_oracle(name: str) -> bool:
    """Whether this is the backend that the others are compared with."""
    return any(entry.name == name and entry.is_oracle for entry in REGISTRY)


def takes_oracle(name: str, what: str) -> bool:
    """Whether the oracle computes what only the backends of the CPU do: it is named, or nothing else runs here.

    Raises
    ------
    OptionError
        For the name of another backend. `what` stands for the computation in the message.
    BackendUnavailable
        Where the named backend has no compiled part.
    """
    known = ("auto", *on_the_cpu())
    if name not in known:
        raise OptionError("backend", name, f"is not one of {', '.join(known)}: {what} has no other")
    if is_oracle(name) or (name == "auto" and not is_compiled()):
        return True
    require_compiled(f"backend {name}")
    return False


def load(name: str, device: int | None = None, memory: int | None = None) -> Backend:
    """The backend of that name, on its first device or another, with a memory budget in bytes or all free memory.

    Raises
    ------
    BackendUnavailable
        If the backend does not run here. The error says what is missing and how to get it.
    InputError
        If the backend does not have this device.
    """
    number = device_of(name, device)
    make = import_module(f"pairhmm.backends.{name}").make
    if number is None and memory is not None:
        raise _on_the_cpu("--device-memory", name)
    backend: Backend = make() if number is None else make(number, memory)
    return backend


def device_of(name: str, device: int | None) -> int | None:
    """Index of the device that a backend takes: `device`, or 0 without it; None for a backend on the CPU.

    Errors are those of `load`.
    """
    state = status(name)
    if not state.available:
        raise BackendUnavailable(name, state.reason, state.cure)
    if not state.devices:
        if device is not None:
            raise _on_the_cpu("--device", name)
        return None
    if device is not None and not 0 <= device < len(state.devices):
        has = "device 0 only" if len(state.devices) == 1 else f"devices 0 to {len(state.devices) - 1}"
        raise InputError("--device", str(device), f"{name} has {has}", "see pairhmm devices")
    return device or 0


def _on_the_cpu(option: str, name: str) -> InputError:
    return InputError(option, "", f"backend {name} computes on the CPU", "leave it out, or name a GPU backend")


def require_installed(name: str) -> None:
    """Raise BackendUnavailable if nothing could start the devices of this backend. What takes time is not looked at."""
    if name in on_devices():
        import_module(f"pairhmm.backends.{name}").require_installed()


def status(name: str) -> Status:
    """Whether the backend runs here, and if not, why and what helps.

    InputError where an environment variable asks for something that the backend does not have.
    """
    if name not in names():
        return Status(False, reason="no such backend", cure=f"use one of {', '.join(names())}")
    state: Status = import_module(f"pairhmm.backends.{name}").status()
    return state
