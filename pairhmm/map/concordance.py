"""Concordance of pairs of samples: IBS counts of certain genotypes.

The counts and the relatedness are somalier's: Pedersen et al. (2020), "Somalier: rapid relatedness estimation for
cancer and germline studies using efficient genome sketches", Genome Medicine 12:62.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sites import SiteEvidence
from pairhmm.objects import short_repr

NO_GENOTYPE = -1
MIN_DEPTH = 7
"""Reads that a certain genotype needs."""
MOST_OF_OTHER = 0.04
"""A homozygote has less than this share of reads of the other allele."""
LEAST_OF_HET = 0.2
"""A heterozygote has at least this share of reads of each allele."""
_BLOCK = 4096
_ROWS = 256

Counts = NDArray[np.uint16]


def certain_genotypes(evidence: SiteEvidence, called: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
    """Genotypes from counts of reads, where depth and allele balance leave no doubt; else, those of `called`."""
    genotypes = np.full((len(evidence.samples), evidence.sites), NO_GENOTYPE, dtype=np.int8)
    for sample, row in enumerate(genotypes):
        depth, alternative = read_counts(evidence, sample)
        share = alternative / np.maximum(depth, 1)
        row[share < MOST_OF_OTHER] = 0
        row[share > 1 - MOST_OF_OTHER] = 2
        row[(share >= LEAST_OF_HET) & (share <= 1 - LEAST_OF_HET)] = 1
        row[depth < MIN_DEPTH] = NO_GENOTYPE
        if called is not None:
            np.copyto(row, called[sample], where=depth == 0)
    return genotypes


def read_counts(evidence: SiteEvidence, sample: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reads of a sample at each site, and those that favour the alternative allele: float64 (sites,)."""
    rows = slice(int(evidence.begin[sample]), int(evidence.begin[sample + 1]))
    site, count = evidence.site[rows], evidence.count[rows].astype(np.float64)
    depth = np.bincount(site, weights=count, minlength=evidence.sites)
    alternative = np.bincount(site, weights=count * (evidence.log10_ratio[rows] > 0), minlength=evidence.sites)
    return depth.astype(np.float64), alternative.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the certain genotypes of pairs of samples agree, an element a pair."""

    sites: Counts  # where both have a genotype; the other counts are of these sites
    ibs0: Counts  # opposite homozygotes
    ibs2: Counts  # equal genotypes
    shared_hets: Counts  # heterozygous in both
    fewer_hets: Counts  # heterozygous sites of the sample with fewer of them

    __repr__ = short_repr

    @property
    def concordance(self) -> NDArray[np.float64]:
        """Share of equal genotypes; NaN without sites."""
        return _share(self.ibs2, self.sites)

    @property
    def relatedness(self) -> NDArray[np.float64]:
        """``(shared_hets - 2 ibs0) / fewer_hets``; NaN without heterozygous sites."""
        return _share(self.shared_hets - 2.0 * self.ibs0, self.fewer_hets)


def _share(part: NDArray[np.generic], whole: Counts) -> NDArray[np.float64]:
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def agreement(genotypes: NDArray[np.int8]) -> Agreement:
    """Compare each two samples: pairs (0, 1), (0, 2), ... (1, 2), ... of genotypes, int8 (samples, sites)."""
    samples, sites = genotypes.shape
    parts = []
    for first in range(0, samples, _ROWS):
        rows = min(_ROWS, samples - first)
        counts = np.zeros((len(fields(Agreement)), rows, samples - first), dtype=np.float32)
        het_of_row, het_of_column = np.zeros((2, *counts.shape[1:]), dtype=np.float32)
        for begin in range(0, sites, _BLOCK):
            block = genotypes[first:, begin : begin + _BLOCK]
            known, none, het, both = (
                one.astype(np.float32) for one in (block != NO_GENOTYPE, block == 0, block == 1, block == 2)
            )
            shared = het[:rows] @ het.T
            counts[0] += known[:rows] @ known.T
            counts[1] += none[:rows] @ both.T + both[:rows] @ none.T
            counts[2] += shared + none[:rows] @ none.T + both[:rows] @ both.T
            counts[3] += shared
            het_of_row += het[:rows] @ known.T
            het_of_column += known[:rows] @ het.T
        np.minimum(het_of_row, het_of_column, out=counts[4])
        # The row's own samples stand first among the columns.
        later = np.triu_indices(rows, 1, samples - first)
        parts.append(counts[:, later[0], later[1]].astype(np.uint16))
    return Agreement(*np.concatenate(parts, axis=1))
