"""Defines the likelihood table: its columns, and the companion that describes each haplotype."""

from __future__ import annotations

from enum import Enum

from pairhmm.files.names import MODEL_RECORD

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


def companion(path: str) -> str:
    """The path of a likelihood table's companion."""
    for ending in ENDINGS:
        if path.endswith(ending):
            return f"{path[: -len(ending)]}.haplotypes{'.tsv.gz' if ending == '.gz' else ending}"
    return f"{path}.haplotypes"
