"""Every table of a GPU in one run: kernels, workloads, several devices, file to file.

    python benchmarks/device.py [--repetitions 5] [--threads 8] [--tables kernel,workloads,devices,files]

What is measured is `pairhmm bench forward`; beside it stand the figures of others that are kept below. Needs a GPU. The
real groups come from the folder of shared data (`PAIRHMM_SHARED_DATA`, default `../shared/data`); without it they are
left out.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from processes import SHARED
from tables import parser, write

from pairhmm import backends
from pairhmm.bench.device import (
    describe,
    measure_devices,
    measure_files,
    measure_groups,
    measure_kernels,
    measure_workloads,
)
from pairhmm.engine import Choice
from pairhmm.errors import BackendUnavailable

REAL_GROUPS, COPIES = "1m.in", 20

# gpuPairHMM (github.com/asbschmidt/gpuPairHMM) at commit 3965d2d, measured for this project on an NVIDIA H200, the kind
# of GPU of results/device-nvidia-h200-cuda.tsv. GCUPS.
PEER = "gpuPairHMM"
PEER_KERNEL = {128: 2335.0, 150: 2150.0, 256: 2480.0, 512: 2575.0, 1024: 2590.0}  # kernel only, groups of 32 x 32
PEER_WORKLOADS = {"s150": 1950.0, "s250": 2155.0, f"{REAL_GROUPS} x {COPIES}": 1260.0}  # host arrays to host scores
PEER_FILES = {"s150": 1.03}  # seconds, text in and text out


Rows = Iterator[dict[str, Any]]


def kernel(options: argparse.Namespace, choice: Choice) -> Rows:
    """Kernels alone, on groups of 32 reads x 32 haplotypes."""
    for speed in measure_kernels(choice, repetitions=options.repetitions):
        row = {"bases": speed.length, "groups": speed.groups, "GCUPS": speed.gcups}
        yield row | compared(speed.gcups, PEER_KERNEL.get(speed.length))


def workloads(options: argparse.Namespace, choice: Choice) -> Rows:
    """From host arrays to host scores, and kernels alone."""

    def speeds() -> Iterator[Any]:
        yield from measure_workloads(choice, repetitions=options.repetitions, threads=options.threads)
        path = SHARED / REAL_GROUPS
        if path.exists():
            yield measure_groups(choice, path, COPIES, repetitions=options.repetitions, threads=options.threads)
        else:
            print(f"{REAL_GROUPS}: skipped, {path} is not there", file=sys.stderr)

    for speed in speeds():
        row = {"workload": speed.workload, "pairs": speed.pairs, "rescued": speed.rescued}
        row |= {"kernels GCUPS": speed.kernel_gcups, "arrays GCUPS": speed.gcups}
        yield row | compared(speed.gcups, PEER_WORKLOADS.get(speed.workload))


def devices(options: argparse.Namespace, choice: Choice) -> Rows:
    """One device, and all of this machine."""
    count = len(backends.status(options.backend).devices)
    if count == 1:
        print("devices: skipped, there is one", file=sys.stderr)
        return
    speeds = measure_devices(options.backend, range(count), repetitions=options.repetitions, threads=options.threads)
    one = 0.0
    for number, speed in zip((1, count), speeds, strict=True):
        one = one or speed.gcups
        yield {"workload": speed.workload, "devices": number, "GCUPS": speed.gcups, "to one": speed.gcups / one}


def files(options: argparse.Namespace, choice: Choice) -> Rows:
    """Seconds from file to file: of a process, and once more inside a process that has done it before."""
    speed = measure_files(choice, repetitions=options.repetitions, threads=options.threads)
    process, again = median(speed.process_seconds), median(speed.again_seconds)
    yield {"workload": speed.workload, "seconds": process, "again": again, PEER: PEER_FILES.get(speed.workload)}


TABLES: dict[str, Callable[[argparse.Namespace, Choice], Rows]] = {
    "kernel": kernel,
    "workloads": workloads,
    "devices": devices,
    "files": files,
}


def compared(gcups: float, peer: float | None) -> dict[str, float]:
    """The peer's figure and our ratio to it, where there is one."""
    return {} if peer is None else {PEER: peer, "ratio": gcups / peer}


def main(arguments: Sequence[str] | None = None) -> None:
    parsed = parser(__doc__)
    parsed.add_argument("--backend", default="cuda", help="(default: %(default)s)")
    parsed.add_argument("--device", type=int, default=0, help="(default: %(default)s)")
    parsed.add_argument("--tables", default=",".join(TABLES), help="(default: %(default)s)")
    parsed.add_argument("--repetitions", type=int, default=5, help="the median counts (default: %(default)s)")
    parsed.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of the CPU (default: %(default)s)")
    options = parsed.parse_args(arguments)
    names = options.tables.split(",")
    if unknown := set(names) - set(TABLES):
        parsed.error(f"--tables: {', '.join(sorted(unknown))}: no such table; there are {', '.join(TABLES)}")
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    found = backends.status(options.backend)
    if not found.available:
        raise SystemExit(str(BackendUnavailable(options.backend, found.reason, found.cure)))
    choice = Choice(options.backend, (options.device,))
    about = {name.replace(" ", "_"): value for name, value in describe(choice).items() if value}
    tables: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        print(name, file=sys.stderr)
        tables[name] = list(TABLES[name](options, choice))
    write(options.output, tables, **about, threads=options.threads)


if __name__ == "__main__":
    main()
