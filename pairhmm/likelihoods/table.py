"""Defines the likelihood table: its columns, a region's rows, and the companion that describes each haplotype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pairhmm.files.names import MODEL_RECORD
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import Names

COLUMNS = ("sample", "chrom", "start", "end", "read_name", "mate", "haplotype", "log10_likelihood", "precision")
READS_COLUMN = "reads"
"""The last column of a table of joined reads: the number of reads of each profile."""
HAPLOTYPE_COLUMNS = ("chrom", "start", "end", "haplotype", "sequence", "alleles", "variants", "nuisance")
ENDINGS = (".tsv", ".tsv.gz", ".gz", ".parquet")
TABLE_ENDINGS = (".tsv", ".tsv.gz", ".parquet")
"""Endings that only tables have: other files that end in ``.gz`` are not tables."""
DEFAULT_MODEL = "gatk"
"""The model of a table that names none."""
MODEL_LINE = f"##{MODEL_RECORD}="
"""Begins the line above a text table's header that names its model. Tables of GATK's model have no such line."""
MODEL_KEY = "pairhmm.model"
"""The key of the model in the metadata of a Parquet table."""


class Format(Enum):
    """The formats of tables."""

    TSV = "tab-separated text"
    TSV_GZ = "tab-separated text, bgzipped"
    PARQUET = "Parquet"

    @classmethod
    def of(cls, path: str) -> Format:
        """The format of a file, by the ending of its name."""
        if path.endswith(".parquet"):
            return cls.PARQUET
        return cls.TSV_GZ if path.endswith(".gz") else cls.TSV


@dataclass(slots=True)
class LikelihoodRows:
    """The rows of one region, in the order in which they are written.

    Attributes
    ----------
    start, end : int
        0-based half-open.
    samples : sequence of str
        Names of the run's samples.
    sample : int32 (reads,)
        Index into `samples`.
    mates : uint8 (reads,)
        1 or 2; 0 for a read without a mate, and for mates that were joined.
    haplotypes : list of str
        Names, such as ``chr1:100-250/0``.
    alleles : list of str
        One text for each haplotype: its allele at each variant, comma-separated. 0 is the reference.
    variants : str
        ``pos:ref>alt[/alt]`` of the region's variants (1-based), comma-separated.
    nuisances : list of bool
        Whether each haplotype has an allele that is not listed (`pairhmm.variants.haplotypes.Haplotype.is_nuisance`).
    log10 : float64[reads, haplotypes]
    precision : uint8[reads, haplotypes]
    reads : int64 (reads,), optional
        Where reads were joined: the number of reads of each profile, for the column `READS_COLUMN`.
    """

    chrom: str
    start: int
    end: int
    samples: Sequence[str]
    sample: NDArray[np.int32]
    read_names: Names
    mates: NDArray[np.uint8]
    haplotypes: list[str]
    sequences: list[str]
    alleles: list[str]
    variants: str
    nuisances: list[bool]
    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]
    reads: NDArray[np.int64] | None = None

    __repr__ = short_repr


def companion(path: str) -> str:
    """The path of a likelihood table's companion."""
    for ending in ENDINGS:
        if path.endswith(ending):
            return f"{path[: -len(ending)]}.haplotypes{'.tsv.gz' if ending == '.gz' else ending}"
    return f"{path}.haplotypes"
