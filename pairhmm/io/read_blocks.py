"""Alignments straight from pysam into flat arrays: what a whole genome needs, where an object a read is too dear."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
import pysam

from pairhmm.blocks import ReadBlock, offsets

# Letters of SAM to codes; everything but A C G T (and U) is N.
_CODES = bytes({65: 0, 67: 1, 71: 2, 84: 3, 85: 3, 97: 0, 99: 1, 103: 2, 116: 3, 117: 3}.get(i, 4) for i in range(256))

Interval = tuple[str, int, int]
SampleOf = Callable[[pysam.AlignedSegment], int]
Accepts = Callable[[pysam.AlignedSegment], bool]


@dataclass(slots=True)
class _Builder:
    """Lists that grow by one a read."""

    chrom: str
    names: list[str] = field(default_factory=list)
    sample: list[int] = field(default_factory=list)
    flag: list[int] = field(default_factory=list)
    mapq: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    quals: list[bytes] = field(default_factory=list)
    cigars: list[list[tuple[int, int]]] = field(default_factory=list)

    def block(self) -> ReadBlock:
        packed = [length << 4 | operation for cigar in self.cigars for operation, length in cigar]
        return ReadBlock(
            self.chrom,
            self.names,
            np.array(self.sample, dtype=np.int32),
            np.array(self.flag, dtype=np.uint16),
            np.array(self.mapq, dtype=np.uint8),
            np.array(self.start, dtype=np.int64),
            np.array(self.end, dtype=np.int64),
            offsets([len(bases) for bases in self.bases]),
            np.frombuffer("".join(self.bases).encode().translate(_CODES), dtype=np.uint8),
            np.frombuffer(b"".join(self.quals), dtype=np.uint8),
            offsets([len(cigar) for cigar in self.cigars]),
            np.array(packed, dtype=np.uint32),
        )
