"""Reads as pysam's objects have them: what both readers of alignments are compared with."""

import numpy as np
import pysam

from pairhmm.alignments import read_blocks
from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.index import find_index
from pairhmm.alignments.molecules import TAG_OF, AlignedTemplate, molecule_by_position, without_strand
from pairhmm.alignments.sam import UNMAPPED
from pairhmm.alignments.selection import ELSEWHERE, EMPTY, JUMP, LOW_MAPQ, NOWHERE, OTHER_FLAG, OUTSIDE
from pairhmm.errors import InputError
from pairhmm.files.names import check_names
from pairhmm.report.reads import PlacedRead
from pairhmm.sequences.letters import HIGHEST_QUALITY, encode_read

NO_TEXT = (ValueError, OverflowError)
REASONS = {4: "unmapped", 0x100: "secondary", 0x200: "QC-fail", 0x400: "duplicate", 0x800: "supplementary"}


def read_by_pysam(monkeypatch, fasta):
    """From now on `read_blocks` takes its reads from pysam."""

    def blocks(source, order, request, wanted, left_out):
        index = find_index(source.path)
        with pysam.AlignmentFile(
            source.path, check_sq=False, reference_filename=str(fasta), index_filename=index
        ) as file:
            yield from PysamReads(source, order, request, left_out).blocks(file, wanted)

    monkeypatch.setattr(read_blocks, "native_blocks", blocks)


def template_of(read):
    return AlignedTemplate(
        read.flag,
        read.reference_start,
        read.reference_end or read.reference_start,
        read.cigartuples or [],
        read.reference_id,
        read.next_reference_id,
        read.next_reference_start,
        read.template_length,
        str(read.get_tag("MC")) if read.has_tag("MC") else None,
    )


class PysamReads:
    """The reads of one file, one by one."""

    def __init__(self, source, order, request, left_out):
        self.source, self.order, self.request, self.left_out = source, order, request, left_out
        self.has_index = source.index is not None and request.regions is None

    def blocks(self, file, wanted):
        reads, molecules, chrom = [], [], ""
        for contig, read in self.selected(file, wanted):
            self.left_out.has_met = True
            if reads and (contig != chrom or len(reads) >= self.request.chunk_size):
                yield self.block(chrom, reads, molecules)
                reads, molecules = [], []
            chrom = contig
            end = read.reference_end or read.reference_start
            if end > self.source.lengths[read.reference_id]:
                self.left_out.counts[OUTSIDE] += 1
                continue
            reads.append(self.fit(self.found(read, end)))
            if self.request.families != "none":
                molecules.append(self.molecule(read))
        if reads:
            yield self.block(chrom, reads, molecules)

    def block(self, chrom, reads, molecules):
        block = ReadBlock.from_alignments(chrom, reads)
        block.molecules = molecules if self.request.families != "none" else None
        return block

    def records(self, file, wanted):
        """Those that are met: with an index, only on the contigs that are read."""
        contigs, regions = self.source.contigs, self.request.regions
        by_contig = self.has_index and (wanted is not None or len(contigs) < file.nreferences)
        if regions is None and not by_contig:
            yield from file.fetch(until_eof=True)
            self.source.check_end()
            return
        for name in contigs:
            inside = [one for one in regions or () if one[0] == name]
            for read in file.fetch(name) if regions is None or inside else ():
                start, end = read.reference_start, read.reference_end or read.reference_start + 1
                if regions is None or any(start < one[2] and end > one[1] for one in inside):
                    yield read

    def selected(self, file, wanted):
        try:
            yield from self.filtered(self.records(file, wanted), wanted)
        except OSError as error:
            raise self.source.cut_off(error) from error

    def filtered(self, records, wanted):
        rank, selection, counts, source = self.request.rank, self.request.selection, self.left_out.counts, self.source
        known = set(source.contigs)
        goals = None if wanted is None else ((rank[name], *rest) for name, *rest in wanted if name in known)
        goal = None if goals is None else next(goals, None)
        last = target = (-1, -1)
        for read in records:
            place = rank.get(read.reference_name, -1), read.reference_start
            if place[0] < target[0] or (place[0] == target[0] and (read.reference_end or place[1] + 1) <= target[1]):
                continue
            excluded = read.flag & (selection.excluded_flags | UNMAPPED)
            if excluded or read.mapping_quality < selection.min_mapq:
                counts[reason_of(excluded)] += 1
            elif read.reference_id < 0 or read.reference_start < 0:
                counts[NOWHERE] += 1
            elif read.reference_name not in known:
                counts[ELSEWHERE] += 1
            elif place < last:
                rule = "the file is not sorted by coordinate"
                raise InputError(source.path, f"read {self.name(read)}", rule, "run samtools sort")
            else:
                last = place
                while goal is not None and (goal[0] < place[0] or (goal[0] == place[0] and place[1] >= goal[2])):
                    goal = next(goals, None)
                if goals is not None and goal is None:
                    return
                if goal is not None and (goal[0] != place[0] or (read.reference_end or place[1]) <= goal[1]):
                    if self.has_index and (goal[0] != place[0] or goal[1] - place[1] > JUMP):
                        target = goal[:2]
                elif not read.query_length or not read.cigartuples:
                    counts[EMPTY] += 1
                else:
                    yield read.reference_name, read

    def found(self, read, end):
        bases, quals, name = read.query_sequence, read.query_qualities, self.name(read)
        if quals is None:
            if self.request.selection.default_base_quality is None:
                cure = "give --default-base-quality"
                raise InputError(self.source.path, f"read {name}", "it has no base qualities", cure)
            quals = [self.request.selection.default_base_quality] * len(bases)
        codes, quals = encode_read(bases.replace("=", "N")), np.array(quals, dtype=np.uint8)
        place = (read.mapping_quality, read.reference_start, end)
        return PlacedRead(name, self.sample(read, name), read.flag, *place, codes, quals, read.cigartuples)

    def fit(self, read):
        """The read, which must be one that native code and tables can take."""
        place, cure, highest = f"read {read.name}", "repair or remove the read", int(read.quals.max())
        check_names(self.source.path, "read", [read.name], cure)
        if highest > HIGHEST_QUALITY:
            rule = f"a base quality of {highest}, the highest is {HIGHEST_QUALITY}"
            raise InputError(self.source.path, place, rule, cure)
        return read

    def name(self, read):
        try:
            return read.query_name or "*"
        except UnicodeDecodeError as error:
            place = f"a read at {read.reference_name}:{read.reference_start + 1}"
            rule, cure = "its name is not text", "it is damaged: make it again"
            raise InputError(self.source.path, place, rule, cure) from error

    def sample(self, read, name):
        try:
            group = str(read.get_tag("RG")) if self.source.sample_of_group and read.has_tag("RG") else ""
        except NO_TEXT as error:
            raise self.source.group_is_no_text(name) from error
        return self.source.sample_of(group, name)

    def molecule(self, read):
        families = self.request.families
        try:
            if families == "position":
                return molecule_by_position(template_of(read))
            molecule = without_strand(str(read.get_tag("MI"))) if read.has_tag("MI") else ""
        except NO_TEXT as error:
            raise self.source.tag_is_no_text(TAG_OF[families], self.name(read)) from error
        return f"{self.order}:{molecule}" if molecule else ""


def reason_of(excluded):
    return next((reason for flag, reason in REASONS.items() if excluded & flag), OTHER_FLAG if excluded else LOW_MAPQ)
