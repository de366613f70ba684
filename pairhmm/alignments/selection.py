"""Selection of alignments, and counts of those that are left out.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from pairhmm.alignments.molecules import Families
from pairhmm.alignments.primers import Primers
from pairhmm.arguments import texts_of
from pairhmm.errors import InputError
from pairhmm.options import Within, check_fields
from pairhmm.sequences.intervals import Interval
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY

log = logging.getLogger(__name__)

JUMP = 200_000
"""Bases to the next wanted interval from which on the index is used to jump there. For less, reading on is faster."""

UNMAPPED_READS = "unmapped"
LOW_MAPQ, OTHER_FLAG, EMPTY = "low mapping quality", "with another excluded flag", "without bases"
OTHER_SAMPLE = "of other samples"
NOWHERE, OUTSIDE = "mapped to no place", "beyond their contig's end"
ELSEWHERE = "on contigs that the reference lacks"
# Reasons that point to a faulty file: no option asked to leave these reads out.
_FAULTS = frozenset({EMPTY, NOWHERE, OUTSIDE, ELSEWHERE})
# The option that decides on reads of a reason.
_BY_FLAG = "secondary", "QC-fail", "duplicate", "supplementary", OTHER_FLAG
_OPTIONS = {LOW_MAPQ: "--min-mapq", OTHER_SAMPLE: "--samples", **dict.fromkeys(_BY_FLAG, "--exclude-flags")}


@dataclass(frozen=True, slots=True)
class ReadSelection:
    """Which alignments are used, which of their bases, and how their gaps are filled.

    `excluded_flags`: alignments with any of these SAM flags are left out. `default_base_quality`: Phred quality of
    reads that have none; None makes them an error. `circular`: contigs that are circles. `primers`: those that
    fragments begin and end with; their bases become N of quality 0. `samples`: the names of those that are used; none:
    all of them.
    """

    excluded_flags: Annotated[int, Within(0, 0xFFFF)]
    min_mapq: Annotated[int, Within(0, 255)]
    default_base_quality: Annotated[int | None, Within(0, HIGHEST_SAM_QUALITY)] = None
    circular: Sequence[str] = ()
    primers: Primers | None = None
    samples: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("circular", "samples"):
            object.__setattr__(self, name, tuple(texts_of(getattr(self, name))))


class ReadRequest(NamedTuple):
    """The request to every input.

    Attributes
    ----------
    contigs : sequence of str
        In the order of the inputs; reads on others are left out.
    rank : dict of str to int
        Of each contig, its place among `contigs`.
    chunk_size : int
        Reads a block.
    regions : sequence of (chrom, start, end) or None
        Disjoint and in order, on these contigs. Only reads that overlap one are read, through the index.
    families : {"none", "MI", "position"}
        How the molecule of each read is found.
    indel_tags : bool
        Whether the tags BI and BD are read: each read's own qualities of insertions and deletions.
    trims_ends : bool
        Whether ends that say nothing of the sample become N of quality 0 (cpu/formats/read_ends.hpp).
    """

    contigs: Sequence[str]
    rank: dict[str, int]
    selection: ReadSelection
    chunk_size: int
    regions: Sequence[Interval] | None
    families: Families
    indel_tags: bool = False
    trims_ends: bool = False


@dataclass(slots=True)
class LeftOut:
    """The reads of all inputs that are left out, and where the others begin.

    `counts` are by reason. `begun` has reads on contigs with primers, by whether they begin in one. `has_met`: whether
    there was any read that was neither filtered nor on another contig. `has_used`: whether any read was not left out.
    """

    counts: Counter[str] = field(default_factory=Counter)
    begun: Counter[bool] = field(default_factory=Counter)
    has_met: bool = False
    has_used: bool = False

    def add(self, other: LeftOut) -> None:
        """Add the reads of another part of the inputs."""
        self.counts.update(other.counts)
        self.begun.update(other.begun)
        self.has_met |= other.has_met
        self.has_used |= other.has_used

    def subtract(self, other: LeftOut) -> None:
        """Take away reads that are counted elsewhere."""
        self.counts.subtract(other.counts)
        self.begun.subtract(other.begun)

    def conclude(self, paths: str, is_whole: bool) -> None:
        """Announce the counts, once all reads were read.

        Raises InputError where the inputs have reads, but all on contigs that the reference lacks.

        `paths`: names of the inputs. `is_whole`: whether the inputs were read as a whole.
        """
        elsewhere = self.counts[ELSEWHERE]
        if not self.has_met and elsewhere and is_whole:
            rule = f"no read on a contig that the reference has, {elsewhere} on others"
            raise InputError(paths, "", rule, "use the reference that the reads were aligned to")
        self.counts = +self.counts
        self.announce()
        self._announce_primers()

    def _announce_primers(self) -> None:
        """Log how many reads begin in a primer; as a warning where none does."""
        primed, reads = self.begun[True], self.begun.total()
        if primed:
            log.info(
                "%d of %d reads (%.1f%%) begin in a primer; the others are kept", primed, reads, 100 * primed / reads
            )
        elif reads:
            log.warning(
                "none of %d reads begins in a primer: is --primers of another scheme, or are they cut off?", reads
            )

    def announce(self) -> None:
        """Log the counts; as a warning where a file may be faulty, and with the options where no read is used."""
        if not self.counts:
            return
        counts = sorted(self.counts.items())
        if not self.has_used:
            said = ", ".join(
                f"{count} {reason}" + (f" ({_OPTIONS[reason]})" if reason in _OPTIONS else "")
                for reason, count in counts
            )
            log.warning("no read is used; reads left out: %s", said)
            return
        said = ", ".join(f"{count} {reason}" for reason, count in counts)
        log.log(logging.INFO if _FAULTS.isdisjoint(self.counts) else logging.WARNING, "reads left out: %s", said)
