"""Circular contigs: reads over the origin are whole, and alleles beside it are called as they are elsewhere.

The oracle is the same reads aligned to the circle as it begins elsewhere, far from the alleles.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.calling import parallel
from pairhmm.native import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

LENGTH, READ, STEP = 2_000, 100, 3
CIRCLE = "".join(np.random.default_rng(11).choice(list("ACGT"), LENGTH))
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}
ALLELES = {
    "SNVs at 1 and L": {0: OTHER[CIRCLE[0]], LENGTH - 1: OTHER[CIRCLE[LENGTH - 1]]},
    "SNVs at 2 and L - 1": {1: OTHER[CIRCLE[1]], LENGTH - 2: OTHER[CIRCLE[LENGTH - 2]]},
    "insertion": {LENGTH - 1: CIRCLE[LENGTH - 1] + "GATTACAGATTACA"},
    "insertion beside": {5: CIRCLE[5] + "CATCAT"},
    "deletion of 1": {0: ""},
    "deletion over": {LENGTH - 3: "", LENGTH - 2: "", LENGTH - 1: "", 0: "", 1: ""},
}
"""The bases that stand in place of each one of the circle."""


def reads_of(alleles, begin):
    """Reads of a circle with some alleles, aligned to the circle as it begins at `begin`: start, CIGAR and bases.

    Starts count from there, and alignments may pass the end.
    """
    sample = [(at, alleles.get(at, CIRCLE[at])) for at in range(LENGTH)] * 2
    for first in range(0, LENGTH, STEP):
        if not sample[first][1]:
            continue
        cigar, bases = [], ""
        for _, letters in sample[first:]:
            kept = letters[: READ - len(bases)]
            bases += kept
            cigar += [0] + [1] * (len(kept) - 1) if kept else [2]
            if len(bases) == READ:
                break
        yield (first - begin) % LENGTH, [(key, len(list(group))) for key, group in groupby(cigar)], bases


def split(start, cigar, clipped):
    """The sides of an alignment over the end, as aligners clip it so many bases before the origin: start and CIGAR."""
    each = [operation for operation, count in cigar for _ in range(count)]
    place, at = start, 0
    while place < LENGTH - clipped:
        place += each[at] in (0, 2)
        at += 1
    left = each[:at]
    while place < LENGTH + clipped or each[at] != 0:
        place += each[at] in (0, 2)
        at += 1
    right = each[at:]
    while left[-1] != 0:
        left.pop()
    before, behind = (sum(one in (0, 1) for one in part) for part in (left, right))
    pack = lambda part: [(key, len(list(group))) for key, group in groupby(part)]  # noqa: E731
    return (start, [*pack(left), (4, READ - before)]), (place - LENGTH, [(4, READ - behind), *pack(right)])


def write_circle(name, alleles, begin=0, form="split", clipped=0):
    """Write NAME.fa and NAME.bam of a circle that begins at `begin`. Reads over the end are split, or pass it."""
    lines = []
    for number, (start, cigar, bases) in enumerate(reads_of(alleles, begin)):
        end = start + sum(count for operation, count in cigar if operation in (0, 2))
        strand = 16 * (number % 2)
        parts = [(start, cigar, 0)]
        if end > LENGTH and form == "split":
            sides = split(start, cigar, min(clipped, (LENGTH - start) // 2, (end - LENGTH) // 2))
            # The longer side is the primary alignment. A short one has none of its own.
            sides = sorted(sides, key=lambda side: sum(count for operation, count in side[1] if operation == 4))
            aligned = READ - sum(count for operation, count in sides[1][1] if operation == 4)
            parts = [(*sides[0], 0), *([(*sides[1], 2048)] if aligned >= 30 else [])]
        for place, operations, flag in parts:
            text = "".join(f"{count}{'MIDNS'[operation]}" for operation, count in operations)
            lines.append(
                (place, f"r{number}\t{flag + strand}\tc\t{place + 1}\t60\t{text}\t*\t0\t0\t{bases}\t{'I' * READ}")
            )
    Path(f"{name}.fa").write_text(f">c\n{CIRCLE[begin:]}{CIRCLE[:begin]}\n")
    head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:c\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
    Path(f"{name}.sam").write_text(head + "".join(f"{line}\tRG:Z:s\n" for _, line in sorted(lines)))
    pysam.view("-b", "-o", f"{name}.bam", f"{name}.sam", catch_stdout=False)
    pysam.index(f"{name}.bam")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """`write_circle`, into a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return write_circle


