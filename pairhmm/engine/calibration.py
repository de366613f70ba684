"""What `pairhmm devices --calibrate` found out about this machine, kept in the user's cache: what "auto" goes by."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_cache_path

log = logging.getLogger(__name__)

VERSION = 1
"""Of the file; one of another version is left alone, as if there were none."""


@dataclass(frozen=True, slots=True)
class DeviceSpeed:
    """How long a backend takes on this machine.

    Attributes
    ----------
    backend : str
    device : str
        Its description, as `pairhmm devices` has it; a SIMD level for the CPU.
    start_seconds : float
        From a new process to its first score, beyond what the CPU needs; the CPU's own is 0.
    call_seconds : float
        Of a call with hardly anything to do.
    cells_per_second : float
        Of a large batch, from host arrays to host scores.
    """

    backend: str
    device: str
    start_seconds: float
    call_seconds: float
    cells_per_second: float

    def seconds(self, cells: int) -> float:
        """Time for a batch of so many cells in a new process."""
        return self.start_seconds + self.call_seconds + cells / self.cells_per_second


@dataclass(frozen=True, slots=True)
class Calibration:
    """Speeds of the CPU and of devices, measured on one machine.

    Attributes
    ----------
    speeds : sequence of DeviceSpeed
    """

    speeds: Sequence[DeviceSpeed]

    def of(self, backend: str, device: str) -> DeviceSpeed | None:
        """The speed of a device, if it is the one that was measured."""
        return next((speed for speed in self.speeds if (speed.backend, speed.device) == (backend, device)), None)


def crossover(cpu: DeviceSpeed, device: DeviceSpeed) -> int | None:
    """Cells from which a device is done before the CPU; None where it never is."""
    gained = 1 / cpu.cells_per_second - 1 / device.cells_per_second
    if gained <= 0:
        return None
    return max(0, round((device.seconds(0) - cpu.seconds(0)) / gained))


def path() -> Path:
    """Where the calibration of this user's machine is kept."""
    return Path(user_cache_path("pairhmm", appauthor=False)) / "calibration.json"


def save(calibration: Calibration) -> Path:
    """Keep a calibration, in the place of the one before; returns its file."""
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    part.write_text(
        json.dumps({"version": VERSION, "speeds": [asdict(speed) for speed in calibration.speeds]}, indent=1)
    )
    part.replace(target)
    return target


def load() -> Calibration:
    """What was kept; nothing where there is none, or none that can be read, which is announced."""
    try:
        kept = json.loads(path().read_text())
        if kept["version"] == VERSION:
            return Calibration([DeviceSpeed(**speed) for speed in kept["speeds"]])
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("%s: not usable (%s); pairhmm devices --calibrate makes it anew", path(), error)
    return Calibration([])
