"""Open alignment files, and the protocol of a reader of their records. All coordinates are 0-based half-open.

There are two readers: `pairhmm.alignments.bam_records` for BAM in blocks, and htslib
(`pairhmm.alignments.htslib_records`) for the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

from pairhmm.alignments.htslib_records import HtslibRecords, sam_fault
from pairhmm.alignments.index import AlignmentIndex
from pairhmm.alignments.selection import ELSEWHERE, UNMAPPED_READS, LeftOut
from pairhmm.errors import InputError
from pairhmm.files.descriptors import TOO_MANY_FILES, too_many_files
from pairhmm.sequences.intervals import Interval

if TYPE_CHECKING:
    from pairhmm._cpu import AlignmentParser

Kind = Literal["BAM", "CRAM", "SAM"]

UNWANTED: Final = -2
"""The index of a sample whose reads are left out (cpu/formats/alignments.hpp)."""

OTHER_FORMAT: Final = "not a BAM or CRAM file, or damaged at its beginning"
FORMATS: Final = "give aligned reads as BAM or CRAM"
# Bases. An index leads to the start of a window of 16,384 bases (SAM specification, section 5.1.1). On average half of
# the window is passed before the target, so that a jump over less gains nothing.
_NEAR = 8192


class RecordStream(Protocol):
    """Records that are read one after the other."""

    def parse(self, parser: AlignmentParser, room: int) -> str:
        """Let the parser take records until it stops. Returns why; "more" is the end of the records."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class Records(Protocol):
    """The records of a file. It is opened when it is read, since a thousand open files are many."""

    def whole(self) -> RecordStream:
        """All records."""
        ...

    def through_index(self, tid: int, start: int, end: int) -> Iterator[RecordStream]:
        """Records that overlap [start, end) of a contig, and perhaps others beside them."""
        ...


@dataclass(frozen=True, slots=True)
class OpenAlignments:
    """One BAM, CRAM or SAM file and the sample of each of its read groups.

    Attributes
    ----------
    lengths : tuple of int
        The contigs of its header.
    sample_of_group : dict of str to int
        Sample index of each read group.
    default_sample : int or None
        Sample index of reads without a read group. None where the file has several samples: such reads are an error.
    contigs : tuple of str
        The contigs of the file that are read, which are those that the reference has too.
    kind : {"BAM", "CRAM", "SAM"}
    index : AlignmentIndex or None
    check_end : callable
        To be called once everything was read. Raises an error if a stream was cut off, which only its end shows.
    groups_without_sample : frozenset of str
        Read groups of the header that have no sample, in a file of several samples.
    """

    path: str
    references: tuple[str, ...]
    lengths: tuple[int, ...]
    sample_of_group: dict[str, int]
    default_sample: int | None
    contigs: tuple[str, ...]
    records: Records
    kind: Kind
    index: AlignmentIndex | None
    check_end: Callable[[], None] = lambda: None
    groups_without_sample: frozenset[str] = frozenset()

    def mapped_reads(self, tid: int) -> int | None:
        """The number of mapped reads on a contig by the index, if there is one and it counts them."""
        return None if self.index is None or self.index.bam is None else self.index.bam.mapped_reads(tid)

    def sample_of(self, group: str, name: str) -> int:
        """The sample index of a read group, which may be none (an empty text), and of the read with that name."""
        sample = self.sample_of_group.get(group, self.default_sample)
        if sample is None:
            rule = "no read group in a file of several samples"
            if group:
                is_known = group in self.groups_without_sample
                rule = f"its read group {group!r} {'has no sample (SM)' if is_known else 'is not in the header'}"
            raise InputError(self.path, f"read {name}", rule, "run samtools addreplacerg")
        return sample

    def cut_off(self, error: Exception) -> InputError:
        """The error for a file that can't be read to its end."""
        number = getattr(error, "errno", None)
        if number in TOO_MANY_FILES:
            return too_many_files(self.path)
        if number and number > 0:
            return InputError(self.path, "", f"can't be read: {os.strerror(number)}", "check the disk and the network")
        if self.kind == "SAM" and os.path.isfile(self.path) and (fault := sam_fault(self.path)):
            return fault
        cure = "it is cut off or damaged: make it again"
        if self.kind == "CRAM":
            cure = "it is cut off, or written with another reference: give that with -f"
        return InputError(self.path, "", "can't be read to its end", cure)

    def group_is_no_text(self, name: str) -> InputError:
        """The error for the read group of the read with that name."""
        return InputError(self.path, f"read {name}", "its read group is not text", "run samtools addreplacerg")

    def tag_is_no_text(self, tag: str, name: str) -> InputError:
        """The error for a tag of the read with that name."""
        return InputError(self.path, f"read {name}", f"its tag {tag} is not text", "it is damaged: make it again")


def neighbours(regions: Sequence[Interval]) -> Iterator[list[Interval]]:
    """Runs of nearby regions, each fetched at once: reading on to the next takes no longer than a jump by the index."""
    near: list[Interval] = []
    for region in regions:
        if near and (region[0] != near[-1][0] or region[1] - near[-1][2] > _NEAR):
            yield near
            near = []
        near.append(region)
    if near:
        yield near


def count_unread(source: OpenAlignments, left_out: LeftOut) -> None:
    """Add the reads that no run over regions of contigs meets, and that a run over everything leaves out.

    `source` has an index; `left_out` gets the reads.
    """
    others = [tid for tid, name in enumerate(source.references) if name not in set(source.contigs)]
    if others:
        # A run over everything does not read what stands behind the contigs, either.
        reason, count = ELSEWHERE, sum(source.mapped_reads(tid) or 0 for tid in others)
    else:
        reason, count = UNMAPPED_READS, _unplaced_reads(source)
    if count:
        left_out.counts[reason] += count


def _unplaced_reads(source: OpenAlignments) -> int:
    """The number of reads without a contig, through the index."""
    if source.index is not None and source.index.bam is not None:
        return source.index.bam.unplaced_reads
    assert isinstance(source.records, HtslibRecords)
    return source.records.unplaced_reads()