@pytest.fixture
def called(run_cli):
    """``called(name, *options)``: the fields of each record."""

    def call(name, *options):
        done = run_cli("call", "-f", f"{name}.fa", "--backend", "cpu", "--no-version", *options, f"{name}.bam")
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]

    return call


def turned(records, begin):
    """Records of the circle as it begins at `begin`, with their positions on the other one."""
    return sorted(
        ([chrom, str((int(pos) - 1 + begin) % LENGTH + 1), *rest] for chrom, pos, *rest in records),
        key=lambda record: int(record[1]),
    )


@pytest.mark.parametrize(("form", "clipped"), [("split", 0), ("split", 4), ("past the end", 0)])
@pytest.mark.parametrize("name", ALLELES)
def test_alleles_at_the_origin_are_called_as_elsewhere(write, called, name, form, clipped):
    write("here", ALLELES[name], form=form, clipped=clipped)
    write("elsewhere", ALLELES[name], begin=900, form="past the end")
    records = called("here", "--circular", "c", "--ploidy", 1)
    expected = turned(called("elsewhere", "--ploidy", 1), 900)
    assert len(records) == (2 if name.startswith("SNVs") else 1)
    if clipped:  # Alleles near the end of a read stay clipped, as aligners leave them.
        assert [record[:5] for record in records] == [record[:5] for record in expected]
        for one, other in zip(records, expected, strict=True):
            assert depth_of(one) >= 0.7 * depth_of(other)
    else:
        assert records == expected


def depth_of(record):
    return int(record[9].split(":")[2])


def test_regions_threads_lists_and_mixtures_beside_the_origin(write, called, run_cli, monkeypatch):
    alleles = ALLELES["SNVs at 1 and L"] | ALLELES["SNVs at 2 and L - 1"]
    write("x", alleles | {1000: OTHER[CIRCLE[1000]]})
    every = called("x", "--circular", "c")
    assert [int(record[1]) for record in every] == [1, 2, 1001, LENGTH - 1, LENGTH]
    assert called("x", "--circular", "c", "-r", "c:1-1") == every[:1]
    assert called("x", "--circular", "c", "-r", f"c:{LENGTH - 1}-") == every[3:]
    with_blocks = called("x", "--circular", "c", "--gvcf")
    for name, value in (("WORTH_THREADS", 0), ("_FEWEST_READS", 100)):
        monkeypatch.setattr(parallel, name, value)
    assert called("x", "--circular", "c", "-@", 2) == every
    assert called("x", "--circular", "c", "--gvcf", "-@", 2) == with_blocks
    run_cli("call", "-f", "x.fa", "--circular", "c", "-o", "x.vcf", "x.bam")
    for options in ((), ("-@", 2)):
        listed = called("x", "--circular", "c", "-v", "x.vcf", *options)
        assert [record[:5] + record[9:] for record in listed] == [record[:5] + record[9:] for record in every]
    mixed = called("x", "--circular", "c", "--mixture")
    assert [int(record[1]) for record in mixed] == [1, 2, 1001, LENGTH - 1, LENGTH]


def test_regions_over_the_origin(write, called, run_cli):
    """They are those on both sides of it, in each notation, and no record is there twice."""
    write("x", ALLELES["SNVs at 1 and L"] | ALLELES["SNVs at 2 and L - 1"] | {1000: OTHER[CIRCLE[1000]]})
    every = called("x", "--circular", "c")
    (middle,) = (record for record in every if record[1] == "1001")
    beside = [record for record in every if record != middle]
    Path("one.bed").write_text(f"c\t{LENGTH - 9}\t{LENGTH + 9}\n")
    Path("two.bed").write_text(f"c\t{LENGTH - 9}\t{LENGTH + 9}\nc\t0\t5\nc\t{LENGTH - 1}\t{LENGTH}\n")
    for place in (
        ("-r", f"c:{LENGTH - 9}-10"),
        ("-r", f"c:{LENGTH - 9}-{LENGTH + 10}"),
        ("-r", f"c:{LENGTH - 9}-", "-r", "c:1-10"),
        ("-r", "c:5-5", "--padding", 10),
        ("-R", "one.bed"),
        ("-R", "two.bed", "-@", 2),
    ):
        assert called("x", "--circular", "c", *place) == beside, place
    assert called("x", "--circular", "c", "-r", f"c:{LENGTH}-1") == [every[0], every[-1]]
    assert called("x", "--circular", "c", "-r", "c:900-9,999") == every
    places = [
        (site.variant.chrom, site.variant.pos + 1)
        for site in pairhmm.call("x.bam", "x.fa", regions=("c", LENGTH - 9, LENGTH + 9), circular="c")
    ]
    assert [("c", int(record[1])) for record in beside] == places
    run_cli("call", "-f", "x.fa", "--circular", "c", "-o", "x.vcf", "x.bam")
    for options, expected in ((("-R", "one.bed"), beside), ((), every), (("-v", "x.vcf"), every)):
        done = run_cli("scatter", "-f", "x.fa", "--circular", "c", *options, "-n", 4, "-o", "shards", "x.bam")
        assert done.returncode == 0, done.stderr
        shards = [path for path in (Path(f"shards/{number}-of-4.bed") for number in range(1, 5)) if path.read_text()]
        assert [row for shard in shards for row in called("x", "--circular", "c", "-R", shard)] == expected
        if not options:
            assert len(shards) == 4


