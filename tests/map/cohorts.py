"""Simulated cohorts: families, samples of one individual, reads at some depth, foreign reads; as arrays and as VCF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.genotype_likelihoods import add_reads
from pairhmm.map.sites import COUNTED_ERROR, SiteEvidence, counted_evidence

Genotypes = NDArray[np.int8]


def frequencies(sites: int, seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(0.05, 0.95, sites)


def founder(shares: NDArray[np.float64], rng: np.random.Generator) -> Genotypes:
    return rng.binomial(2, shares).astype(np.int8)


def child(father: Genotypes, mother: Genotypes, rng: np.random.Generator) -> Genotypes:
    return (rng.binomial(1, father / 2) + rng.binomial(1, mother / 2)).astype(np.int8)


def certain(genotypes: Sequence[Genotypes]) -> NDArray[np.float32]:
    """Likelihoods of genotypes that are known."""
    likelihoods = np.full((len(genotypes), len(genotypes[0]), 3), -30, dtype=np.float32)
    for sample, own in enumerate(genotypes):
        likelihoods[sample, np.arange(len(own)), own] = 0
    return likelihoods


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


def founders(count: int, sites: int, seed: int = 5) -> list[Genotypes]:
    rng, shares = np.random.default_rng(seed), frequencies(sites)
    return [founder(shares, rng) for _ in range(count)]


def populations(rng: np.random.Generator, sites: int, fst: float) -> NDArray[np.float64]:
    """Frequencies of two populations, (2, sites)."""
    ancestral, size = rng.uniform(0.05, 0.95, sites), (1 - fst) / fst
    return np.clip(rng.beta(ancestral * size, (1 - ancestral) * size, (2, sites)), 0.001, 0.999)


def likelihoods_of(counts: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Genotype likelihoods of counted reads."""
    return add_reads(np.zeros((*counts.shape[:2], 3), dtype=np.float32), evidence(counts))


def evidence(counts: NDArray[np.uint16]) -> SiteEvidence:
    """Evidence of counted reads."""
    return counted_evidence(tuple(f"s{index}" for index in range(len(counts))), counts)


def family(
    shares: NDArray[np.float64], rng: np.random.Generator, strangers: int = 0
) -> tuple[list[Genotypes], dict[tuple[int, int], str]]:
    """Father, mother, two children, a half-sibling, a second sample of the first child; and strangers.

    Returns genotypes, and the relations that are not none.
    """
    father, mother, other = (founder(shares, rng) for _ in range(3))
    first, second, half = child(father, mother, rng), child(father, mother, rng), child(other, mother, rng)
    close = {
        **dict.fromkeys([(0, 2), (0, 3), (0, 5), (1, 2), (1, 3), (1, 4), (1, 5)], "parent-child"),
        **dict.fromkeys([(2, 3), (3, 5)], "siblings"),
        **dict.fromkeys([(2, 4), (3, 4), (4, 5)], "related"),
        (2, 5): "identical",
    }
    strange = [founder(shares, rng) for _ in range(strangers)]
    return [father, mother, first, second, half, first, *strange], close


HEADER = """##fileformat=VCFv4.3
##contig=<ID=chr1>
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Reads">
##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Depth">
##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Likelihoods">
"""
_FIXED = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]


def write_counts(path: Path, samples: Sequence[str], counts: NDArray[np.uint16], chrom: str = "chr1") -> Path:
    """Reads of each allele, (samples, sites, 2), as GT:AD:DP."""
    rows = [
        [f"./.:{reference},{alternative}:{reference + alternative}" for reference, alternative in site]
        for site in counts.swapaxes(0, 1).tolist()
    ]
    return write_columns(path, samples, "GT:AD:DP", rows, chrom)


def write_genotypes(path: Path, samples: Sequence[str], genotypes: Sequence[NDArray[np.int8]]) -> Path:
    """Genotypes as GT."""
    texts = ["0/0", "0/1", "1/1", "./."]
    return write_columns(path, samples, "GT", [[texts[one] for one in site] for site in np.array(genotypes).T.tolist()])


def write_columns(
    path: Path, samples: Sequence[str], form: str, rows: Sequence[Sequence[str]], chrom: str = "chr1"
) -> Path:
    with open(path, "w") as out:
        out.write(HEADER)
        print(*_FIXED, *samples, sep="\t", file=out)
        for number, row in enumerate(rows):
            print(chrom, 1000 * (number + 1), ".", "A", "G", "50", "PASS", ".", form, *row, sep="\t", file=out)
    return path
