"""Rows of a region, with what a test does not care about filled in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pairhmm.likelihoods.table import LikelihoodRows
from pairhmm.sequences.arrays import Names


def rows_of(chrom, start, names, log10, **changes) -> LikelihoodRows:
    """The rows of reads of one sample; `log10` is (reads, haplotypes)."""
    reads, haplotypes = log10.shape
    rows = LikelihoodRows(
        chrom=chrom,
        start=start,
        end=start + 10,
        samples=["s"],
        sample=np.zeros(reads, dtype=np.int32),
        read_names=Names.of(names),
        mates=np.zeros(reads, dtype=np.uint8),
        haplotypes=[f"{chrom}:{start + 1}-{start + 10}/{number}" for number in range(haplotypes)],
        sequences=["ACGT", *["ACT"] * (haplotypes - 1)],
        alleles=[str(number) for number in range(haplotypes)],
        variants="",
        nuisances=[False] * haplotypes,
        log10=log10,
        precision=np.zeros(log10.shape, dtype=np.uint8),
    )
    return replace(rows, **changes)
