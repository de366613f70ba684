"""Open alignment files, and the ways to read one: as a whole, by regions, or with jumps ahead.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import pysam

from pairhmm.errors import InputError
from pairhmm.io.alignments.htslib_records import HtslibRecords
from pairhmm.io.alignments.sam_faults import sam_fault
from pairhmm.io.alignments.unpacked_bam import BamRecords, PipedRecords
from pairhmm.io.files.descriptors import TOO_MANY_FILES, too_many_files
from pairhmm.io.sequences.intervals import Interval

NO_TEXT: Final = (ValueError, OverflowError)
"""What pysam raises for a tag that is not text: OverflowError for a character that is not ASCII."""

_SAMPLE_TAG = "RG"
# Bases. An index leads to the start of a window of 16,384 bases (SAM specification, section 5.1.1). On average half of
# the window is passed before the target, so that a jump over less gains nothing.
_NEAR = 8192


class OpenAlignments(NamedTuple):
    """One BAM, CRAM or SAM file and the sample of each of its read groups.

    Attributes
    ----------
    path : str
    references : tuple of str
    lengths : tuple of int
        The contigs of its header.
    sample_of_group : dict of str to int
        Sample index of each read group.
    default_sample : int or None
        Sample index of reads without a read group. None where the file has several samples: such reads are an error.
    contigs : tuple of str
        The contigs of the file that are read, which are those that the reference has too.
    check_end : callable
        To be called once everything was read. Raises an error if a stream was cut off, which only its end shows.
    records : BamRecords, PipedRecords, HtslibRecords or None
        Where the compiled part reads. It opens the file when it reads, since a thousand open files are many.
    file : pysam.AlignmentFile or None
        Where pysam reads.
    is_cram : bool
    groups_without_sample : frozenset of str
        Read groups of the header that have no sample, in a file of several samples.
    """

    path: str
    references: tuple[str, ...]
    lengths: tuple[int, ...]
    sample_of_group: dict[str, int]
    default_sample: int | None
    contigs: tuple[str, ...]
    check_end: Callable[[], None] = lambda: None
    records: BamRecords | PipedRecords | HtslibRecords | None = None
    file: pysam.AlignmentFile | None = None
    is_cram: bool = False
    groups_without_sample: frozenset[str] = frozenset()

    def sample(self, read: pysam.AlignedSegment) -> int:
        """The sample index of a read."""
        try:
            group = str(read.get_tag(_SAMPLE_TAG)) if self.sample_of_group and read.has_tag(_SAMPLE_TAG) else ""
        except NO_TEXT as error:
            raise self.group_is_no_text(self.name(read)) from error
        sample = self.sample_of_group.get(group, self.default_sample)
        return self.sample_of(group, self.name(read)) if sample is None else sample

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
        is_sam = isinstance(self.records, HtslibRecords) if self.file is None else self.file.is_sam
        if is_sam and not self.is_cram and os.path.isfile(self.path) and (fault := sam_fault(self.path)):
            return fault
        cure = "it is cut off or damaged: make it again"
        if self.is_cram:
            cure = "it is cut off, or written with another reference: give that with -f"
        return InputError(self.path, "", "can't be read to its end", cure)

    def group_is_no_text(self, name: str) -> InputError:
        """The error for the read group of the read with that name."""
        return InputError(self.path, f"read {name}", "its read group is not text", "run samtools addreplacerg")

    def tag_is_no_text(self, tag: str, name: str) -> InputError:
        """The error for a tag of the read with that name."""
        return InputError(self.path, f"read {name}", f"its tag {tag} is not text", "it is damaged: make it again")

    def indel_tags_are_wrong(self, name: str) -> InputError:
        """The error for tags BI and BD of the read with that name."""
        rule, cure = "its tags BI and BD are not a quality for each base", "repair them, or give --no-indel-tags"
        return InputError(self.path, f"read {name}", rule, cure)

    def name(self, read: pysam.AlignedSegment) -> str:
        """The name of a read."""
        try:
            return read.query_name or "*"
        except UnicodeDecodeError as error:
            place = f"a read at {read.reference_name}:{read.reference_start + 1}"
            raise InputError(self.path, place, "its name is not text", "it is damaged: make it again") from error


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


class SourceReader:
    """Reads of one file, whole or by regions, that can jump ahead where there is an index.

    Parameters
    ----------
    source : OpenAlignments
    regions : sequence of (chrom, start, end), optional
        Disjoint, in the file's order, on contigs that it has; needs an index.
    may_jump : bool
        `jump` may be called between reads.
    """

    def __init__(self, source: OpenAlignments, regions: Sequence[Interval] | None, may_jump: bool) -> None:
        assert source.file is not None
        self._source, self._file = source, source.file
        self._regions = regions
        file = source.file
        self._can_jump = may_jump and regions is None and file.has_index()
        self._target: tuple[str, int] | None = None
        # CRAM can't be decoded without its contig, and without an index all reads have to be passed.
        self._leaves_contigs = regions is None and file.has_index() and len(source.contigs) < file.nreferences

    def jump(self, chrom: str, start: int) -> None:
        """Continue with the reads that overlap `start` or lie behind it, where a jump is possible."""
        if self._can_jump:
            self._target = (chrom, start)

    def __iter__(self) -> Iterator[pysam.AlignedSegment]:
        try:
            if self._regions is not None:
                yield from self._by_region(self._regions)
            elif self._can_jump or self._leaves_contigs:
                yield from self._by_contig()
            else:
                yield from self._file.fetch(until_eof=True)
                self._source.check_end()
        except OSError as error:
            raise self._source.cut_off(error) from error

    def _by_region(self, regions: Sequence[Interval]) -> Iterator[pysam.AlignedSegment]:
        before = ("", 0)
        for near in neighbours(regions):
            chrom, end = near[0][0], near[-1][2]
            index = 0
            for read in self._file.fetch(chrom, near[0][1], end):
                first = read.reference_start
                # A read that also overlaps the last region was already given with that region.
                if before[0] == chrom and first < before[1]:
                    continue
                while index < len(near) - 1 and near[index][2] <= first:
                    index += 1
                if len(near) == 1 or (read.reference_end or first + 1) > near[index][1]:
                    yield read
            before = (chrom, end)

    def _by_contig(self) -> Iterator[pysam.AlignedSegment]:
        file, contigs = self._file, self._source.contigs
        position, start, seen = 0, 0, -1
        while position < len(contigs):
            jumped = False
            for read in file.fetch(contigs[position], start):
                if read.reference_start <= seen:
                    continue
                yield read
                if self._target is not None:
                    # A read that was given before the jump may overlap the target, too. It is not given again.
                    chrom, start = self._target
                    seen = read.reference_start if chrom == contigs[position] else -1
                    position, self._target, jumped = contigs.index(chrom), None, True
                    break
            if not jumped:
                position, start, seen = position + 1, 0, -1
