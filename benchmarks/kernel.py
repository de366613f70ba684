"""Speed of the CPU kernels beside GATK's own pair-HMM (Intel GKL), on the same inputs in the same run.

    python benchmarks/kernel.py [--rounds 7] [--levels avx512,avx2,x86-64-v2] [--threads 1,2] [--data 1m,s150,s150-gcp]

Every contestant is a process of its own that has read and packed its input before the first measurement; they take
turns, one repetition each a round. The best repetition counts. Needs Java and Debian's libgkl-java and libgkl-jni
(without them, only our side runs). The inputs come from the folder of shared data (`PAIRHMM_SHARED_DATA`, default
`../shared/data`); benchmarks/README.md says where they are from.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from processes import SHARED, Contestant, answer_with, take_turns
from tables import parser, write

HERE = Path(__file__).resolve().parent
MAKE_REGIONS = SHARED.parent / "tools" / "make_regions.py"
JARS = [Path("/usr/share/java") / name for name in ("gkl.jar", "gatk-native-bindings.jar", "commons-logging.jar")]
JNI = Path("/usr/lib/jni")


def gkl_is_there() -> bool:
    return shutil.which("java") is not None and all(jar.exists() for jar in JARS) and JNI.is_dir()


def start_gkl(path: Path, threads: int, folder: Path) -> tuple[Contestant, Path]:
    scores = folder / f"gkl-{threads}.txt"
    java = ["java", "-Xmx2g", f"-Djava.library.path={JNI}", "-cp", ":".join(map(str, JARS))]
    command = [*java, HERE / "gkl" / "GklBench.java", "-n", "0", "-t", threads, "-o", scores, path]
    return Contestant(command, folder / "gkl.log"), scores


def start_ours(path: Path, level: str, threads: int, folder: Path) -> tuple[Contestant, Path]:
    scores = folder / f"{level}-{threads}.txt"
    command = [sys.executable, HERE / "kernel.py", "--contestant", path, "--threads", threads, "--scores", scores]
    return Contestant(command, folder / "pairhmm.log", PAIRHMM_CPU=level), scores


def contestant(path: Path, threads: int, scores_path: Path) -> None:
    """Score `path` over and over: the other end of `start_ours`.

    The clock covers what GKL's does: qualities to row parameters, the kernel and the rescue. Packing is outside.
    """
    from pairhmm import engine
    from pairhmm.forward.pair_texts import read_in
    from pairhmm.models.batch import PairBatch

    groups = list(read_in(path))
    batch = PairBatch.from_groups(groups)
    cells = sum(sum(len(r.bases) for r in g.reads) * sum(len(h) for h in g.haplotypes) for g in groups)
    scores = engine.forward(batch, backend="cpu", threads=threads)

    def work() -> dict[str, float]:
        began = time.perf_counter()
        engine.forward(batch, backend="cpu", threads=threads)
        return {"seconds": time.perf_counter() - began}

    answer_with(work, {"threads": threads, "pairs": len(scores.log10), "cells": cells})
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


def measure(data: str, path: Path, options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """A row for each contestant, with ratios of speeds and the largest difference from GKL (log10)."""
    threads = [int(count) for count in options.threads.split(",")]
    started = {("gkl", count): start_gkl(path, count, folder) for count in threads} if gkl_is_there() else {}
    for level in options.levels.split(","):
        started |= {(level, count): start_ours(path, level, count, folder) for count in threads}
    take_turns([each for each, _ in started.values()], options.rounds)
    seconds = {key: each.best("seconds") for key, (each, _) in started.items()}
    rows, gkl = [], None
    for (name, count), (each, path_of_scores) in started.items():
        scores = np.loadtxt(path_of_scores, dtype=np.float64, ndmin=1)
        if name == "gkl":
            gkl = scores
            if not each.header["avx512"]:
                print("GKL runs without AVX-512 on this processor", file=sys.stderr)
        cells, took = each.header["cells"], seconds[name, count]
        row = {"data": data, "kernel": name, "threads": count, "pairs": len(scores), "seconds": took}
        row |= {"GCUPS": cells / took * 1e-9, "not finite": int((~np.isfinite(scores)).sum())}
        row["to GKL"] = seconds["gkl", count] / took if gkl is not None else None
        row["to one thread"] = seconds[name, 1] / took if (name, 1) in seconds else None
        row["worst difference"] = float(np.abs(scores - gkl).max()) if gkl is not None else None
        rows.append(row)
    return rows


def main() -> None:
    options = parser(__doc__, rounds=7)
    options.add_argument("--levels", default="avx512,avx2,x86-64-v2", help="values of PAIRHMM_CPU")
    options.add_argument("--threads", default="1,2")
    options.add_argument("--data", default="1m,s150,s150-gcp", help="of 1m, 10s, s150, s150-gcp")
    options.add_argument("--regions", type=int, default=100, help="regions in s150 (42 M cells each)")
    options.add_argument("--contestant", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--scores", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.contestant:
        contestant(given.contestant, int(given.threads), given.scores)
        return
    if not gkl_is_there():
        print("GKL is not there (apt install default-jdk libgkl-java libgkl-jni): no ratios", file=sys.stderr)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for data, path in make_inputs(given.data.split(","), given.regions, Path(name)):
            rows += measure(data, path, given, Path(name))
    write(given.output, {"forward": rows}, cores=os.cpu_count())
    if not all(math.isfinite(row["GCUPS"]) and row["not finite"] == 0 for row in rows):
        raise SystemExit("a likelihood is not finite")


if __name__ == "__main__":
    main()
