"""Looks up the strand and the mapping quality of a region's reads in alignment files."""

from __future__ import annotations

from pairhmm.errors import InputError
from pairhmm.genomics.sam_flags import SECONDARY, SUPPLEMENTARY, mate_of
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.reporting.panels import ReadKey


def read_places(reader: AlignmentReader, chrom: str, start: int, end: int) -> dict[ReadKey, tuple[int, int]]:
    """SAM flags and mapping quality of each read that overlaps a region; primary alignments only.

    Parameters
    ----------
    reader : AlignmentReader
        With indices.
    chrom : str
    start, end : int
        0-based half-open.
    """
    places: dict[ReadKey, tuple[int, int]] = {}
    for source in reader.sources:
        if chrom not in source.contigs:
            continue
        try:
            for read in source.file.fetch(chrom, start, end):
                if not read.flag & (SECONDARY | SUPPLEMENTARY):
                    key = reader.samples[source.sample(read)], source.name(read), mate_of(read.flag)
                    places[key] = read.flag, read.mapping_quality
        except OSError as error:
            raise InputError(source.path, f"{chrom}:{start + 1}-{end}", "can't be read", "make it again") from error
    return places
