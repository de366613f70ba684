"""Reads as `ReadBlock.from_alignments` takes them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from pairhmm.sequences.letters import encode

ON_REFERENCE = (0, 2, 3, 7, 8)
"""The CIGAR operations M, D, N, = and X."""


def aligned(start, bases, cigar=None, *, name="r", sample=0, flag=0, mapq=60, quality=30, molecule=""):
    """A read of letters or their codes. Without a CIGAR it matches; one of no reference base spans one."""
    codes = encode(bases) if isinstance(bases, str) else bases
    cigar = [(0, len(codes))] if cigar is None else cigar
    span = sum(length for operation, length in cigar if operation in ON_REFERENCE) or 1
    return SimpleNamespace(
        name=name,
        sample=sample,
        flag=flag,
        mapq=mapq,
        start=start,
        end=start + span,
        bases=codes,
        quals=np.full(len(codes), quality, dtype=np.uint8),
        cigar=cigar,
        molecule=molecule,
    )
