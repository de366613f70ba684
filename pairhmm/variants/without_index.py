"""Opens VCF and BCF without the index beside them, which is not needed to read on."""

from __future__ import annotations

import pysam

from pairhmm.files.htslib import quiet


def open_variants(path: str) -> pysam.VariantFile:
    """A VCF or BCF to be read from its beginning.

    Of a path, or a file with a name, pysam would load the index, and htslib does not check its numbers: a damaged one
    ends the process. pysam keeps a descriptor of its own.
    """
    with quiet(), open(path, "rb") as file:
        return pysam.VariantFile(file.fileno())
