"""Speed of the CPU kernels beside GATK's own pair-HMM (Intel GKL), on the same inputs in the same run.

    python benchmarks/kernel.py [--rounds 7] [--levels avx512,avx2,x86-64-v2] [--threads 1,2] [--data 1m,s150,s150-gcp]

Every contestant is a process of its own that has read and packed its input before the first measurement; they take
turns, one repetition each a round, so that a slow moment of the machine hits all of them. The best repetition counts.
Needs Java and Debian's libgkl-java and libgkl-jni (without them, only our side runs). The inputs come from the folder
of shared data (`PAIRHMM_SHARED_DATA`, default `../shared/data`); benchmarks/README.md says where they are from.
Prints a markdown table and writes benchmarks/results/kernel.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SHARED = Path(os.environ.get("PAIRHMM_SHARED_DATA", ROOT.parent / "shared" / "data"))
MAKE_REGIONS = SHARED.parent / "tools" / "make_regions.py"
JARS = [Path("/usr/share/java") / name for name in ("gkl.jar", "gatk-native-bindings.jar", "commons-logging.jar")]
JNI = Path("/usr/lib/jni")


@dataclass
class Contestant:
    """A process that scores one input once for each line it is sent, and answers with the seconds it took."""

    name: str
    threads: int
    process: subprocess.Popen[str]
    scores_path: Path
    log: Path
    header: dict[str, Any] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            last_words = "".join(self.log.read_text().splitlines(keepends=True)[-5:])
            raise SystemExit(f"{self.name}, -@{self.threads}: status {self.process.wait()}\n{last_words}")
        return dict(json.loads(line))

    def repeat(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("again\n")
        self.process.stdin.flush()
        self.seconds.append(self.answer()["seconds"])

    def finish(self) -> np.ndarray:
        """End the process and return its log10 likelihoods, float64[P]."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        return np.loadtxt(self.scores_path, dtype=np.float64, ndmin=1)


@dataclass
class Row:
    """One line of the table; times in seconds, differences in log10 units."""

    data: str
    name: str
    threads: int
    pairs: int
    cells: int
    best_seconds: float
    gcups: float
    ratio_to_gkl: float | None = None
    ratio_to_one_thread: float | None = None
    worst_difference_to_gkl: float | None = None
    not_finite: int = 0
    seconds: list[float] = field(default_factory=list)


def gkl_is_there() -> bool:
    return shutil.which("java") is not None and all(jar.exists() for jar in JARS) and JNI.is_dir()


def start(name: str, threads: int, command: list[str], scores: Path, env: dict[str, str], log: Path) -> Contestant:
    with log.open("a") as stderr:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=env
        )
    return Contestant(name, threads, process, scores, log)


def start_gkl(path: Path, threads: int, folder: Path) -> Contestant:
    scores = folder / f"gkl-{threads}.txt"
    classpath = ":".join(map(str, JARS))
    command = ["java", "-Xmx2g", f"-Djava.library.path={JNI}", "-cp", classpath, str(HERE / "gkl" / "GklBench.java")]
    command += ["-n", "0", "-t", str(threads), "-o", str(scores), str(path)]
    return start("gkl", threads, command, scores, dict(os.environ), folder / "gkl.log")


def start_ours(path: Path, level: str, threads: int, folder: Path) -> Contestant:
    scores = folder / f"{level}-{threads}.txt"
    command = [sys.executable, str(HERE / "kernel.py"), "--contestant", str(path), "--threads", str(threads)]
    command += ["--scores", str(scores)]
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    env = {**os.environ, "PAIRHMM_CPU": level, "PYTHONPATH": python_path}
    return start(level, threads, command, scores, env, folder / "pairhmm.log")


def contestant(path: Path, threads: int, scores_path: Path) -> None:
    """Score `path` once for each line on standard input: the other end of `Contestant`.

    The clock covers what GKL's does: qualities to row parameters, the kernel and the rescue. Packing is outside.
    """
    from pairhmm import engine
    from pairhmm.io.pairs.texts import read_in
    from pairhmm.models.batch import PairBatch

    groups = list(read_in(path))
    batch = PairBatch.from_groups(groups)
    cells = sum(sum(len(r.bases) for r in g.reads) * sum(len(h) for h in g.haplotypes) for g in groups)
    scores = engine.forward(batch, backend="cpu", threads=threads)
    print(json.dumps({"threads": threads, "pairs": len(scores.log10), "cells": cells}), flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        scores = engine.forward(batch, backend="cpu", threads=threads)
        print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)
    np.savetxt(scores_path, scores.log10)


def vary_gcp(source: Path, destination: Path) -> None:
    """Copy a `.in` file with gap-continuation qualities that vary along each read (8 to 12, Phred)."""
    rng = np.random.default_rng(5)
    with source.open() as lines, destination.open("w") as out:
        for line in lines:
            fields = line.split()
            if len(fields) == 5:
                fields[4] = (rng.integers(8, 13, len(fields[0])) + 33).astype(np.uint8).tobytes().decode()
            out.write(" ".join(fields) + "\n")


