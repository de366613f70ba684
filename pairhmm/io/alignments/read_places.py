"""Strand and mapping quality of the reads of a region, looked up in alignment files."""

from __future__ import annotations

from pairhmm.errors import InputError
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.reporting.panels import ReadKey

_SECONDARY, _SUPPLEMENTARY = 0x100, 0x800
_PAIRED, _FIRST, _SECOND = 0x1, 0x40, 0x80


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
                if not read.flag & (_SECONDARY | _SUPPLEMENTARY):
                    key = reader.samples[source.sample(read)], source.name(read), _mate(read.flag)
                    places[key] = read.flag, read.mapping_quality
        except OSError as error:
            raise InputError(source.path, f"{chrom}:{start + 1}-{end}", "can't be read", "make it again") from error
    return places


def _mate(flag: int) -> int:
    if not flag & _PAIRED:
        return 0
    return 1 if flag & _FIRST else 2 if flag & _SECOND else 0
