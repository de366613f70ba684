"""The molecule that a read is a copy of, by its tag MI or by the ends of the molecule's alignments."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import FIRST, MATE_REVERSE, MATE_UNMAPPED, PAIRED, REVERSE
from pairhmm.errors import InputError

log = logging.getLogger(__name__)

Families = Literal["none", "MI", "position"]

TAG_OF: Final[dict[Families, str]] = {"none": "", "MI": "MI", "position": "MC"}
"""The tag that the molecule is found by."""

_STRANDS = ("/A", "/B")
# Reads without the tag MI after which a run stops, if none before has it.
_ENOUGH = 100_000
_OPERATION = re.compile(r"(\d+)([A-Z=])")
_CLIPS, _CLIP_CODES = "SH", (4, 5)


class AlignedTemplate(NamedTuple):
    """The fields of an aligned read that tell of its template.

    Attributes
    ----------
    flag : int
        SAM flags.
    start, end : int
        0-based half-open.
    cigar : list of (int, int)
        Operations, as BAM numbers them, and their lengths.
    length : int
        TLEN.
    mates_cigar : str or None
        The tag MC.
    circle : int
        Bases of the contig, if that is circular: the same ends are found on either side of its origin.
    """

    flag: int
    start: int
    end: int
    cigar: list[tuple[int, int]]
    contig: int
    mate_contig: int
    mate_start: int
    length: int
    mates_cigar: str | None
    circle: int = 0

    def on_contig(self, position: int) -> int:
        """Where an end lies, which may be beyond the contig's ends."""
        return position % self.circle if self.circle else position


def without_strand(molecule: str) -> str:
    """The molecule by the tag MI (SAM specification: optional fields).

    fgbio marks the two strands of a molecule by /A and /B. They are one molecule, so these endings are cut off.
    """
    return molecule[:-2] if molecule.endswith(_STRANDS) else molecule


def molecule_by_position(read: AlignedTemplate) -> str:
    """The molecule by its two ends, and by the strand that its first read is aligned to. Mates have the same text.

    The ends are those that clipped bases would be aligned to. A pair's ends are the 5' ends of both mates; the tag MC
    gives the other mate's. Without it, they are those of the template by TLEN, where clipped bases do not count. A
    read without a mapped mate on its contig begins and ends where its own alignment does.
    """
    flag, start, end = read.flag, read.start, read.end
    is_reverse = bool(flag & REVERSE)
    before, after = _clipped(read.cigar), _clipped(read.cigar[::-1])
    if not flag & PAIRED or flag & MATE_UNMAPPED or read.mate_contig != read.contig:
        elsewhere = f",{read.mate_contig}:{read.mate_start}" if flag & PAIRED else ""
        return f"{read.on_contig(start - before)}-{read.on_contig(end + after)}{'-+'[not is_reverse]}{elsewhere}"
    first_is_reverse = is_reverse if flag & FIRST else bool(flag & MATE_REVERSE)
    if read.mates_cigar is not None:
        ends = end + after if is_reverse else start - before, _mates_end(read, read.mates_cigar)
    elif read.length >= 0:
        ends = start, start + read.length
    else:
        ends = end + read.length, end
    first, last = sorted(map(read.on_contig, ends))
    return f"{first}-{last}{'-+'[not first_is_reverse]}"


def _clipped(cigar: list[tuple[int, int]]) -> int:
    """The clipped bases, hard and soft, at the beginning of a CIGAR."""
    count = 0
    for operation, length in cigar:
        if operation not in _CLIP_CODES:
            break
        count += length
    return count


def _mates_end(read: AlignedTemplate, mates_cigar: str) -> int:
    """The 5' end of a read's mate, clipped bases included."""
    cigar = [(int(length), operation) for length, operation in _OPERATION.findall(mates_cigar)]
    position = read.mate_start
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

    Raises InputError where no read has it.
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