def test_a_deletion_over_the_origin_is_written_and_read(write, called, run_cli):
    """REF goes on with the first bases of the contig."""
    write("x", ALLELES["deletion over"])
    (record,) = called("x", "--circular", "c", "--ploidy", 1)
    pos, ref, alt = int(record[1]), record[3], record[4]
    assert ref == (CIRCLE * 2)[pos - 1 : pos - 1 + len(ref)] and (len(ref), len(alt)) == (6, 1)
    assert pos <= LENGTH < pos - 1 + len(ref)
    run_cli("call", "-f", "x.fa", "--circular", "c", "--ploidy", 1, "-o", "x.bcf", "x.bam")
    (listed,) = called("x", "--circular", "c", "--ploidy", 1, "-v", "x.bcf")
    assert listed[:5] == record[:5] and listed[9].startswith("1:0,")


@pytest.mark.parametrize("name", ALLELES)
def test_the_consensus_is_the_planted_sequence(write, run_cli, name):
    alleles = ALLELES[name] | {60: CIRCLE[60] + "CCGG", 1000: OTHER[CIRCLE[1000]], LENGTH - 40: ""}
    write("x", alleles)
    run_cli("call", "-f", "x.fa", "--circular", "c", "--mixture", "-o", "x.vcf.gz", "x.bam")
    done = run_cli("consensus", "-f", "x.fa", "--circular", "c", "-b", "x.bam", "x.vcf.gz")
    assert done.returncode == 0, done.stderr
    made = "".join(done.stdout.split("\n")[1:])
    planted = "".join(alleles.get(at, CIRCLE[at]) for at in range(LENGTH))
    assert made == planted


def test_tables_name_the_region_over_the_origin(write, run_cli):
    """Its rows lie on the contig, in order, and its haplotypes are named by both ends."""
    write("x", ALLELES["SNVs at 1 and L"] | {1000: OTHER[CIRCLE[1000]]})
    done = run_cli("likelihoods", "-f", "x.fa", "--circular", "c", "-o", "x.tsv.gz", "x.bam")
    assert done.returncode == 0, done.stderr
    with pysam.BGZFile("x.haplotypes.tsv.gz") as table:
        rows = [line.decode().split("\t") for line in table][2:]
    starts = [int(row[1]) for row in rows]
    assert starts == sorted(starts) and all(0 <= int(row[1]) < int(row[2]) <= LENGTH for row in rows)
    first, last = (int(number) for number in rows[0][3].split(":")[1].split("/")[0].split("-"))
    assert first > last, "the region begins before the origin"
    assert pysam.TabixFile("x.tsv.gz").fetch("c", 0, 1)


def qualities(records):
    """The GQ of each position of a gVCF, and its records but blocks."""
    places, variants = {}, []
    for record in records:
        pos, alt, info, form, sample = (record[at] for at in (1, 4, 7, 8, 9))
        if alt != "<NON_REF>":
            variants.append(record)
            continue
        last = int(info.removeprefix("END=").split(";")[0]) if info != "." else int(pos)
        for at in range(int(pos), last + 1):
            assert at not in places
            places[at] = sample.split(":")[form.split(":").index("GQ")]
    return places, variants


def elsewhere(position, begin=900):
    """A position of the circle, on the one that begins elsewhere; both 1-based."""
    return (position - 1 - begin) % LENGTH + 1


