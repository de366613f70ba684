"""`devices`: the backends that run on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from pairhmm import backends
from pairhmm.backends import Status, cpu
from pairhmm.errors import InputError


@dataclass(frozen=True, slots=True)
class Device:
    """A backend, and whether it runs on this machine.

    Attributes
    ----------
    backend : str
    available : bool
    detail : str
        What it runs on.
    devices : tuple of str
        Name and size of each device that ``--device`` can choose, in the order of their indices.
    reason, cure : str
        What is missing, and how to get it.
    """

    backend: str
    available: bool
    detail: str
    devices: tuple[str, ...]
    reason: str
    cure: str


def devices() -> list[Device]:
    """Every backend of this version, fastest first."""
    found = []
    for name in backends.names():
        status = _status(name)
        found.append(Device(name, status.available, status.detail, status.devices, status.reason, status.cure))
    return found


def _status(name: str) -> Status:
    try:
        return backends.status(name)
    except InputError as error:
        return Status(False, reason=f"{error.path}={error.record}: {error.rule}", cure=error.cure)


def simd_levels() -> dict[str, bool]:
    """SIMD levels of this build, slowest first, and whether this machine runs each."""
    return dict(cpu.levels())
