"""Simulated cohorts as arrays: families, samples of the same individual, reads at some depth, foreign reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.relating.evidence import COUNTED_ERROR, SiteEvidence

RATIO = float(np.log10((1 - COUNTED_ERROR) / COUNTED_ERROR))
Genotypes = NDArray[np.int8]


def frequencies(sites: int, seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(0.05, 0.95, sites)


def founder(shares: NDArray[np.float64], rng: np.random.Generator) -> Genotypes:
    return rng.binomial(2, shares).astype(np.int8)


def child(father: Genotypes, mother: Genotypes, rng: np.random.Generator) -> Genotypes:
    return (rng.binomial(1, father / 2) + rng.binomial(1, mother / 2)).astype(np.int8)


def reads(
    genotypes: Sequence[Genotypes],
    depth: float,
    rng: np.random.Generator,
    foreign: Mapping[int, tuple[int, float]] | None = None,
    error: float = COUNTED_ERROR,
) -> NDArray[np.uint16]:
    """Reads of each allele, (samples, sites, 2). `foreign`: sample -> (whose reads, their share)."""
    counts = np.zeros((len(genotypes), len(genotypes[0]), 2), dtype=np.uint16)
    for index, own in enumerate(genotypes):
        source, share = (foreign or {}).get(index, (index, 0.0))
        q = (1 - share) * own / 2 + share * genotypes[source] / 2
        q = q * (1 - error) + (1 - q) * error
        total = rng.poisson(depth, len(own))
        alternative = rng.binomial(total, q)
        counts[index, :, 0], counts[index, :, 1] = total - alternative, alternative
    return counts


def evidence(counts: NDArray[np.uint16]) -> SiteEvidence:
    samples, sites, _ = counts.shape
    begin, site, ratio, count = [0], [], [], []
    for own in counts:
        for place, (reference, alternative) in enumerate(own.tolist()):
            for number, sign in ((reference, -1), (alternative, 1)):
                if number:
                    site.append(place)
                    ratio.append(sign * RATIO)
                    count.append(number)
        begin.append(len(site))
    names = tuple(f"s{index}" for index in range(samples))
    return SiteEvidence(
        names,
        sites,
        np.array(begin, dtype=np.int64),
        np.array(site, dtype=np.int32),
        np.array(ratio, dtype=np.float32),
        np.array(count, dtype=np.uint16),
    )
