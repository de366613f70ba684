"""The calibration: speeds of this machine, measured by `pairhmm devices --calibrate`, by which "auto" chooses."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from pairhmm import backends
from pairhmm.process import usable_cores

log = logging.getLogger(__name__)

VERSION = 2
"""Version of the file's format. A file of another version is ignored."""


FORWARD, PLACE, DISTANCES = "forward", "place", "distances"
"""Kinds of work, in units of: cells of matrices; token sets placed on the map (samples x groups); 64-bit words of
sketches compared, over all pairs."""


@dataclass(frozen=True, slots=True)
class DeviceSpeed:
    """How long a device takes on this machine for one kind of work."""

    backend: str  # The backend's name
    device: str  # The device's description, as `pairhmm devices` prints it; the SIMD level for the CPU
    # Time from the start of a process to its first score, minus the CPU's time for the same. 0 for the CPU.
    start_seconds: float
    call_seconds: float  # Time of a call that scores a tiny batch
    # Cells a second of a large batch, from host arrays to host scores. On the CPU, those of one thread. Of other work
    # than `FORWARD`, its units.
    cells_per_second: float
    work: str = FORWARD  # `FORWARD`, `PLACE` or `DISTANCES`

    def of_threads(self, threads: int) -> Self:
        """The speed of this many CPU threads, each on its own core."""
        return replace(self, cells_per_second=threads * self.cells_per_second)

    def seconds(self, cells: int) -> float:
        """Seconds for a batch of `cells` cells in a new process."""
        return self.start_seconds + self.call_seconds + cells / self.cells_per_second


@dataclass(frozen=True, slots=True)
class Calibration:
    """Speeds of the CPU and of devices, measured on one machine."""

    speeds: Sequence[DeviceSpeed]

    def of(self, backend: str, device: str) -> DeviceSpeed | None:
        """The speed of a device; None where that device was not measured."""
        return next((speed for speed in self.of_backend(backend) if speed.device == device), None)

    def of_backend(self, backend: str, work: str = FORWARD) -> list[DeviceSpeed]:
        """The speeds of a backend's devices at one kind of work."""
        return [speed for speed in self.speeds if (speed.backend, speed.work) == (backend, work)]


def crossover(cpu: DeviceSpeed, device: DeviceSpeed) -> int | None:
    """The number of cells from which on a device is faster than the CPU, its start included; None if it never is."""
    gained = 1 / cpu.cells_per_second - 1 / device.cells_per_second
    if gained <= 0:
        return None
    return max(0, round((device.seconds(0) - cpu.seconds(0)) / gained))


def is_worth_a_device(work: str, units: int, threads: int, by_default: int) -> bool:
    """Whether a measured device is faster than this many CPU threads, its start included.

    Where none was measured, a device is worth its start from `by_default` units a thread.
    """
    kept = load()
    threads = min(threads, usable_cores())
    cpu = next((speed for name in backends.on_the_cpu() for speed in kept.of_backend(name, work)), None)
    devices = [speed for name in backends.on_devices() for speed in kept.of_backend(name, work)]
    if cpu is None or not devices:
        return units >= by_default * threads
    worths = [crossover(cpu.of_threads(threads), speed) for speed in devices]
    return any(worth is not None and units >= worth for worth in worths)


def path() -> Path:
    """The file that keeps this user's calibration."""
    from platformdirs import user_cache_path

    return Path(user_cache_path("pairhmm", appauthor=False)) / "calibration.json"


def save(calibration: Calibration) -> Path:
    """Write a calibration over the last one. Returns the file."""
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.write_text(
        json.dumps({"version": VERSION, "speeds": [asdict(speed) for speed in calibration.speeds]}, indent=1)
    )
    unfinished.replace(target)
    return target


def load() -> Calibration:
    """The saved calibration. It is empty if there is none. If the file can't be read, it is empty, with a warning."""
    try:
        kept = json.loads(path().read_text())
        if kept["version"] == VERSION:
            return Calibration([DeviceSpeed(**speed) for speed in kept["speeds"]])
    except FileNotFoundError:
        pass
    except Exception as error:
        # The file may hold anything: it was written by another version, or was damaged.
        log.warning("%s: not usable (%s); pairhmm devices --calibrate makes it anew", path(), error)
    return Calibration([])
