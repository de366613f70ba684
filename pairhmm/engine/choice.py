"""Choice of a backend and its devices, and scoring of one batch on them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.engine import calibration
from pairhmm.engine.calibration import Calibration, crossover
from pairhmm.engine.device_pool import DevicePool
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.models.batch import PairBatch, Scores
from pairhmm.options import check_choice, check_whole
from pairhmm.process import usable_cores

log = logging.getLogger(__name__)

WORTH_A_DEVICE = 60_000_000_000
"""Cells for each CPU thread from which "auto" starts a GPU on a machine without a calibration: what a thread scores in
the second that the start takes."""

_FASTEST = "the fastest here"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which backend computes, on which of its devices, with how much of their memory.

    Attributes
    ----------
    backend : str
        A backend's name, or "auto".
    devices : tuple of int, optional
        Indices of the devices that share the work, as `pairhmm devices` lists them; by default the first.
    device_memory : int, optional
        Bytes of each device's memory that may be used; by default all that is free.
    """

    backend: str = "auto"
    devices: tuple[int, ...] | None = None
    device_memory: int | None = None

    def __post_init__(self) -> None:
        if self.device_memory is not None:
            check_whole("device_memory", self.device_memory, 1, 2**63 - 1)


def check_backend(wanted: object) -> None:
    """Raise OptionError unless this is "auto", a backend's name or a Choice of one."""
    name = wanted.backend if isinstance(wanted, Choice) else wanted
    check_choice("backend", name, ("auto", *backends.names()))


def names_devices(wanted: str | Choice) -> bool:
    """Whether this names devices, or a backend that has some. No driver is asked."""
    choice = Choice(wanted) if isinstance(wanted, str) else wanted
    return choice.devices is not None or choice.backend in backends.on_devices()


def require_installed(wanted: str | Choice) -> None:
    """Raise BackendUnavailable where a named backend lacks its driver. It is said before files are read."""
    backends.require_installed(named_devices(wanted)[0])


def check_devices(wanted: Choice) -> None:
    """Raise what `choose` would raise for a named backend, as far as is known before devices start."""
    _check_the_cpu()
    for device in _indices(wanted):
        backends.device_of(wanted.backend, device)


def named_devices(backend: str | Choice) -> tuple[str, tuple[int, ...] | None]:
    """The name of a backend, and the devices that were named with it."""
    return (backend.backend, backend.devices) if isinstance(backend, Choice) else (backend, None)


def choose(wanted: str | Choice = "auto", cells: int | None = None, threads: int = 1) -> DevicePool:
    """Make the devices of a backend ready. "auto" takes the fastest backend that runs here, and says which and why.

    Parameters
    ----------
    wanted : str or Choice
        A backend's name, or a name with devices.
    cells : int, optional
        Cells of the whole work. Without them, "auto" expects the regions of a run.
    threads : int
        CPU threads, which a device has to be faster than.

    Raises
    ------
    BackendUnavailable
        Where the named backend does not run here. Only "auto" falls back.
    InputError
        For devices that the backend does not have, and for environment variables with wrong values.
    """
    choice = Choice(wanted) if isinstance(wanted, str) else wanted
    if names_devices(choice):
        _check_the_cpu()
    if choice.backend != "auto":
        return _load(choice.backend, choice)
    refused: list[str] = []
    for name in _ranked(backends.names(), choice, cells, threads):
        try:
            status = backends.status(name)
            if not status.available:
                raise BackendUnavailable(name, status.reason, status.cure)
            if choice.devices is not None and not status.devices:
                raise BackendUnavailable(name, "it computes on the CPU", "leave out --device")
            if status.is_software(choice.devices):
                raise BackendUnavailable(name, "a software adapter, slower than the CPU", f"--backend {name} takes it")
            pool = _load(name, choice if status.devices else Choice(name))
        except BackendUnavailable as error:
            refused.append(f"{name}: {error.reason}; {error.cure}")
            continue
        why = _FASTEST if refused or choice.devices is not None else _why(name, cells, threads)
        instead = f" ({'; '.join(refused)})" if refused else ""
        # The oracle is hundreds of times slower than the others.
        level = logging.WARNING if backends.is_oracle(name) else logging.INFO
        log.log(level, "backend %s (%s), %s%s", name, status.detail, why, instead)
        return pool
    raise BackendUnavailable("auto", "; ".join(refused), "see pairhmm devices")


