"""Sources that pysam reads, to be compared with those that the compiled part reads."""

from __future__ import annotations

import pysam

from pairhmm.io.alignments.index import find_index


def read_by_pysam(source, fasta):
    """The same file, as it is read without the compiled part."""
    file = pysam.AlignmentFile(
        source.path, check_sq=False, reference_filename=str(fasta), index_filename=find_index(source.path)
    )
    return source._replace(records=None, file=file)
