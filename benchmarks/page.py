"""Speed of the page's engine: C++ as WebAssembly in Node, beside the native x86-64-v2 level, in the same run.

    make web-module && python benchmarks/page.py [--rounds 15] [--data 10s,1m,s150]

Each contestant is a process of its own that has read and packed its input before the first measurement. They take
turns, one repetition each a round, so that a slow moment of the machine hits all of them. The best repetition counts,
by wall time and by CPU time of all threads. The clock covers qualities to row parameters, the kernel, the rescue and,
for WebAssembly, the messages to workers and back. Prints a markdown table and writes benchmarks/results/page.json. The
inputs are those of benchmarks/kernel.py.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kernel import ROOT, make_inputs, processor

sys.path.insert(0, str(ROOT / "tests" / "web"))
from batch_files import write_batch

from pairhmm import engine
from pairhmm.io.pairs.texts import read_in
from pairhmm.models.batch import PairBatch

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "page.json"
NATIVE = "x86-64-v2"


@dataclass
class Contestant:
    """A process that scores one input once for each line it is sent, and answers with the seconds it took."""

    data: str
    name: str
    threads: int
    cells: int
    process: subprocess.Popen[str] = field(repr=False)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: status {self.process.wait()}")
        return dict(json.loads(line))

    def repeat(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("again\n")
        self.process.stdin.flush()
        took = self.answer()
        self.wall.append(took["wall"])
        self.cpu.append(took["cpu"])

    def finish(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Row:
    """One line of the table: cells of whole matrices a second, and ratios of speeds."""

    data: str
    name: str
    threads: int
    wall: float
    cpu: float
    gcups: float
    to_native: float | None = None
    to_one_worker: float | None = None


def start(data: str, name: str, threads: int, cells: int, command: list[str]) -> Contestant:
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    env = {**os.environ, "PAIRHMM_CPU": NATIVE, "PYTHONPATH": python_path}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    return Contestant(data, name, threads, cells, process)


def native(path: Path) -> None:
    """Score `path` on one thread once for each line on standard input: the other end of `Contestant`."""
    batch = PairBatch.from_groups(list(read_in(path)))
    engine.forward(batch, backend="cpu", threads=1)
    print(json.dumps({"level": NATIVE}), flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        engine.forward(batch, backend="cpu", threads=1)
        print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}), flush=True)


def measure(data: str, path: Path, rounds: int, folder: Path) -> list[Row]:
    """Let native code, one worker and two workers take turns; one row each."""
    batch = PairBatch.from_groups(list(read_in(path)))
    packed = folder / f"{data}.bin"
    write_batch(packed, batch)
    node = ["node", str(HERE / "page" / "forward.mjs"), str(packed)]
    contestants = [
        start(data, f"native {NATIVE}", 1, batch.cells, [sys.executable, str(HERE / "page.py"), "--native", str(path)]),
        start(data, "WebAssembly", 1, batch.cells, [*node, "1"]),
        start(data, "WebAssembly", 2, batch.cells, [*node, "2"]),
    ]
    for one in contestants:
        one.answer()
    for _ in range(rounds):
        for one in contestants:
            one.repeat()
    rows = []
    for one in contestants:
        one.finish()
        wall, cpu = min(one.wall), min(one.cpu)
        rows.append(Row(data, one.name, one.threads, wall, cpu, one.cells / cpu * 1e-9))
    # One thread's share is that of CPU time: what else runs on the machine then counts for neither.
    rows[1].to_native = rows[0].cpu / rows[1].cpu
    rows[2].to_one_worker = rows[1].wall / rows[2].wall
    return rows


def table(rows: list[Row]) -> str:
    """The rows as a markdown table."""

    def ratio(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}"

    lines = [
        "| data | engine | threads | wall, ms | CPU, ms | GCUPS a thread | native, one thread | one worker |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        lines.append(
            f"| {row.data} | {row.name} | {row.threads} | {1e3 * row.wall:.1f} | {1e3 * row.cpu:.1f} | {row.gcups:.1f} "
            f"| {ratio(row.to_native)} | {ratio(row.to_one_worker)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--data", default="10s,1m,s150", help="of 1m, 10s, s150, s150-gcp")
    parser.add_argument("--regions", type=int, default=20, help="regions in s150 (42 M cells each)")
    parser.add_argument("--json", type=Path, default=RESULTS, help="(default: %(default)s)")
    parser.add_argument("--native", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.native:
        native(options.native)
        return
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for data, path in make_inputs(options.data.split(","), options.regions, Path(name)):
            rows += measure(data, path, options.rounds, Path(name))
    print(table(rows))
    result = {
        "command": " ".join(["python benchmarks/page.py", *sys.argv[1:]]),
        "processor": processor(),
        "cores": os.cpu_count(),
        "node": subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip(),
        "rounds": options.rounds,
        "forward": [asdict(row) for row in rows],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
