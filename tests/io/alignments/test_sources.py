"""Reads of regions: those that overlap one, each once, in as few fetches as the regions need."""

from __future__ import annotations

import numpy as np
import pysam
import pytest

from pairhmm.io.alignments.sources import OpenAlignments, SourceReader

LENGTH = 60_000


@pytest.fixture(scope="module")
def bam(tmp_path_factory):
    """Reads of 100 bases on two contigs, some spliced over 3,000, some without a CIGAR."""
    path = tmp_path_factory.mktemp("sources") / "x.bam"
    rng = np.random.default_rng(4)
    sequences = [{"SN": name, "LN": LENGTH} for name in "ab"]
    header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": sequences})
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for contig in range(2):
            for number, start in enumerate(np.sort(rng.integers(0, LENGTH - 4_000, 2_000)).tolist()):
                read = pysam.AlignedSegment(header)
                read.query_name, read.reference_id, read.reference_start = f"{contig}-{number}", contig, start
                read.query_sequence = "A" * 100
                read.cigartuples = [(0, 50), (3, 3_000), (0, 50)] if number % 7 == 0 else [(0, 100)]
                if number % 11 == 0:
                    read.cigartuples = None
                out.write(read)
    pysam.index(str(path))
    return str(path)


class Counted:
    """A file that counts what is asked of it."""

    def __init__(self, file):
        self._file, self.fetches = file, 0

    def has_index(self):
        return True

    def fetch(self, *place):
        self.fetches += 1
        return self._file.fetch(*place)


def given(bam, regions):
    with pysam.AlignmentFile(bam) as file:
        counted = Counted(file)
        reader = SourceReader(
            OpenAlignments(bam, file.references, file.lengths, {}, 0, file.references, file=counted),
            regions,
            may_jump=False,
        )
        return [read.query_name for read in reader], counted.fetches


def expected(bam, regions):
    names = {}
    with pysam.AlignmentFile(bam) as file:
        for region in regions:
            names |= {read.query_name: None for read in file.fetch(*region)}
    return list(names)


@pytest.mark.parametrize(("size", "apart"), [(1, 10), (1, 500), (300, 2_000), (40, 9_000), (5_000, 20_000)])
def test_the_reads_of_each_region_and_no_others(bam, size, apart):
    rng = np.random.default_rng(size)
    regions = []
    for chrom in "ab":
        starts = np.cumsum(rng.integers(size + 1, 2 * apart, LENGTH // apart)).tolist()
        regions += [(chrom, start, start + size) for start in starts if start + size < LENGTH]
    assert given(bam, regions)[0] == expected(bam, regions)


def test_near_regions_are_one_fetch(bam):
    regions = [(chrom, start, start + 1) for chrom in "ab" for start in range(0, LENGTH, 50)]
    assert given(bam, regions) == (expected(bam, regions), 2)


def test_far_regions_are_not_read_on_to(bam):
    regions = [("a", 100, 200), ("a", 50_000, 50_100)]
    assert given(bam, regions)[1] == 2