@pytest.mark.parametrize("name", ["SNVs at 1 and L", "insertion", "deletion over"])
def test_reference_blocks_beside_the_origin_are_those_elsewhere(write, called, name):
    write("here", ALLELES[name])
    write("elsewhere", ALLELES[name], begin=900, form="past the end")
    options = "--gvcf", "--gq-bands", ",".join(map(str, range(1, 100))), "--ploidy", 1
    places, variants = qualities(called("here", "--circular", "c", *options))
    expected, records = qualities(called("elsewhere", *options))
    assert variants == turned(records, 900) and variants
    assert set(places) == {elsewhere(at, -900) for at in expected}
    for at, quality in expected.items():
        if READ < at <= LENGTH - READ:  # The other circle is taken for a line.
            assert places[elsewhere(at, -900)] == quality
    beside, _ = qualities(called("here", "--circular", "c", *options, "-r", f"c:{LENGTH - 20}-30"))
    behind, records = qualities(called("here", "--circular", "c", *options, "-r", "c:1-30"))
    assert set(behind) | {int(one[1]) for one in records} == set(range(1, 31)), "a deletion's record is not asked for"
    inside = {*range(LENGTH - 20, LENGTH + 1), *range(1, 31)}
    assert beside == {at: quality for at, quality in places.items() if at in inside}


@pytest.mark.parametrize("name", ["SNVs at 1 and L", "insertion", "deletion over", "deletion of 1"])
def test_positions_beside_the_origin_are_explained_as_elsewhere(write, name):
    write("here", ALLELES[name])
    write("elsewhere", ALLELES[name], begin=900, form="past the end")
    options = {"backend": "cpu", "ploidy": 1}
    for at in (1, LENGTH, *(place + 1 for place in ALLELES[name])):
        (here,) = pairhmm.explain("here.bam", "here.fa", f"c:{at}", circular="c", **options)
        (there,) = pairhmm.explain("elsewhere.bam", "elsewhere.fa", f"c:{elsewhere(at)}", **options)
        assert here.verdict.reason == there.verdict.reason
        assert len(here.sites) == len(there.sites)
        for one, other in zip(here.sites, there.sites, strict=True):
            assert places_of(one.alleles) == places_of(other.alleles, -900)
            assert one.samples == other.samples
        candidates = [[one.allele for one in found.alleles if one.is_candidate] for found in (here, there)]
        assert places_of(candidates[0]) == places_of(candidates[1], -900)
        for one, other in zip(here.regions, there.regions, strict=True):
            assert (one.start, one.end) == (elsewhere(other.start, -900), elsewhere(other.end, -900))
        if name.startswith("SNVs"):  # Alignments end beside insertions and deletions that are near the ends of reads.
            assert (here.reads, len(here.windows)) == (there.reads, len(there.windows))
            assert [one.samples for one in here.alleles] == [one.samples for one in there.alleles]


def places_of(alleles, begin=0):
    return sorted((elsewhere(one.position, begin), one.ref, one.alt) for one in alleles)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--circular", "chrM"), "--circular: chrM: no contig 'chrM'; contigs are c, d"),
        (("--circular", "d"), "--circular: x.bam: no contig 'd'; contigs are c"),
        (("-r", f"c:{LENGTH}-1"), f"-r: c:{LENGTH}-1: not an interval"),
        (("--circular", "c", "-r", f"c:{LENGTH + 1}-5"), f"outside c, which has {LENGTH} bases"),
        (("--circular", "c", "-r", f"c:{LENGTH}-1", "--haplotypes", "x.fa"), "it can't go over an origin"),
        (("--circular", "c", "-r", "c:900-899"), "-r: c:900-899: ends just before it begins; write c for the whole"),
    ],
)
def test_a_circle_that_is_no_contig_is_one_line(write, run_cli, options, said):
    write("x", {})
    with Path("x.fa").open("a") as out:
        out.write(">d\nACGTACGT\n")
    done = run_cli("call", "-f", "x.fa", *options, "x.bam")
    assert done.returncode == 2 and said in done.stderr
    assert len([line for line in done.stderr.splitlines() if "error" in line]) == 1


def test_circles_need_an_index(write, run_cli):
    write("x", {})
    Path("x.bam.bai").unlink()
    done = run_cli("call", "-f", "x.fa", "--circular", "c", "x.bam")
    assert done.returncode == 2 and "samtools index" in done.stderr
