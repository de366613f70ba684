"""Choice of backend, and the one way to score a batch."""

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
from pairhmm.interface.options import check_choice, check_whole
from pairhmm.models.batch import PairBatch, Scores

log = logging.getLogger(__name__)

WORTH_A_DEVICE = 2_000_000_000
"""Cells from which "auto" starts a GPU: with fewer, the CPU is done before the device is ready. That is for a machine
that was not calibrated (`pairhmm devices --calibrate`)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What computes.

    Attributes
    ----------
    backend : str
        A backend's name, or "auto".
    devices : tuple of int, optional
        Indices of the devices that share the work, as `pairhmm devices` lists them; the first without any.
    device_memory : int, optional
        Bytes of each device's memory that may be used; what is free without it.
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


def choose(wanted: str | Choice = "auto", cells: int | None = None) -> DevicePool:
    """Make the backend that is wanted ready; "auto" takes the fastest that runs here and says what it took and why.

    Parameters
    ----------
    wanted : str or Choice
        A backend's name, or that with its devices.
    cells : int, optional
        Size of the work, where it is known. Without it "auto" prepares for many small batches, as regions give them.

    Raises
    ------
    BackendUnavailable
        Where a named backend does not run here. Only "auto" falls back.
    InputError
        For devices that the backend does not have.
    """
    choice = Choice(wanted) if isinstance(wanted, str) else wanted
    if choice.backend != "auto":
        return _load(choice.backend, choice)
    names = backends.names()
    refused: list[str] = []
    for name in _ranked(names, choice, cells):
        try:
            found = backends.status(name)
            if not found.available:
                raise BackendUnavailable(name, found.reason, found.cure)
            if choice.devices is not None and not found.devices:
                raise BackendUnavailable(name, "it computes on the CPU", "leave out --device")
            if found.is_software(choice.devices):
                raise BackendUnavailable(name, "a software adapter, slower than the CPU", f"--backend {name} takes it")
            pool = _load(name, choice if found.devices else Choice(name))
        except BackendUnavailable as error:
            refused.append(f"{name}: {error.reason}; {error.cure}")
            continue
        is_small = name == _fastest_on_the_cpu() and not refused and choice.devices is None
        why = "the fastest for small batches" if is_small else "the fastest here"
        instead = f" ({'; '.join(refused)})" if refused else ""
        # The oracle is hundreds of times slower than the others: nobody should wait for it unaware.
        level = logging.WARNING if backends.is_oracle(name) else logging.INFO
        log.log(level, "backend %s (%s), %s%s", name, found.detail, why, instead)
        return pool
    raise BackendUnavailable("auto", "; ".join(refused), "see pairhmm devices")


def _ranked(names: Sequence[str], choice: Choice, cells: int | None) -> list[str]:
    """Backends by how soon they are done with so many cells; the oracle last."""
    if choice.devices is not None:
        return list(names)
    if cells is None:
        return sorted(names, key=lambda name: name != _fastest_on_the_cpu())
    kept = calibration.load()
    sooner = {
        name: seconds
        for name in backends.on_devices()
        if (seconds := _seconds_before_cpu(name, cells, kept)) is not None
    }
    order = [*sorted(sooner, key=lambda name: sooner[name]), *backends.on_the_cpu()[:1]]
    return order + [name for name in names if name not in order]


def _fastest_on_the_cpu() -> str | None:
    return next(iter(backends.on_the_cpu()), None)


def _seconds_before_cpu(name: str, cells: int, kept: Calibration) -> float | None:
    """How long a backend's first device takes; None where the CPU is done before, 0 for one that was not measured."""
    cpu = next((speed for speed in kept.speeds if speed.backend == _fastest_on_the_cpu()), None)
    own = [speed for speed in kept.speeds if speed.backend == name]
    worths = [crossover(cpu, speed) for speed in own] if cpu is not None and own else [WORTH_A_DEVICE]
    if all(worth is None or cells < worth for worth in worths):
        return None  # Nothing is asked of its driver, which may take longer than the CPU.
    found = backends.status(name)
    speed = kept.of(name, found.devices[0]) if found.devices else None
    if cpu is None or speed is None:
        return 0.0 if cells >= WORTH_A_DEVICE else None
    worth = crossover(cpu, speed)
    return speed.seconds(cells) if worth is not None and cells >= worth else None


def forward(
    batch: PairBatch,
    backend: str | Choice | Backend | DevicePool = "auto",
    threads: int = 1,
    chunk_cells: int | None = None,
) -> Scores:
    """Score every pair of a batch.

    Parameters
    ----------
    batch : PairBatch
    backend : str, Choice, Backend or DevicePool
        A name, or what `choose` returned: callers with many batches choose once.
    threads : int
        CPU threads.
    chunk_cells : int, optional
        The backend gets no more cells than this at once; no score depends on it.

    Returns
    -------
    Scores
        No pair is -inf unless its likelihood is zero, and none is NaN.
    """
    if isinstance(backend, str | Choice):
        backend = choose(backend, batch.cells)
    pool = backend if isinstance(backend, DevicePool) else DevicePool([backend])
    return pool.forward(batch, threads, chunk_cells)


def _load(name: str, choice: Choice) -> DevicePool:
    devices = choice.devices or (None,)
    if len(set(devices)) < len(devices):
        raise InputError("--device", ",".join(map(str, devices)), "a device is named twice", "name each once")
    return DevicePool([backends.load(name, device, choice.device_memory) for device in devices])