def _why(name: str, cells: int | None, threads: int) -> str:
    """Why "auto" takes a backend before all others."""
    if name not in backends.on_devices():
        if name != _fastest_on_the_cpu() or not backends.on_devices():
            return _FASTEST
        return "the fastest for regions" if cells is None else "the fastest for small batches"
    measured = "as calibrated" if calibration.load().of_backend(name) else "by default (pairhmm devices --calibrate)"
    beside = "a thread" if threads == 1 else f"{threads} threads"
    return f"faster than {beside} for {cells or 0:,} cells, {measured}"


def _ranked(names: Sequence[str], choice: Choice, cells: int | None, threads: int = 1) -> list[str]:
    """Backends in order of their time for this many cells, the fastest first and the oracle last."""
    if choice.devices is not None:
        return list(names)
    if cells is None:
        return sorted(names, key=lambda name: name != _fastest_on_the_cpu())
    kept = calibration.load()
    sooner = {
        name: seconds
        for name in backends.on_devices()
        if name in names and (seconds := _seconds_before_cpu(name, cells, threads, kept)) is not None
    }
    order = [*sorted(sooner, key=lambda name: sooner[name]), *backends.on_the_cpu()[:1]]
    return order + [name for name in names if name not in order]


def _fastest_on_the_cpu() -> str | None:
    return next(iter(backends.on_the_cpu()), None)


def _seconds_before_cpu(name: str, cells: int, threads: int, kept: Calibration) -> float | None:
    """Seconds that a backend's first device takes. None if the CPU is faster, 0 if the device was not measured."""
    threads = min(threads, usable_cores())
    cpu = next((speed.of_threads(threads) for speed in kept.of_backend(_fastest_on_the_cpu() or "")), None)
    speeds = kept.of_backend(name)
    by_default = WORTH_A_DEVICE * threads
    worths = [crossover(cpu, speed) for speed in speeds] if cpu is not None and speeds else [by_default]
    if all(worth is None or cells < worth for worth in worths):
        return None  # without the driver, which may take longer to answer than the CPU to score
    devices = backends.status(name).devices
    speed = kept.of(name, devices[0]) if devices else None
    if cpu is None or speed is None:
        return 0.0 if cells >= by_default else None
    worth = crossover(cpu, speed)
    return speed.seconds(cells) if worth is not None and cells >= worth else None


def forward(
    batch: PairBatch,
    backend: str | Choice | Backend = "auto",
    threads: int = 1,
    chunk_cells: int | None = None,
) -> Scores:
    """Score every pair of one batch. For many batches, call `choose` once and `DevicePool.forward` for each batch.

    Parameters
    ----------
    batch : PairBatch
    backend : str, Choice or Backend
        A backend's name, a name with devices, or one device that is ready.
    threads : int
        CPU threads.
    chunk_cells : int, optional
        The most cells of one call to a device. No score depends on it.

    Returns
    -------
    Scores
        No score is NaN, and none is -inf unless the likelihood is zero.
    """
    pool = choose(backend, batch.cells, threads) if isinstance(backend, str | Choice) else DevicePool([backend])
    return pool.forward(batch, threads, chunk_cells)


def _load(name: str, choice: Choice) -> DevicePool:
    return DevicePool([backends.load(name, device, choice.device_memory) for device in _indices(choice)])


def _indices(choice: Choice) -> tuple[int | None, ...]:
    devices = choice.devices or (None,)
    if len(set(devices)) < len(devices):
        raise InputError("--device", ",".join(map(str, devices)), "a device is named twice", "name each once")
    return devices


def _check_the_cpu() -> None:
    """The CPU scores what no device can, so its wrong settings are reported at once."""
    for name in backends.on_the_cpu():
        backends.status(name)
