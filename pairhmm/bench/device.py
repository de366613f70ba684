"""Measures the speed of a GPU backend: kernels alone, from host arrays to host scores, and from file to file."""

from __future__ import annotations

import logging
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from pairhmm import backends, engine
from pairhmm.backends import Backend
from pairhmm.bench.lengths import computed_share
from pairhmm.bench.workloads import WORKLOADS, Workload, groups_of, make_workload
from pairhmm.engine import Choice
from pairhmm.engine.device_pool import DevicePool
from pairhmm.errors import InputError, OutOfDeviceMemory, PairhmmError
from pairhmm.forward.batches import read_batches
from pairhmm.forward.files import forward_files
from pairhmm.forward.pair_texts import write_in
from pairhmm.models.batch import FLOAT32, PairBatch
from pairhmm.models.merging import merge_batches

log = logging.getLogger(__name__)

KERNEL_LENGTHS = (128, 150, 256, 512, 1024, 2048, 4096)
KERNEL_GROUP = 32
"""Reads of a group when kernels are measured, and also its haplotypes."""

FIRST_CELLS, MOST_CELLS = 200_000_000, 400_000_000_000
"""Cells of the first launch that is tried, and of the largest launch."""

LAUNCH_SECONDS, AIM_SECONDS = 0.025, 0.04
"""A timed launch takes at least `LAUNCH_SECONDS`, unless it has `MOST_CELLS`. A shorter one is tried again with as many
cells as should take `AIM_SECONDS`."""

LEAST_GROUPS = 120
"""Fewest groups of a timed launch: a launch of few long reads takes as long as one of them."""

MOST_GROWTH = 20
"""Most cells of a launch, as a multiple of those of the launch tried before it."""

WARM_LAUNCHES = 5
"""Launches before the first that counts. An idle GPU has a low clock, and takes about 0.1 s to raise it."""

WARM_SECONDS = 0.3
"""Seconds for which the first batch of a workload is scored again before others count. While kernels are compiled, an
idle GPU lowers its clock."""

FILE_WORKLOAD = "s150"
"""Name of the workload that is scored from file to file."""


@dataclass(frozen=True, slots=True)
class KernelSpeed:
    """Speed of the kernels alone on groups of 32 reads x 32 haplotypes of `length` bases."""

    backend: str
    # Bases of a sequence; groups and cells of each launch
    length: int
    groups: int
    cells: int
    seconds: list[float]  # Seconds of each repetition. Each has a batch of its own.

    @property
    def gcups(self) -> float:
        """10^9 cells a second, by the median of the repetitions."""
        return self.cells / statistics.median(self.seconds) * 1e-9


@dataclass(frozen=True, slots=True)
class WorkloadSpeed:
    """Speed from the arrays of a packed batch to its scores on the host."""

    backend: str
    workload: str
    pairs: int  # Pairs of the last repetition's batch
    rescued: int  # Pairs of that batch that were not scored in plain float32
    cells: list[int]  # Cells of the whole matrices of each repetition, since each has a new batch
    computed: float  # Share of the last batch's cells that is computed. Haplotypes of a group share the others.
    seconds: list[float]  # Seconds of each repetition
    # Seconds of the kernels alone, on the last batch as a whole. Empty if the backend does not time its kernels, if
    # there are several devices, if the batch does not fit, or if its reads are too long for these kernels.
    kernel_seconds: list[float]

    @property
    def gcups(self) -> float:
        """10^9 cells of whole matrices a second, the median of the repetitions."""
        return (
            statistics.median(cells / seconds for cells, seconds in zip(self.cells, self.seconds, strict=True)) * 1e-9
        )

    @property
    def kernel_gcups(self) -> float | None:
        """10^9 cells a second of the kernels alone; None if they were not timed."""
        return self.cells[-1] / statistics.median(self.kernel_seconds) * 1e-9 if self.kernel_seconds else None


