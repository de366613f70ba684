"""Counts the reads of a file that are in no region of a contig, and that a run over everything leaves out."""

from __future__ import annotations

from pairhmm.io.alignments.selection import ELSEWHERE, LeftOut
from pairhmm.io.alignments.sources import OpenAlignments

_UNMAPPED = "unmapped"


def count_unread(source: OpenAlignments, left_out: LeftOut) -> None:
    """Add the reads that no run over regions of contigs meets.

    Parameters
    ----------
    source : OpenAlignments
        With an index.
    left_out : LeftOut
        Gets them.
    """
    names = source.references
    others = [tid for tid, name in enumerate(names) if name not in set(source.contigs)]
    if others:
        # A run over everything does not read what stands behind the contigs, either.
        records = source.records
        reason, count = ELSEWHERE, 0 if records is None else sum(records.mapped_reads(tid) or 0 for tid in others)
    else:
        reason = _UNMAPPED
        # Where pysam reads, one process does, which has met these reads.
        count = 0 if source.records is None else source.records.unplaced_reads()
    if count:
        left_out.counts[reason] += count
