"""Writes simulated cohorts as VCF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
