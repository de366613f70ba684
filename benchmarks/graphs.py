"""The model `graph` beside the model `gatk` on every haplotype of the graph.

    python benchmarks/graphs.py --rounds 7

Graphs have sites of two alleles of equal weight, 25 letters apart: SNPs, or a deletion of one base at every third site.
Reads of 150 bases come from random paths without errors, at quality 30. One thread; CPU times are from reads and text
to scores, the best of all rounds. Graphs with more than 4,096 paths are not listed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tables import parser, write

import pairhmm
from pairhmm.models.batch import Read

BETWEEN, LENGTH, READS, MOST_LISTED = 24, 150, 64, 1 << 12
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}


def main() -> None:
    given = parser(__doc__, rounds=7).parse_args()
    rows = [
        measure(kind, sites, given.rounds) for kind in ("SNPs", "SNPs and deletions") for sites in (8, 10, 12, 24, 48)
    ]
    write(given.output, {"graphs": rows}, rounds=given.rounds)


def measure(kind: str, sites: int, rounds: int) -> dict[str, Any]:
    rng = np.random.default_rng(sites)
    chain = chain_of(rng, sites, has_deletions=kind != "SNPs")
    text = "".join(site[0] if len(site) == 1 else f"[{site[0]}|{site[1] or '-'}]" for site in chain)
    reads = [read_of(rng, chain) for _ in range(READS)]
    seconds, scores = best(rounds, lambda: pairhmm.forward(reads, text, model="graph", backend="cpu"))
    row: dict[str, Any] = {
        "data": kind,
        "paths": f"2^{sites}",
        "letters": sum(len(allele) for site in chain for allele in site),
    }
    row["graph us/read"] = seconds / READS * 1e6
    if 1 << sites <= MOST_LISTED:
        haplotypes = ["".join(path) for path in product(*chain)]
        listing, listed = best(rounds, lambda: pairhmm.forward(reads, haplotypes, backend="cpu"))
        expected = np.log10((10**listed).mean(axis=1))
        row["gatk us/read"] = listing / READS * 1e6
        row["ratio"] = listing / seconds
        row["largest difference"] = float(np.abs(scores[:, 0] - expected).max())
    return row


def chain_of(rng: np.random.Generator, sites: int, has_deletions: bool) -> list[list[str]]:
    """The alleles of each site; determined letters are a site of one allele."""
    chain = [[letters(rng, BETWEEN)]]
    for site in range(sites):
        base = letters(rng, 1)
        chain += [[base, "" if has_deletions and site % 3 == 0 else OTHER[base]], [letters(rng, BETWEEN)]]
    return chain


def letters(rng: np.random.Generator, count: int) -> str:
    return "".join(rng.choice(list("ACGT"), count))


def read_of(rng: np.random.Generator, chain: list[list[str]]) -> Read:
    path = "".join(site[rng.integers(len(site))] for site in chain)
    begin = int(rng.integers(0, len(path) - LENGTH + 1))
    return pairhmm.make_read(path[begin : begin + LENGTH], 30)


def best(rounds: int, score: Callable[[], NDArray[np.float64]]) -> tuple[float, NDArray[np.float64]]:
    """The least time, and the scores."""
    times = []
    for _ in range(rounds):
        begin = process_time()
        scores = score()
        times.append(process_time() - begin)
    return min(times), scores


if __name__ == "__main__":
    main()
