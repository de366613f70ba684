"""Reads of RNA: over an intron (N of the CIGAR) a read says nothing, and is no depth."""

import numpy as np
import pysam
import pytest

from tests.calling.reads import OTHER

LENGTH, EXON, INTRON = 3000, 50, 200
SITE, FAR = 1000, 2000
SPLICED = f"{EXON}M{INTRON}N{EXON}M"


@pytest.fixture
def genome(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    letters = "".join(np.random.default_rng(21).choice(list("ACGT"), LENGTH))
    (tmp_path / "q.fa").write_text(f">q\n{letters}\n")
    pysam.faidx("q.fa", catch_stdout=False)
    return letters


def write_bam(genome, reads):
    """Write x.bam of reads as (start, CIGAR, positions of SNVs)."""
    header = pysam.AlignmentHeader.from_dict(
        {"HD": {"SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}], "RG": [{"ID": "s", "SM": "s"}]}
    )
    with pysam.AlignmentFile("x.bam", "wb", header=header) as out:
        for number, (start, cigar, snvs) in enumerate(sorted(reads)):
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start = f"r{number}", 0, start
            read.mapping_quality, read.flag, read.cigarstring = 60, 16 * (start // 8 % 2), cigar
            places = [start + place for place in aligned_places(read.cigartuples)]
            read.query_sequence = "".join(OTHER[genome[at]] if at in snvs else genome[at] for at in places)
            read.query_qualities = pysam.qualitystring_to_array("I" * len(places))
            read.set_tag("RG", "s")
            out.write(read)
    pysam.index("x.bam")


def aligned_places(cigar):
    place = 0
    for operation, length in cigar:
        yield from range(place, place + length) if operation == 0 else ()
        place += length


def records(run_cli, *options):
    done = run_cli("call", "-f", "q.fa", *options, "x.bam")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]
    return {int(row[1]) - 1: dict(zip(row[8].split(":"), row[9].split(":"), strict=True)) for row in rows}


def over(site, number=20):
    """Reads without introns over a site, of which every second one has an SNV there."""
    return [(site - 10 - 4 * n, "100M", {site} if n % 2 else set()) for n in range(number)]


@pytest.mark.parametrize("candidates", [(), ("-v", "x.vcf")])
def test_reads_that_skip_a_site_are_not_its_depth(genome, run_cli, candidates):
    alone = over(SITE)
    skipping = [(SITE - 60 - 4 * n, SPLICED, set()) for n in range(30)]
    (record,) = [f"q\t{SITE + 1}\t.\t{genome[SITE]}\t{OTHER[genome[SITE]]}\t.\t.\t.\n"]
    with open("x.vcf", "w") as out:
        out.write(f"##fileformat=VCFv4.2\n{record}")
    write_bam(genome, alone)
    expected = records(run_cli, *candidates)
    assert expected[SITE]["GT"] == "0/1" and expected[SITE]["AD"] == "10,10"
    write_bam(genome, alone + skipping)
    assert records(run_cli, *candidates) == expected, "no intron is a deletion, nor its reads depth"


def test_both_exons_of_a_read_are_used(genome, run_cli):
    """An SNV near each end of an intron, shown by spliced reads alone."""
    left, right = SITE + 5, SITE + EXON + INTRON + 20
    starts = [SITE - n for n in range(20)]
    shown = [{left, right} if n % 2 else set() for n in range(20)]
    write_bam(genome, [(start, SPLICED, snvs) for start, snvs in zip(starts, shown, strict=True)])
    found = records(run_cli)
    assert sorted(found) == [left, right]
    assert {site["GT"] for site in found.values()} <= {"0/1", "0|1"}
    assert {site["AD"] for site in found.values()} == {"10,10"}


def test_blocks_of_reads_change_nothing(genome, run_cli):
    """Parts of reads wait for those that begin before them, wherever blocks and the contig end."""
    far = [(FAR - 20 - n, SPLICED, {FAR} if n % 2 else set()) for n in range(20)]
    behind = [(SITE - n, f"{EXON}M{FAR - SITE - 10}N{EXON}M", {FAR + 60} if n % 2 else set()) for n in range(12)]
    write_bam(genome, over(SITE) + far + behind)
    whole = records(run_cli)
    assert {SITE, FAR, FAR + 60} <= whole.keys()
    for size in (1, 7):
        assert records(run_cli, "--chunk-size", size) == whole
    assert records(run_cli, "-@", 2, "-r", "q") == whole
