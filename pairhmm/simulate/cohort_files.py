"""Writes reads of simulated samples as VCF with genotypes, read counts and likelihoods, as a caller would."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pysam

from pairhmm.simulate.cohort import AlleleCounts
from pairhmm.simulate.genome_files import letters
from pairhmm.variants.call_writer import VCF_COLUMNS

CONTIGS = 22
SPACING = 10_000
"""Bases between neighbouring sites."""

_HIGHEST_QUALITY = 99
_HEADER = (
    "##fileformat=VCFv4.2",
    '##FILTER=<ID=PASS,Description="All filters passed">',
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
    '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Reads of each allele">',
    '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Reads">',
    '##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Genotype quality, Phred">',
    '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Likelihoods of genotypes, Phred, the best 0">',
)
_GENOTYPES = "0/0", "0/1", "1/1"


def write_cohort_vcf(
    path: Path, samples: Sequence[str], alleles: Sequence[tuple[int, int]], counts: AlleleCounts, error_rate: float
) -> None:
    """Write bgzipped VCF and its .tbi. Sites are spread over `CONTIGS` contigs.

    Parameters
    ----------
    path : Path
    samples : sequence of str
    alleles : sequence of (int, int)
        Base codes (A 0, C 1, G 2, T 3) of the reference and the alternative allele of each site.
    counts : AlleleCounts
    error_rate : float
        That genotypes are called with.
    """
    each = -(-len(alleles) // CONTIGS)
    lines = [*_HEADER, *(f"##contig=<ID=chr{number + 1},length={SPACING * (each + 1)}>" for number in range(CONTIGS))]
    lines.append("\t".join((*VCF_COLUMNS, "FORMAT", *samples)))
    cell = lru_cache(maxsize=None)(lambda reference, alternative: _cell(reference, alternative, error_rate))
    with pysam.BGZFile(os.fspath(path), "wb", index=None) as out:
        out.write(("\n".join(lines) + "\n").encode())
        sites = zip(alleles, counts.reference.tolist(), counts.alternative.tolist(), strict=True)
        for number, (pair, reference, alternative) in enumerate(sites):
            contig, place = divmod(number, each)
            ref, alt = (letters([code]) for code in pair)
            cells = "\t".join(map(cell, reference, alternative))
            line = f"chr{contig + 1}\t{SPACING * (place + 1)}\t.\t{ref}\t{alt}\t.\tPASS\t.\tGT:AD:DP:GQ:PL\t{cells}\n"
            out.write(line.encode())
    pysam.tabix_index(os.fspath(path), preset="vcf", force=True)


def _cell(reference: int, alternative: int, error_rate: float) -> str:
    """A sample's column. Without reads, nothing is called."""
    if not reference + alternative:
        return "./.:0,0:0:.:."
    shares = (error_rate, 0.5, 1 - error_rate)
    phred = [-10 * (reference * math.log10(1 - share) + alternative * math.log10(share)) for share in shares]
    scaled = [round(one - min(phred)) for one in phred]
    quality = min(_HIGHEST_QUALITY, sorted(scaled)[1])
    called = _GENOTYPES[scaled.index(0)]
    text = ",".join(map(str, scaled))
    return f"{called}:{reference},{alternative}:{reference + alternative}:{quality}:{text}"
