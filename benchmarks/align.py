"""Speed of `pairhmm align` on the CPU beside edlib and parasail, on the same pairs in the same run.

    python benchmarks/align.py [--rounds 7] [--levels avx512,avx2,x86-64-v2] [--tables scores,cigars]

One thread. All take turns, one repetition each a round, by CPU time; the best repetition counts. edlib and parasail
(`pip install edlib parasail`) are called once a pair from Python. What such a call takes by itself is measured with
pairs of one base in the same rounds, and subtracted, so that their figures are those of their C code. Ours are from
arrays to results, packing included. Scores are compared.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import edlib
import numpy as np
import parasail
from numpy.typing import NDArray
from processes import best_of_turns
from tables import parser, write

from pairhmm.align.base import SequencePairs, Sequences
from pairhmm.align.cpu import CpuAligner
from pairhmm.align.scoring import PRESETS, Scoring
from pairhmm.sequences.letters import decode

LENGTHS = (150, 250, 500, 1000)
CELLS = 2e8  # of the pairs of a length, at most; and 1,024 pairs at most
DIFFERENCES = 0.05  # of similar pairs: four in five are mismatches, the others insertions and deletions
AFFINE = Scoring()
MATRIX = parasail.matrix_create("ACGTN", AFFINE.match, AFFINE.mismatch)

Texts = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Task:
    """What is computed, and the function of the peer that computes it: from texts to a score."""

    name: str
    scoring: Scoring
    has_cigar: bool
    peer_name: str
    peer: Callable[[str, str], int]


def with_edlib(mode: str, task: str, query: str, target: str) -> int:
    return -int(edlib.align(query, target, mode=mode, task=task)["editDistance"])


def with_parasail(function: Callable[..., Any], query: str, target: str) -> int:
    return int(function(query, target, -AFFINE.gap_open, -AFFINE.gap_extend, MATRIX).score)


def tasks(has_cigar: bool) -> list[Task]:
    edit, inside = PRESETS["edit"], {"mode": "semi-global"}
    path = "path" if has_cigar else "distance"
    kind = "trace_striped_16" if has_cigar else "striped_16"
    return [
        Task(f"edit distance, {mode}", scoring, has_cigar, "edlib", partial(with_edlib, name, path))
        for mode, scoring, name in (("global", edit, "NW"), ("semi-global", Scoring(0, -1, -1, -1, **inside), "HW"))
    ] + [
        Task(f"affine, {mode}", scoring, has_cigar, f"parasail {name}", partial(with_parasail, getattr(parasail, name)))
        for mode, scoring, name in (
            ("global", AFFINE, f"nw_{kind}"),
            ("semi-global", Scoring(**inside), f"sg_dx_{kind}"),
        )
    ]


def similar(rng: np.random.Generator, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    kinds = rng.random(len(codes)) / DIFFERENCES
    changed = np.where(kinds < 0.8, (codes + rng.integers(1, 4, len(codes))) % 4, codes)[(kinds < 0.8) | (kinds > 0.9)]
    places = np.flatnonzero(rng.random(len(changed)) < 0.1 * DIFFERENCES)
    return np.insert(changed, places, rng.integers(0, 4, len(places))).astype(np.uint8)


def make_pairs(bases: int, kind: str) -> SequencePairs:
    rng = np.random.default_rng(bases)
    count = min(1024, int(CELLS / bases**2) // 64 * 64)
    queries = [rng.integers(0, 4, bases).astype(np.uint8) for _ in range(count)]
    others = [similar(rng, codes) for codes in queries] if kind == "similar" else queries[1:] + queries[:1]
    return SequencePairs.in_order(Sequences.of(queries), Sequences.of(others))


def texts_of(pairs: SequencePairs) -> Texts:
    return [(decode(pairs.queries[index]), decode(pairs.targets[index])) for index in range(len(pairs))]


def measure(task: Task, bases: int, kind: str, aligners: dict[str, CpuAligner], rounds: int) -> dict[str, Any]:
    """A row of the table; times are microseconds a pair."""
    pairs = make_pairs(bases, kind)
    texts = texts_of(pairs)
    short = [("A", "A")] * len(texts)

    def by_peer(texts: Texts) -> list[int]:
        return [task.peer(*text) for text in texts]

    def by_us(aligner: CpuAligner) -> NDArray[np.int32]:
        if task.has_cigar:
            return aligner.alignments(pairs, task.scoring, 1).scores
        return aligner.scores(pairs, task.scoring, 1)

    expected = by_peer(texts)
    for level, aligner in aligners.items():
        if by_us(aligner).tolist() != expected:
            raise SystemExit(f"{task.name}, {bases} bases, {kind}: {level} and {task.peer_name} have different scores")
    works: dict[str, Callable[[], object]] = {"peer": lambda: by_peer(texts), "call": lambda: by_peer(short)}
    works |= {level: partial(by_us, aligner) for level, aligner in aligners.items()}
    best = {name: seconds / len(texts) * 1e6 for name, seconds in best_of_turns(rounds, works).items()}
    peer = best["peer"] - best["call"]
    row = {"task": task.name, "bases": bases, "pairs": kind, "peer": task.peer_name, "peer us": peer}
    ours = {level: best[level] for level in aligners}
    return row | {"us": ours, "times as fast": {level: peer / took for level, took in ours.items()}}


def main() -> None:
    options = parser(__doc__, rounds=7)
    options.add_argument("--levels", default="avx512,avx2,x86-64-v2", help="SIMD levels of pairhmm")
    options.add_argument("--tables", default="scores,cigars", help="of scores, cigars")
    given = options.parse_args()
    aligners = {level: CpuAligner(level) for level in given.levels.split(",")}
    tables: dict[str, list[dict[str, Any]]] = {}
    for name in given.tables.split(","):
        rows = tables[name] = []
        for task in tasks(has_cigar=name == "cigars"):
            for bases in LENGTHS:
                rows += [measure(task, bases, kind, aligners, given.rounds) for kind in ("similar", "unrelated")]
            print(f"{name}: {task.name}", file=sys.stderr)
    write(given.output, tables, parasail=parasail.__version__, cores=os.cpu_count())


if __name__ == "__main__":
    main()
