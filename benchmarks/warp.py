"""Time warping on one CPU thread: cells a second, beside dtaidistance; and raw reads onto a genome.

    python benchmarks/warp.py --workdir /tmp/warp

Cells are those of whole matrices, and levels are normal noise of deviation 64. Each figure is the best of --rounds, in
CPU time, and the programs take turns. dtaidistance (PyPI) computes with its C library, in float64.

The reads are simulated, of a random genome as long as SARS-CoV-2's, and random bases among them. `pairhmm warp` finds
them, and its CPU time is that of the whole command.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from dtaidistance import dtw
from processes import best_of_turns, run
from tables import parser, write

from pairhmm.map.sketch.cpu import levels
from pairhmm.warp.base import SignalPairs, Signals, WarpOptions
from pairhmm.warp.cpu import CpuWarper

SHAPES = (
    (100, 100, 2000, "global"),
    (256, 256, 400, "global"),
    (1600, 1600, 12, "global"),
    (250, 60_000, 4, "subsequence"),
)
"""Levels of a query and of a target, pairs, and the mode."""
GENOME, DEVIATION = 29_903, 64


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parsed = parser(__doc__, "warp-work", rounds=5)
    parsed.add_argument("--reads", type=int, default=1000, help="(default: %(default)s)")
    options = parsed.parse_args()
    rows = [speeds(*shape, options.rounds) for shape in SHAPES]
    write(options.output, {"speeds": rows, "reads": [reads_onto_a_genome(options.workdir, options.reads)]})


def speeds(rows: int, columns: int, count: int, mode: str, rounds: int) -> dict[str, object]:
    """10^9 cells a second of each SIMD level and of dtaidistance."""
    rng = np.random.default_rng(1)
    queries, targets = (
        Signals.of([np.clip(rng.normal(0, DEVIATION, length), -300, 300).astype(np.int16) for _ in range(count)])
        for length in (rows, columns)
    )
    index = np.arange(count, dtype=np.int32)
    pairs, options = SignalPairs(queries, targets, index, index), WarpOptions(mode)
    both = queries[0].astype(float), targets[0].astype(float)
    free = (0, 0, columns, columns) if mode == "subsequence" else None
    programs: dict[str, Callable[[], object]] = {
        name: partial(CpuWarper(name).warpings, pairs, options, 1) for name, runs in levels() if runs
    }
    repeats = max(1, 10**6 // (rows * columns))
    cells = dict.fromkeys(programs, pairs.cells) | {"dtaidistance": rows * columns * repeats}
    peer = partial(dtw.distance_fast, *both, inner_dist="euclidean", psi=free)
    programs["dtaidistance"] = lambda: [peer() for _ in range(repeats)]
    seconds = best_of_turns(rounds, programs)
    return {"pairs": f"{rows:,} x {columns:,}, {mode}"} | {name: cells[name] / seconds[name] / 1e9 for name in programs}


def reads_onto_a_genome(folder: Path, reads: int) -> dict[str, object]:
    """CPU seconds of `pairhmm warp`, reads that lie where they come from, and the ratios."""
    folder.mkdir(parents=True, exist_ok=True)
    genome, table, signal, truth, places = (
        folder / name for name in ("genome.fa", "kmers.model", "signal.tsv", "truth.tsv", "places.tsv")
    )
    lengths = ("--min-length", GENOME, "--max-length", GENOME)
    run("simulate", "signatures", "-o", genome, "--count", 1, *lengths, "--n-ratio", 0, "--force")
    made = ("--reads", reads, "--unrelated", reads // 20, "--write-model", table, "--truth", truth, "--force")
    run("simulate", "signal", "--signatures", genome, "-o", signal, *made)
    cost = run("warp", "--signatures", genome, "--model", table, signal, "-o", places)
    true, right, random = rows_of(truth), [], []
    for (_, signature, strand, start, end), row in zip(true, rows_of(places), strict=True):
        ratio = float(row[-1])
        if signature == ".":
            random.append(ratio)
        elif row[3] == strand and int(start) < int(row[5]) and int(row[4]) < int(end):
            right.append(ratio)
    return {
        "reads": reads,
        "placed right": len(right),
        "their least ratio": min(right),
        "highest ratio of random bases": max(random),
        "CPU seconds": cost.cpu,
    }


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a table."""
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


if __name__ == "__main__":
    main()
