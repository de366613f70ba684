"""Looks up a region's reads in alignment files: their strand and mapping quality, or all of a few reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pysam
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.genomics.qualities import HIGHEST_QUALITY
from pairhmm.genomics.sam_flags import SECONDARY, SUPPLEMENTARY, mate_of
from pairhmm.genomics.sequences import encode
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.reporting.panels import ReadKey


@dataclass(slots=True)
class FoundRead:
    """A read as `pairhmm.genomics.blocks.ReadBlock.from_alignments` takes it."""

    name: str
    sample: int
    flag: int
    mapq: int
    start: int
    end: int
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    cigar: Sequence[tuple[int, int]]


def read_places(
    reader: AlignmentReader, chrom: str, start: int, end: int, wanted: Collection[ReadKey]
) -> tuple[dict[ReadKey, tuple[int, int]], dict[ReadKey, FoundRead]]:
    """The reads that overlap a region; primary alignments only.

    Parameters
    ----------
    reader : AlignmentReader
        With indices.
    chrom : str
    start, end : int
        0-based half-open.
    wanted : collection of ReadKey

    Returns
    -------
    places : dict of ReadKey to (int, int)
        SAM flags and mapping quality of each read.
    found : dict of ReadKey to FoundRead
        The wanted reads, but for those without base qualities and those whose parts do not fit each other.
    """
    places: dict[ReadKey, tuple[int, int]] = {}
    found: dict[ReadKey, FoundRead] = {}
    for source in reader.sources:
        if chrom not in source.contigs:
            continue
        try:
            for read in source.file.fetch(chrom, start, end):
                if not read.flag & (SECONDARY | SUPPLEMENTARY):
                    sample = source.sample(read)
                    key = reader.samples[sample], source.name(read), mate_of(read.flag)
                    places[key] = read.flag, read.mapping_quality
                    whole = _found(read, key[1], sample) if key in wanted else None
                    if whole is not None:
                        found[key] = whole
        except OSError as error:
            raise InputError(source.path, f"{chrom}:{start + 1}-{end}", "can't be read", "make it again") from error
    return places, found


def _found(read: pysam.AlignedSegment, name: str, sample: int) -> FoundRead | None:
    bases, quals, cigar = read.query_sequence, read.query_qualities, read.cigartuples
    if not bases or not cigar or quals is None or read.infer_query_length() != len(bases):
        return None
    place = read.reference_start, read.reference_end or read.reference_start
    letters, values = encode(bases.replace("=", "N")), np.minimum(np.array(quals, dtype=np.uint8), HIGHEST_QUALITY)
    return FoundRead(name, sample, read.flag, read.mapping_quality, *place, letters, values, cigar)