@dataclass(frozen=True, slots=True)
class FileSpeed:
    """Wall time of `pairhmm forward` from a `.in` file to a table."""

    backend: str
    workload: str
    pairs: int
    cells: int
    process_seconds: list[float]  # Seconds of the whole command
    # Seconds of the same work in a process that has done it before. They leave out the start of the interpreter and the
    # first use of the device.
    again_seconds: list[float]


def describe(choice: Choice) -> dict[str, str]:
    """Describe the device that is measured, and the software that runs it."""
    status = backends.status(choice.backend)
    numbers = choice.devices or (0,)
    about = {
        "backend": choice.backend,
        "device": "; ".join(status.devices[number] for number in numbers if number < len(status.devices)),
        "runs on": status.detail,
    }
    if choice.backend == "cuda":
        about["driver"] = _driver_version()
    return about


def _driver_version() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    if shutil.which(command[0]) is None:
        return "unknown"
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return answer[0] if answer else "unknown"


def measure_kernels(
    choice: Choice, lengths: Sequence[int] = KERNEL_LENGTHS, repetitions: int = 5, cells: int | None = None
) -> Iterator[KernelSpeed]:
    """Time the kernels of a GPU backend on groups of 32 x 32 sequences of one length, on the first device chosen.

    Each launch has random inputs of its own, of so many cells; by default as many as take the device at least 25 ms.
    Lengths above the backend's `longest_fast_read` take other kernels: they are left out, with a warning. InputError if
    the backend does not time its kernels.
    """
    device = choice.devices[0] if choice.devices else None
    backend = backends.load(choice.backend, device, choice.device_memory)
    if not backend.times_kernels:
        raise InputError(
            "--table", "kernel", f"backend {choice.backend} does not time its kernels", "name a GPU backend"
        )
    for length in lengths:
        if length > backend.longest_fast_read:
            log.warning(
                "%s: no kernels for %d bases; the longest are %d", choice.backend, length, backend.longest_fast_read
            )
            continue
        groups = _groups_for(length, cells) if cells else _enough_groups(backend, length)
        first, *batches = (_equal_lengths(length, groups, repetition) for repetition in range(repetitions + 1))
        backend.kernel_seconds(first, WARM_LAUNCHES)
        seconds = [backend.kernel_seconds(batch, 1)[0] for batch in batches]
        yield KernelSpeed(choice.backend, length, groups, groups * _group_cells(length), seconds)


def _group_cells(length: int) -> int:
    return (KERNEL_GROUP * length) ** 2


def _groups_for(length: int, cells: int) -> int:
    return max(1, round(cells / _group_cells(length)))


def _equal_lengths(length: int, groups: int, repetition: int) -> PairBatch:
    shape = Workload(groups, KERNEL_GROUP, KERNEL_GROUP, length, length, deletions=False)
    return make_workload(shape, [length, repetition])


def _enough_groups(backend: Backend, length: int) -> int:
    cells = FIRST_CELLS
    while True:
        groups = _groups_for(length, cells)
        *_, seconds = backend.kernel_seconds(_equal_lengths(length, groups, 0), WARM_LAUNCHES)
        if seconds >= LAUNCH_SECONDS or cells == MOST_CELLS:
            return max(groups, LEAST_GROUPS)
        cells = min(MOST_CELLS, round(cells * min(MOST_GROWTH, AIM_SECONDS / seconds)))


def measure_workloads(
    choice: Choice,
    workloads: Mapping[str, Workload] = WORKLOADS,
    *,
    repetitions: int = 5,
    threads: int = 1,
) -> Iterator[WorkloadSpeed]:
    """Time workloads, from host arrays to host scores. Every repetition has random inputs of its own."""
    pool = engine.choose(choice)
    for number, (name, workload) in enumerate(workloads.items(), start=1):
        # The first batch prepares kernels and buffers. All batches are made beforehand: a GPU that idles for seconds
        # between two calls may run the next one at a low clock.
        batches = [make_workload(workload, [number, repetition]) for repetition in range(repetitions + 1)]
        yield _time(pool, name, batches, threads)


