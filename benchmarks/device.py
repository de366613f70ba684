"""Every table of a GPU in one run: kernels, workloads, several devices, file to file.

    python benchmarks/device.py [--repetitions 5] [--threads 8] [--tables kernel,workloads,devices,files]

What is measured is `pairhmm bench forward`; beside it stand the figures of others that are kept below. Needs a GPU. The real groups come from the folder of shared data (`PAIRHMM_SHARED_DATA`,
default `../shared/data`); without it they are left out. Prints markdown tables, and writes
benchmarks/results/device-<name>-<backend>.json after each of them.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

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

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("PAIRHMM_SHARED_DATA", HERE.parents[1] / "shared" / "data"))
REAL_GROUPS, COPIES = "1m.in", 20

# gpuPairHMM (github.com/asbschmidt/gpuPairHMM) at commit 3965d2d, measured for this project on an NVIDIA H200, the kind
# of GPU of results/device-nvidia-h200-cuda.json. GCUPS.
PEER = "gpuPairHMM"
PEER_KERNEL = {128: 2335.0, 150: 2150.0, 256: 2480.0, 512: 2575.0, 1024: 2590.0}  # kernel only, groups of 32 x 32
PEER_WORKLOADS = {"s150": 1950.0, "s250": 2155.0, f"{REAL_GROUPS} x {COPIES}": 1260.0}  # host arrays to host scores
PEER_FILES = {"s150": 1.03}  # seconds, text in and text out


@dataclass(frozen=True)
class Table:
    """A table's columns, and its rows: what each measurement found, and how it is shown."""

    columns: Sequence[str]
    rows: Iterator[tuple[dict[str, Any], Sequence[str]]]


def kernel(options: argparse.Namespace, choice: Choice) -> Table:
    def rows() -> Iterator[tuple[dict[str, Any], Sequence[str]]]:
        for speed in measure_kernels(choice, repetitions=options.repetitions):
            peer = PEER_KERNEL.get(speed.length)
            record = {**asdict(speed), "gcups": speed.gcups, "peer_gcups": peer}
            yield record, (f"{speed.length}", f"{speed.groups}", f"{speed.gcups:,.0f}", *compared(speed.gcups, peer))

    return Table(("kernels alone: bases", "groups of 32 x 32", "GCUPS", f"{PEER} GCUPS", "ratio"), rows())


def workloads(options: argparse.Namespace, choice: Choice) -> Table:
    def speeds() -> Iterator[Any]:
        yield from measure_workloads(choice, repetitions=options.repetitions, threads=options.threads)
        path = SHARED / REAL_GROUPS
        if path.exists():
            yield measure_groups(choice, path, COPIES, repetitions=options.repetitions, threads=options.threads)
        else:
            print(f"{REAL_GROUPS}: skipped, {path} is not there", file=sys.stderr)

    def rows() -> Iterator[tuple[dict[str, Any], Sequence[str]]]:
        for speed in speeds():
            peer = PEER_WORKLOADS.get(speed.workload)
            record = {**asdict(speed), "gcups": speed.gcups, "kernel_gcups": speed.kernel_gcups, "peer_gcups": peer}
            alone = "" if speed.kernel_gcups is None else f"{speed.kernel_gcups:,.0f}"
            rescued = f"{100 * speed.rescued / speed.pairs:.2g}%"
            figures = speed.workload, f"{speed.pairs:,}", rescued, alone, f"{speed.gcups:,.0f}"
            yield record, (*figures, *compared(speed.gcups, peer))

    return Table(
        ("host arrays to host scores", "pairs", "rescued", "kernels alone", "GCUPS", f"{PEER} GCUPS", "ratio"), rows()
    )


def devices(options: argparse.Namespace, choice: Choice) -> Table:
    def rows() -> Iterator[tuple[dict[str, Any], Sequence[str]]]:
        count = len(backends.status(options.backend).devices)
        if count == 1:
            print("devices: skipped, there is one", file=sys.stderr)
            return
        speeds = measure_devices(
            options.backend, range(count), repetitions=options.repetitions, threads=options.threads
        )
        one = 0.0
        for number, speed in zip((1, count), speeds, strict=True):
            one = one or speed.gcups
            yield (
                {**asdict(speed), "devices": number, "gcups": speed.gcups},
                (*(speed.workload, f"{number}", f"{speed.gcups:,.0f}", f"{speed.gcups / one:.2f}x"),),
            )

    return Table(("several devices", "devices", "GCUPS", "ratio"), rows())


def files(options: argparse.Namespace, choice: Choice) -> Table:
    def rows() -> Iterator[tuple[dict[str, Any], Sequence[str]]]:
        speed = measure_files(choice, repetitions=options.repetitions, threads=options.threads)
        peer = PEER_FILES.get(speed.workload)
        process, again = median(speed.process_seconds), median(speed.again_seconds)
        ratio = "" if peer is None else f"{peer / process:.2f}x"
        figures = f"{process:.2f}", f"{again:.2f}", "" if peer is None else f"{peer:.2f}", ratio
        yield {**asdict(speed), "peer_seconds": peer}, (speed.workload, *figures)

    return Table(("file to file", "seconds", "in a process that did it before", f"{PEER} seconds", "ratio"), rows())


TABLES: dict[str, Callable[[argparse.Namespace, Choice], Table]] = {
    "kernel": kernel,
    "workloads": workloads,
    "devices": devices,
    "files": files,
}


def compared(gcups: float, peer: float | None) -> tuple[str, str]:
    """The peer's figure and our ratio to it, where there is one."""
    return ("", "") if peer is None else (f"{peer:,.0f}", f"{gcups / peer:.2f}x")


def line(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def file_name(device: str, backend: str) -> str:
    """ "NVIDIA H200 (discrete GPU), Vulkan" and webgpu are device-nvidia-h200-webgpu.json."""
    name = re.split(r",| \(", device)[0]
    return f"device-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}-{backend}.json"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="All tables of a GPU", allow_abbrev=False)
    parser.add_argument("--backend", default="cuda", help="(default: %(default)s)")
    parser.add_argument("--device", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--tables", default=",".join(TABLES), help="(default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=5, help="the median counts (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of the CPU (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="(default: benchmarks/results/device-<name>-<backend>.json)")
    options = parser.parse_args(arguments)
    names = options.tables.split(",")
    if unknown := set(names) - set(TABLES):
        parser.error(f"--tables: {', '.join(sorted(unknown))}: no such table; there are {', '.join(TABLES)}")
    logging.basicConfig(level=logging.WARNING, format="%(message)s")

    found = backends.status(options.backend)
    if not found.available:
        raise SystemExit(str(BackendUnavailable(options.backend, found.reason, found.cure)))
    choice = Choice(options.backend, (options.device,))
    about = describe(choice)
    result: dict[str, Any] = {
        "command": " ".join(["python benchmarks/device.py", *(sys.argv[1:] if arguments is None else arguments)]),
        "about": about,
        "repetitions": options.repetitions,
        "threads": options.threads,
    }
    print(", ".join(f"{name} {value}" for name, value in about.items() if value))
    for name in names:
        table = TABLES[name](options, choice)
        records = result[name] = []
        print()
        line(table.columns)
        line(["---"] + ["--:"] * (len(table.columns) - 1))
        for record, cells in table.rows:
            records.append(record)
            line(cells)
        destination = options.json or HERE / "results" / file_name(about["device"], options.backend)
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
