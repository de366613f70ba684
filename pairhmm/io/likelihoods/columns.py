"""The columns of likelihood tables in Parquet, made of the arrays of many regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.names import Names
from pairhmm.io.files.arrow_arrays import Coded, Coder
from pairhmm.io.likelihoods.table import LikelihoodRows
from pairhmm.models.batch import PRECISIONS

Column = NDArray[Any] | Names | Coded


def score_columns(regions: Sequence[LikelihoodRows]) -> list[Column]:
    """The columns of the pairs of some regions, in the order of `pairhmm.io.likelihoods.table.COLUMNS`."""
    reads = np.array([len(one.read_names) for one in regions])
    pairs = np.array([one.log10.size for one in regions])
    # Reads of the regions, and their pairs.
    pairs_of = np.repeat([len(one.haplotypes) for one in regions], reads)
    samples = Coded.of(np.concatenate([one.sample for one in regions]), regions[0].samples)
    mates = np.concatenate([one.mates for one in regions])
    names = Names.concatenate([one.read_names for one in regions])
    scored = [one for one in regions if one.log10.size]
    haplotypes = Coder()
    codes = [np.tile(haplotypes.codes(one.haplotypes), len(one.read_names)) for one in scored]
    columns = [
        Coded(np.repeat(samples.codes, pairs_of), samples.names),
        *_places(scored, pairs[pairs > 0]),
        names.at(np.repeat(np.arange(len(names)), pairs_of)),
        np.repeat(mates, pairs_of).astype(np.int8),
        Coded(_joined(codes, np.int32), haplotypes.names),
        np.concatenate([one.log10.reshape(-1) for one in regions]),
        Coded.of(np.concatenate([one.precision.reshape(-1) for one in regions]), PRECISIONS),
    ]
    if regions[0].reads is not None:
        joined = np.concatenate([one.reads for one in regions if one.reads is not None])
        columns.append(np.repeat(joined, pairs_of).astype(np.int32))
    return columns


def haplotype_columns(regions: Sequence[LikelihoodRows]) -> list[Column]:
    """The columns of the haplotypes of some regions, in the order of `HAPLOTYPE_COLUMNS`."""
    counts = np.array([len(one.haplotypes) for one in regions])
    return [
        *_places(regions, counts),
        Names.of([name for one in regions for name in one.haplotypes]),
        Names.of([sequence for one in regions for sequence in one.sequences]),
        Names.of([alleles for one in regions for alleles in one.alleles]),
        Names.of([one.variants for one in regions for _ in one.haplotypes]),
        np.array([is_nuisance for one in regions for is_nuisance in one.nuisances], dtype=np.int8),
    ]


def _places(regions: Sequence[LikelihoodRows], rows: NDArray[np.int64]) -> list[Column]:
    """The columns of contig, start and end. `rows` is the number of rows of each region."""
    contigs = Coder()
    codes = contigs.codes([one.chrom for one in regions])
    starts, ends = (np.array(values, dtype=np.int64) for values in _edges(regions))
    return [Coded(np.repeat(codes, rows), contigs.names), np.repeat(starts, rows), np.repeat(ends, rows)]


def _edges(regions: Sequence[LikelihoodRows]) -> tuple[list[int], list[int]]:
    return [one.start for one in regions], [one.end for one in regions]


def _joined(parts: Sequence[NDArray[np.int32]], kind: type) -> NDArray[np.int32]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)