def measure_groups(
    choice: Choice, path: str | Path, copies: int = 1, *, repetitions: int = 5, threads: int = 1
) -> WorkloadSpeed:
    """Time `copies` copies of the groups of a `.in` file, from host arrays to host scores."""
    batches = list(read_batches(path, threads))
    if not batches:
        raise InputError(str(path), "", "no group in it", "give at least one")
    batch = merge_batches(batches * copies)
    name = Path(path).name if copies == 1 else f"{Path(path).name} x {copies}"
    return _time(engine.choose(choice), name, repeat(batch, repetitions + 1), threads)


def _time(pool: DevicePool, name: str, batches: Iterable[PairBatch], threads: int) -> WorkloadSpeed:
    """Score batches one after the other, of which the first does not count. Then time the kernels on the last one."""
    seconds, cells, pairs, rescued = [], [], 0, 0
    for batch in batches:
        start = time.perf_counter()
        scores = pool.forward(batch, threads)
        seconds.append(time.perf_counter() - start)
        cells.append(batch.cells)
        pairs, rescued = batch.pairs, int(np.count_nonzero(scores.precision != FLOAT32))
        del scores  # otherwise freeing its memory would count towards the next batch's time
        if len(seconds) == 1:
            _warm_up(pool, batch, threads)
    alone = _kernels_alone(pool, name, batch, len(seconds) - 1)
    share = computed_share(pool, batch)
    return WorkloadSpeed(pool.name, name, pairs, rescued, cells[1:], share, seconds[1:], alone)


def _warm_up(pool: DevicePool, batch: PairBatch, threads: int) -> None:
    begin = time.perf_counter()
    while time.perf_counter() - begin < WARM_SECONDS:
        pool.forward(batch, threads)


def _kernels_alone(pool: DevicePool, name: str, batch: PairBatch, repetitions: int) -> list[float]:
    """`WorkloadSpeed.kernel_seconds`. A warning says why a batch's kernels are not timed."""
    first, *others = pool.devices
    if others or not first.times_kernels:
        return []
    if int(np.diff(batch.read_offset).max()) > first.longest_fast_read:
        log.warning("%s: kernels alone are not timed, since others take its long reads", name)
        return []
    try:
        return first.kernel_seconds(batch, WARM_LAUNCHES + repetitions)[WARM_LAUNCHES:]
    except OutOfDeviceMemory as error:
        log.warning("%s: kernels alone are not timed, the batch does not fit in one piece (%s)", name, error)
        return []


def measure_files(
    choice: Choice,
    name: str = FILE_WORKLOAD,
    workload: Workload | None = None,
    *,
    repetitions: int = 3,
    threads: int = 1,
) -> FileSpeed:
    """Write a workload to a file, and time `pairhmm forward` on it."""
    batch = make_workload(workload or WORKLOADS[name])
    with tempfile.TemporaryDirectory(prefix="pairhmm-bench-") as folder:
        source, table = Path(folder) / f"{name}.in", Path(folder) / "scores.tsv"
        write_in(source, groups_of(batch))
        command = [sys.executable, "-m", "pairhmm", "-q", "forward", str(source), "-o", str(table)]
        command += ["--threads", str(threads), *_options(choice)]
        process_seconds, again_seconds = [], []
        for _ in range(repetitions):
            start = time.perf_counter()
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
            process_seconds.append(time.perf_counter() - start)
            if done.returncode:
                raise PairhmmError(f"pairhmm forward ended with status {done.returncode}: {done.stderr.strip()}")
        for _ in range(repetitions + 1):
            start = time.perf_counter()
            forward_files(source, None, table, backend=choice, threads=threads)
            again_seconds.append(time.perf_counter() - start)
    return FileSpeed(choice.backend, name, batch.pairs, batch.cells, process_seconds, again_seconds[1:])


def _options(choice: Choice) -> list[str]:
    """The command-line options for a choice."""
    options = ["--backend", choice.backend]
    if choice.devices is not None:
        options += ["--device", ",".join(map(str, choice.devices))]
    if choice.device_memory is not None:
        options += ["--device-memory", str(choice.device_memory)]
    return options
