"""Scored regions with what a test does not care about filled in, and tables of them."""

from __future__ import annotations

import numpy as np

from pairhmm.alignments.sam import FIRST, PAIRED, SECOND
from pairhmm.calling.scored_region import Evidence
from pairhmm.likelihoods.columns import RegionRows
from pairhmm.likelihoods.lines import region_lines
from pairhmm.likelihoods.table import DEFAULT_MODEL, Format
from pairhmm.likelihoods.writer import Batches, open_likelihoods
from pairhmm.native import native
from pairhmm.sequences.arrays import Names
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region
from tests.calling.scored import native_region

FLAGS = np.array([0, PAIRED | FIRST, PAIRED | SECOND], dtype=np.uint16)
"""The flags of reads without a mate, and of either mate."""


def region_of(chrom, start, names, log10, *, end=None, pad=0, variants=(), haplotypes=None, **columns) -> Evidence:
    """The scores of reads: (reads, haplotypes). `haplotypes` span `pad` bases more than the region on either side."""
    reads, width = log10.shape
    end = start + 10 if end is None else end
    default = [Haplotype("ACT" if number else "ACGT", (number,) * len(variants)) for number in range(width)]
    extents = tuple((one.pos, one.end) for one in variants)
    zeros = np.zeros(reads, dtype=np.int64)
    given = {
        "sample": np.zeros(reads, dtype=np.int32),
        "flag": np.zeros(reads, dtype=np.uint16),
        "precision": np.zeros(log10.shape, dtype=np.uint8),
        "set_aside": np.zeros(reads, dtype=np.bool_),
        "samples": ["s"],
        **columns,
    }
    return Evidence(
        region=Region(chrom, start, end, start, end, start - pad, end + pad, tuple(variants), extents),
        haplotypes=haplotypes or default,
        names=Names.of(names),
        mapq=np.zeros(reads, dtype=np.uint8),
        **dict.fromkeys(("start", "end", "length"), zeros),
        from_end=np.zeros((reads, len(variants)), dtype=np.int32),
        log10=log10,
        **given,
    )


def prepared_rows(regions, file_format):
    """The rows of regions, as the writer of a format takes them."""
    if not regions:
        return []
    scored = native.ScoredRegions([native_region(one) for one in regions])
    how = regions[0].samples, None, False
    if file_format is Format.PARQUET:
        return [Batches.of(RegionRows.of_scored(scored, *how))]
    return region_lines(scored, *how)


def write_regions(path, regions, model=DEFAULT_MODEL, threads=1):
    """Write the table of some regions and its companion."""
    with open_likelihoods(path, model, threads) as out:
        for region in regions:
            for prepared in prepared_rows([region], Format.of(str(path))):
                out.append(prepared)
