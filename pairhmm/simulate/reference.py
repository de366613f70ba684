"""Simulated genomes: a reference with repeats and homopolymers, and relatives with a known Jaccard index of k-mers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GC_MEAN = 0.41
GC_SPREAD = 0.05
"""Mean and standard deviation of the share of G and C in windows of `GC_WINDOW` bases."""

GC_WINDOW = 5_000
"""Bases that share one probability of G and C."""

INTERSPERSED_FRACTION = 0.15
"""Share of a contig's bases in copies of interspersed repeats."""

FAMILY_LENGTHS = (300, 300, 1_200, 4_000)
"""Bases of each repeat family: two short ones (like Alu), two long ones (like L1, most copies without their 5' end)."""

DIVERGENCE = (0.05, 0.25)
"""The least and the greatest share of substituted bases in a copy of a repeat."""

BASES_PER_TRACT = 1_000
"""Bases of a contig for each tandem repeat."""

UNIT_WEIGHTS = np.array([0.55, 0.20, 0.08, 0.10, 0.04, 0.03])
"""Share of the tandem repeats with a unit of 1 (homopolymers) to 6 bases."""


@dataclass(frozen=True, slots=True)
class Tract:
    """A tandem repeat: bases `start` to `end` (0-based half-open) repeat a unit of `unit` bases."""

    start: int
    end: int
    unit: int


def repeat_families(rng: np.random.Generator) -> list[np.ndarray]:
    """Draw the ancestors of the interspersed repeats, which all contigs share.

    Returns
    -------
    list of numpy.ndarray
        For each family, a uint8 array of base codes (A 0, C 1, G 2, T 3).
    """
    return [rng.integers(0, 4, size, dtype=np.uint8) for size in FAMILY_LENGTHS]


def make_contig(rng: np.random.Generator, length: int, families: list[np.ndarray]) -> tuple[np.ndarray, list[Tract]]:
    """Draw one contig.

    Parameters
    ----------
    length : int
        Bases.
    families : list of numpy.ndarray
        Repeat ancestors from `repeat_families`.

    Returns
    -------
    codes : numpy.ndarray, uint8, shape (length,)
        Base codes A 0, C 1, G 2, T 3.
    tracts : list of Tract
        The tandem repeats, in order and without overlaps.
    """
    windows = -(-length // GC_WINDOW)
    gc = np.repeat(rng.normal(GC_MEAN, GC_SPREAD, windows), GC_WINDOW)[:length]
    strong = rng.random(length) < gc
    second = rng.integers(0, 2, length, dtype=np.uint8)
    codes = np.where(strong, 1 + second, 3 * second).astype(np.uint8)
    _scatter_copies(rng, codes, families)
    return codes, _scatter_tracts(rng, codes)


def _scatter_copies(rng: np.random.Generator, codes: np.ndarray, families: list[np.ndarray]) -> None:
    budget = int(INTERSPERSED_FRACTION * len(codes))
    while budget > 0:
        ancestor = families[rng.integers(len(families))]
        # Reverse transcription starts at the 3' end, so long copies are truncated at their 5' end.
        size = len(ancestor) if len(ancestor) <= 300 else int(rng.integers(300, len(ancestor) + 1))
        copy = ancestor[len(ancestor) - size :].copy()
        mutated = rng.random(size) < rng.uniform(*DIVERGENCE)
        copy[mutated] = (copy[mutated] + rng.integers(1, 4, int(mutated.sum()), dtype=np.uint8)) % 4
        if rng.random() < 0.5:
            copy = (3 - copy)[::-1]
        budget -= size
        if size < len(codes):
            start = int(rng.integers(0, len(codes) - size))
            codes[start : start + size] = copy


def _scatter_tracts(rng: np.random.Generator, codes: np.ndarray) -> list[Tract]:
    tracts: list[Tract] = []
    wanted = len(codes) // BASES_PER_TRACT
    starts = np.sort(rng.integers(0, max(1, len(codes) - 100), wanted))
    end_of_last = 0
    for start in starts.tolist():
        unit = 1 + int(rng.choice(6, p=UNIT_WEIGHTS))
        # Homopolymers of 6 to about 20 bases; longer units from three or four copies to about 60 bases.
        size = 6 + int(rng.geometric(0.22)) if unit == 1 else 3 * unit + 4 + int(rng.geometric(0.08))
        size = min(size, 24 if unit == 1 else 72)
        if start <= end_of_last + 10 or start + size > len(codes):
            continue
        motif = rng.integers(0, 4, unit, dtype=np.uint8)
        codes[start : start + size] = np.resize(motif, size)
        tracts.append(Tract(start, start + size, unit))
        end_of_last = start + size
    return tracts


def relative(genome: NDArray[np.uint8], jaccard: float, k: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """A copy with substitutions, about so many that the k-mers of both have this Jaccard index.

    With the rate d of substitutions, a k-mer stays as it is with the probability ``p = (1 - d)^k``, and the Jaccard
    index is ``p / (2 - p)``.
    """
    unchanged = 2 * jaccard / (1 + jaccard)
    changed = rng.random(len(genome)) < 1 - unchanged ** (1 / k)
    return np.where(changed, (genome + rng.integers(1, 4, len(genome), dtype=np.uint8)) % 4, genome).astype(np.uint8)
