"""Speed of the page's engine: C++ as WebAssembly in Node, beside the native x86-64-v2 level, in the same run.

    make web-module && python benchmarks/page.py [--rounds 15] [--data 10s,1m,s150]

Each contestant is a process of its own that has read and packed its input before the first measurement. They take
turns, one repetition each a round. The best repetition counts, by wall time and by CPU time of all threads. The clock
covers qualities to row parameters, the kernel, the rescue and, for WebAssembly, the messages to workers and back. The
inputs are those of benchmarks/kernel.py.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kernel import make_inputs
from processes import ROOT, Contestant, answer_with, take_turns
from tables import parser, write

sys.path.insert(0, str(ROOT / "tests" / "web"))
from batch_files import write_batch

from pairhmm import engine
from pairhmm.forward.pair_texts import read_in
from pairhmm.models.batch import PairBatch

HERE = Path(__file__).resolve().parent
NATIVE = "x86-64-v2"


def native(path: Path) -> None:
    """Score `path` on one thread over and over: the other end of a contestant."""
    batch = PairBatch.from_groups(list(read_in(path)))
    engine.forward(batch, backend="cpu", threads=1)

    def work() -> dict[str, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        engine.forward(batch, backend="cpu", threads=1)
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

    answer_with(work, {"level": NATIVE})


def measure(data: str, path: Path, rounds: int, folder: Path) -> list[dict[str, Any]]:
    """Let native code, one worker and two workers take turns; one row each."""
    batch = PairBatch.from_groups(list(read_in(path)))
    packed, log = folder / f"{data}.bin", folder / "log"
    write_batch(packed, batch)
    node = ["node", HERE / "page" / "forward.mjs", packed]
    contestants = [
        Contestant([sys.executable, HERE / "page.py", "--native", path], log, PAIRHMM_CPU=NATIVE),
        Contestant([*node, 1], log),
        Contestant([*node, 2], log),
    ]
    take_turns(contestants, rounds)
    names = ((f"native {NATIVE}", 1), ("WebAssembly", 1), ("WebAssembly", 2))
    rows: list[dict[str, Any]] = []
    for (name, threads), contestant in zip(names, contestants, strict=True):
        wall, cpu = contestant.best("wall"), contestant.best("cpu")
        row = {"data": data, "engine": name, "threads": threads, "wall ms": 1e3 * wall, "CPU ms": 1e3 * cpu}
        rows.append(row | {"GCUPS a thread": batch.cells / cpu * 1e-9})
    # One thread's share is that of CPU time: what else runs on the machine then counts for neither.
    rows[1]["to native"] = rows[0]["CPU ms"] / rows[1]["CPU ms"]
    rows[2]["to one worker"] = rows[1]["wall ms"] / rows[2]["wall ms"]
    return rows


def main() -> None:
    options = parser(__doc__, rounds=15)
    options.add_argument("--data", default="10s,1m,s150", help="of 1m, 10s, s150, s150-gcp")
    options.add_argument("--regions", type=int, default=20, help="regions in s150 (42 M cells each)")
    options.add_argument("--native", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.native:
        native(given.native)
        return
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for data, path in make_inputs(given.data.split(","), given.regions, Path(name)):
            rows += measure(data, path, given.rounds, Path(name))
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    write(given.output, {"forward": rows}, cores=os.cpu_count(), node=node)


if __name__ == "__main__":
    main()
