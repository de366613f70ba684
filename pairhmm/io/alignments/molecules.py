"""The molecule that a read is a copy of, by its tag MI or by the ends of the molecule's alignments."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Literal

import pysam

from pairhmm.errors import InputError
from pairhmm.genomics.blocks import ReadBlock
from pairhmm.genomics.sam_flags import FIRST, MATE_REVERSE, MATE_UNMAPPED, PAIRED, REVERSE

log = logging.getLogger(__name__)

Families = Literal["none", "MI", "position"]

_STRANDS = ("/A", "/B")
# Reads without the tag MI after which a run stops, if none before has it.
_ENOUGH = 100_000
_OPERATION = re.compile(r"(\d+)([A-Z=])")
_CLIPS = "SH"


def molecule_by_tag(read: pysam.AlignedSegment) -> str:
    """The molecule by the tag MI (SAM specification: optional fields); empty where the read has none.

    fgbio marks the two strands of a molecule by /A and /B. They are one molecule, so these endings are cut off.

    Raises
    ------
    UnicodeDecodeError
        For a tag that is not text.
    """
    if not read.has_tag("MI"):
        return ""
    molecule = str(read.get_tag("MI"))
    return molecule[:-2] if molecule.endswith(_STRANDS) else molecule


def molecule_by_position(read: pysam.AlignedSegment) -> str:
    """The molecule by its two ends, and by the strand that its first read is aligned to. Mates have the same text.

    The ends are those that clipped bases would be aligned to. A pair's ends are the 5' ends of both mates; the tag MC
    gives the other mate's. Without it, they are those of the template by TLEN, where clipped bases do not count. A
    read without a mapped mate on its contig begins and ends where its own alignment does.
    """
    flag = read.flag
    is_reverse = bool(flag & REVERSE)
    start, end = read.reference_start, read.reference_end or read.reference_start
    cigar = read.cigartuples or []
    before, after = _clipped(cigar), _clipped(cigar[::-1])
    same_contig = read.next_reference_id == read.reference_id
    if not flag & PAIRED or flag & MATE_UNMAPPED or not same_contig:
        elsewhere = f",{read.next_reference_id}:{read.next_reference_start}" if flag & PAIRED else ""
        return f"{start - before}-{end + after}{'-+'[not is_reverse]}{elsewhere}"
    first_is_reverse = is_reverse if flag & FIRST else bool(flag & MATE_REVERSE)
    if read.has_tag("MC"):
        ends = end + after if is_reverse else start - before, _mates_end(read)
    elif read.template_length >= 0:
        ends = start, start + read.template_length
    else:
        ends = end + read.template_length, end
    return f"{min(ends)}-{max(ends)}{'-+'[not first_is_reverse]}"


def _clipped(cigar: list[tuple[int, int]]) -> int:
    """The clipped bases, hard and soft, at the beginning of a CIGAR."""
    count = 0
    for operation, length in cigar:
        if operation not in (pysam.CSOFT_CLIP, pysam.CHARD_CLIP):
            break
        count += length
    return count


def _mates_end(read: pysam.AlignedSegment) -> int:
    """The 5' end of a read's mate, clipped bases included."""
    cigar = [(int(length), operation) for length, operation in _OPERATION.findall(str(read.get_tag("MC")))]
    position = read.next_reference_start
    if read.flag & MATE_REVERSE:
        at_front = True
        for length, operation in cigar:
            at_front = at_front and operation in _CLIPS
            if operation in "MDN=X" or (operation in _CLIPS and not at_front):
                position += length
        return position
    for length, operation in cigar:
        if operation not in _CLIPS:
            break
        position -= length
    return position


def require_tags(blocks: Iterable[ReadBlock], paths: str) -> Iterator[ReadBlock]:
    """The blocks, whose reads must not all lack the tag MI. Reads that lack it are counted at the end.

    Raises
    ------
    InputError
        Where no read has it.
    """
    reads = tagged = 0
    for block in blocks:
        assert block.molecules is not None
        reads += len(block)
        tagged += sum(map(bool, block.molecules))
        if not tagged and reads >= _ENOUGH:
            break
        yield block
    if reads and not tagged:
        cure = "group the reads by their UMIs, as fgbio GroupReadsByUmi does, or give --families position"
        raise InputError(paths, "", f"none of {reads} reads has the tag MI", cure)
    if tagged < reads:
        log.warning("%d of %d reads have no tag MI: they join no family", reads - tagged, reads)
