"""Genomes that share a known part of their k-mers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LETTERS = np.frombuffer(b"ACGT", dtype=np.uint8)

Bases = NDArray[np.uint8]


def random_genome(length: int, rng: np.random.Generator) -> Bases:
    """Bases 0 to 3, uint8[length]."""
    return rng.integers(0, 4, length, dtype=np.uint8)


def relative(genome: Bases, jaccard: float, k: int, rng: np.random.Generator) -> Bases:
    """A copy with substitutions, about so many that the k-mers of both have this Jaccard index.

    With the rate d of substitutions, a k-mer stays as it is with the probability ``p = (1 - d)^k``, and the Jaccard
    index is ``p / (2 - p)``.
    """
    unchanged = 2 * jaccard / (1 + jaccard)
    changed = rng.random(len(genome)) < 1 - unchanged ** (1 / k)
    return np.where(changed, (genome + rng.integers(1, 4, len(genome), dtype=np.uint8)) % 4, genome).astype(np.uint8)


def canonical_kmers(genome: Bases, k: int) -> NDArray[np.uint64]:
    """The distinct k-mers, sorted, each as the lesser of its code and that of its reverse complement (k up to 31)."""
    count = len(genome) - k + 1
    forward = np.zeros(count, dtype=np.uint64)
    backward = np.zeros(count, dtype=np.uint64)
    for place in range(k):
        bases = genome[place : place + count].astype(np.uint64)
        forward = forward << np.uint64(2) | bases
        backward |= (np.uint64(3) - bases) << np.uint64(2 * place)
    return np.unique(np.minimum(forward, backward))


def true_jaccard(kmers: NDArray[np.uint64], others: NDArray[np.uint64]) -> float:
    """The Jaccard index of two sorted arrays of distinct k-mers."""
    shared = len(np.intersect1d(kmers, others, assume_unique=True))
    return shared / (len(kmers) + len(others) - shared)


def sequence_of(genome: Bases) -> str:
    """Letters of a genome."""
    return LETTERS[genome].tobytes().decode()
