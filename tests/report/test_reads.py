"""The reads of a report's regions are those that pysam finds, in whatever order the regions come."""

import numpy as np
import pysam
import pytest

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.sam import mate_of
from pairhmm.report.reads import RegionReads
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.letters import encode

CONTIGS = {"one": 60_000, "two": 30_000}
LENGTH = 100


@pytest.fixture(scope="module")
def fasta(tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "ref.fa"
    path.write_text("".join(f">{name}\n{'ACGT' * (size // 4)}\n" for name, size in CONTIGS.items()))
    pysam.faidx(str(path))
    return path


@pytest.fixture(scope="module", params=["bam", "cram"])
def alignments(request, tmp_path_factory, fasta):
    """Pairs, and reads that are none of the two primary mates."""
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("reads") / f"x.{request.param}"
    groups = [{"ID": "a", "SM": "ann"}, {"ID": "b", "SM": "bob"}]
    header = pysam.AlignmentHeader.from_dict(
        {"SQ": [{"SN": name, "LN": size} for name, size in CONTIGS.items()], "RG": groups}
    )
    mode = {"bam": "wb", "cram": "wc"}[request.param]
    with pysam.AlignmentFile(str(path), mode, header=header, reference_filename=str(fasta)) as out:
        for contig, size in enumerate(CONTIGS.values()):
            for start in np.sort(rng.integers(0, size - 2 * LENGTH, 5_000)).tolist():
                read = pysam.AlignedSegment(header)
                read.query_name = f"read{rng.integers(5_000)}"
                read.query_sequence = "".join(rng.choice(list("ACGTN"), LENGTH))
                if rng.random() < 0.9:
                    read.query_qualities = rng.integers(2, 94, LENGTH, dtype=np.uint8)
                read.reference_id, read.reference_start, read.mapping_quality = contig, start, int(rng.integers(61))
                read.cigartuples = [(4, 10), (0, 40), *((2, 30), (0, 50))[rng.integers(2) :]]
                read.flag = int(rng.choice([0, 16, 99, 147, 83, 163, 0x100, 0x800, 0x400 | 99]))
                read.set_tag("RG", rng.choice(["a", "b"]))
                out.write(read)
    pysam.index(str(path))
    return path


def expected(path, fasta, chrom, start, end):
    """By pysam: flags and mapping quality of each read, and those with qualities as a whole."""
    places, whole = {}, {}
    with pysam.AlignmentFile(str(path), reference_filename=str(fasta)) as file:
        for read in file.fetch(chrom, start, end):
            if not read.flag & 0x900:
                key = {"a": "ann", "b": "bob"}[read.get_tag("RG")], read.query_name, mate_of(read.flag)
                places[key] = read.flag, read.mapping_quality
                if read.query_qualities is not None:
                    whole[key] = read.reference_start, read.query_sequence, list(read.query_qualities), read.cigartuples
    return places, whole


@pytest.mark.parametrize("in_order", [True, False])
def test_regions(alignments, fasta, in_order):
    rng = np.random.default_rng(8)
    regions = [(name, start, start + int(rng.integers(1, 900))) for name in CONTIGS for start in range(0, 29_000, 700)]
    regions += [("one", 55_000, 60_000), ("one", 55_000, 55_001), ("none", 5, 9)]
    if in_order:
        regions.sort()
    else:
        rng.shuffle(order := list(range(len(regions))))
        regions = [regions[index] for index in order]
    seen = 0
    with Reference(fasta) as reference, AlignmentReader([alignments], reference, need_index=True) as reader:
        reads = RegionReads(reader, regions)
        for region in regions:
            places, whole = expected(alignments, fasta, *region) if region[0] != "none" else ({}, {})
            wanted = set(list(places)[::7])
            given, found = reads.of(*region, wanted)
            assert given == places
            for key, one in found.items():
                start, bases, quals, cigar = whole[key]
                assert (one.name, reader.samples[one.sample], one.start) == (key[1], key[0], start)
                assert (one.quals.tolist(), one.cigar) == (quals, cigar)
                np.testing.assert_array_equal(one.bases, encode(bases))
            seen += len(found)
    assert seen > 500
