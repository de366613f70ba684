"""Defines the likelihood table: its columns, and the companion that describes each haplotype."""

from __future__ import annotations

from enum import Enum

from pairhmm.files.names import MODEL_RECORD

NEEDED_COLUMNS = ("sample", "chrom", "start", "end", "read_name", "mate", "haplotype", "log10_likelihood", "precision")
"""Those that readers need. Tables that other programs wrote may lack the last one."""
COLUMNS = (*NEEDED_COLUMNS, "reads")
HAPLOTYPE_COLUMNS = ("chrom", "start", "end", "haplotype", "sequence", "alleles", "variants", "nuisance")
ENDINGS = (".tsv", ".tsv.gz", ".gz", ".parquet")
TABLE_ENDINGS = (".tsv", ".tsv.gz", ".parquet")
"""Endings that only tables have: other files that end in ``.gz`` are not tables."""
DEFAULT_MODEL = "gatk"
"""The model of a table whose companion names none."""
MODEL_LINE = f"##{MODEL_RECORD}="
"""Begins the first line of a companion in text, which names the model."""
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