def make_inputs(names: list[str], regions: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield (name, `.in` file); an input whose source is not on this machine is skipped with a message."""
    synthetic = folder / "s150.in"

    def make_s150() -> Path:
        if not synthetic.exists():
            with synthetic.open("w") as out:
                sizes = ["1", str(regions), "100", "8", "150", "350", "0"]
                subprocess.run([sys.executable, str(MAKE_REGIONS), *sizes], stdout=out, check=True)
        return synthetic

    def make_s150_gcp() -> Path:
        vary_gcp(make_s150(), folder / "s150-gcp.in")
        return folder / "s150-gcp.in"

    makers: dict[str, tuple[Path, Callable[[], Path]]] = {
        "1m": (SHARED / "1m.in", lambda: SHARED / "1m.in"),
        "10s": (SHARED / "10s.in", lambda: SHARED / "10s.in"),
        "s150": (MAKE_REGIONS, make_s150),
        "s150-gcp": (MAKE_REGIONS, make_s150_gcp),
    }
    for name in names:
        source, make = makers[name]
        if source.exists():
            yield name, make()
        else:
            print(f"{name}: skipped, {source} is not there", file=sys.stderr)


def measure(name: str, path: Path, levels: list[str], threads: list[int], rounds: int, folder: Path) -> list[Row]:
    """Let every contestant score `path` in `rounds` rounds of one repetition each; one row a contestant."""
    contestants = [start_gkl(path, t, folder) for t in threads] if gkl_is_there() else []
    contestants += [start_ours(path, level, t, folder) for level in levels for t in threads]
    for one in contestants:
        one.header = one.answer()
        if one.name == "gkl" and not one.header["avx512"]:
            print("GKL runs without AVX-512 on this processor", file=sys.stderr)
    for number in range(rounds):
        for one in contestants:
            one.repeat()
        print(f"{name}: round {number + 1} of {rounds}", file=sys.stderr)

    rows: list[Row] = []
    gkl_scores: np.ndarray | None = None
    best: dict[tuple[str, int], float] = {}
    for one in contestants:
        scores = one.finish()
        seconds = best[one.name, one.threads] = min(one.seconds)
        cells = one.header["cells"]
        row = Row(name, one.name, one.threads, len(scores), cells, seconds, cells / seconds * 1e-9)
        row.seconds = one.seconds
        row.not_finite = int((~np.isfinite(scores)).sum())
        if (one.name, 1) in best and one.threads > 1:
            row.ratio_to_one_thread = best[one.name, 1] / seconds
        if one.name == "gkl":
            gkl_scores = scores
        elif gkl_scores is not None:
            row.ratio_to_gkl = best["gkl", one.threads] / seconds
            row.worst_difference_to_gkl = float(np.abs(scores - gkl_scores).max())
        rows.append(row)
    return rows


def table(rows: list[Row]) -> str:
    """The rows as a markdown table."""

    def ratio(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}x"

    lines = [
        "| data | kernel | threads | GCUPS | GKL, same threads | one thread | worst difference to GKL |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        worst = "" if row.worst_difference_to_gkl is None else f"{row.worst_difference_to_gkl:.1e}"
        if row.not_finite:
            worst += f" ({row.not_finite} not finite)"
        lines.append(
            f"| {row.data} | {row.name} | {row.threads} | {row.gcups:.2f} | {ratio(row.ratio_to_gkl)} "
            f"| {ratio(row.ratio_to_one_thread)} | {worst} |"
        )
    return "\n".join(lines)


def processor() -> str:
    """The processor's name, as the kernel of the operating system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU kernels beside Intel GKL", allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--levels", default="avx512,avx2,x86-64-v2", help="values of PAIRHMM_CPU")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--data", default="1m,s150,s150-gcp", help="of 1m, 10s, s150, s150-gcp")
    parser.add_argument("--regions", type=int, default=100, help="regions in s150 (42 M cells each)")
    parser.add_argument("--json", type=Path, default=HERE / "results" / "kernel.json")
    parser.add_argument("--contestant", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--scores", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        contestant(options.contestant, int(options.threads), options.scores)
        return

    if not gkl_is_there():
        print("GKL is not there (apt install default-jdk libgkl-java libgkl-jni): no ratios", file=sys.stderr)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        levels, threads = options.levels.split(","), [int(t) for t in options.threads.split(",")]
        for data, path in make_inputs(options.data.split(","), options.regions, folder):
            rows += measure(data, path, levels, threads, options.rounds, folder)
    print(table(rows))
    result = {
        "command": " ".join(["python benchmarks/kernel.py", *sys.argv[1:]]),
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "rounds": options.rounds,
        "rows": [asdict(row) for row in rows],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    if not all(math.isfinite(row.gcups) and row.not_finite == 0 for row in rows):
        raise SystemExit("a likelihood is not finite")


if __name__ == "__main__":
    main()
