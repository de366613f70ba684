"""A listed allele is judged beside the unlisted ones that reads show, and a chromosome with one of these has none."""

from __future__ import annotations

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.native import is_compiled
from tests.calling.reads import OTHER, aligned_reads, clip_deletions, write_reads

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

SITE = 1_000
PLAIN = (set(), None)
CLUSTER = {SITE + distance for distance in (-2, 3, 4, 6, 8, 12, 22, 31, 32, 34, 37)}


@pytest.fixture
def record(tmp_path):
    """``record(chromosomes, size, change)``: the record of SITE where a list has ``change`` of so many bases."""

    def call(chromosomes, size, change) -> dict[str, str]:
        genome = write_reads(tmp_path, *chromosomes)
        ref = genome[SITE : SITE + size]
        (tmp_path / "list.vcf").write_text(
            "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
            f"q\t{SITE + 1}\t.\t{ref}\t{change(ref)}\t.\t.\t.\n"
        )
        given = tmp_path / "q.bam", tmp_path / "q.fa", tmp_path / "q.vcf", tmp_path / "list.vcf"
        pairhmm.write_calls(*given, backend="cpu")
        with pysam.VariantFile(str(tmp_path / "q.vcf")) as records:
            line = str(next(iter(records))).rstrip("\n").split("\t")
        return {"QUAL": line[5], "FILTER": line[6], **dict(zip(line[8].split(":"), line[9].split(":"), strict=True))}

    return call


def snv(ref: str) -> str:
    return OTHER[ref]


def third_letter(ref: str) -> str:
    return OTHER[OTHER[ref]]


@pytest.mark.parametrize(
    ("chromosomes", "change", "genotype"),
    [
        ([({SITE}, None), (set(), (SITE + 4, SITE + 10))], snv, "0/1"),
        ([({SITE}, None), (set(), (SITE - 2, SITE + 4))], snv, "./1"),
        ([({SITE, *CLUSTER}, None), PLAIN], snv, "0/1"),
        ([({SITE}, None), PLAIN], third_letter, "./0"),
        ([({SITE}, None), ({SITE}, None)], third_letter, "./."),
    ],
    ids=["beside a deletion", "under a deletion", "in a cluster", "one third letter", "two third letters"],
)
def test_an_snv_beside_unlisted_alleles(record, chromosomes, change, genotype):
    found = record(chromosomes, 1, change)
    assert found["GT"].replace("|", "/") == genotype
    assert (found["PL"] == ".") == ("." in genotype)
    assert (found["FILTER"] == "PASS") == (genotype != "./.")


@pytest.mark.parametrize("is_clipped", [False, True], ids=["aligned", "clipped"])
@pytest.mark.parametrize("deleted", [(960, 1040), (720, 1010), (990, 1300)])
def test_an_snv_under_a_long_unlisted_deletion(tmp_path, deleted, is_clipped):
    """It is longer than the region of the SNV, so that the reads that show it need not reach this."""
    genome = write_reads(tmp_path, ({SITE}, None), (set(), deleted))
    if is_clipped:
        clip_deletions(tmp_path)
    (sample,) = genotypes_of_snvs(tmp_path, genome, [SITE])
    assert (sample.alleles, sample.ploidy) == ((1,), 2)
    assert sample.depths[0] == 0 and sample.depths[1] >= 12


@pytest.mark.parametrize(("deleted", "sites"), [(36, (3, 32)), (61, (3, 32, 59)), (200, (3, 100, 101, 190))])
def test_snvs_of_several_regions_under_an_unlisted_deletion(tmp_path, deleted, sites, caplog):
    """It lies in none of their regions whole."""
    sites = [SITE + at for at in sites]
    genome = write_reads(tmp_path, (set(sites), None), (set(), (SITE, SITE + deleted)))
    samples = genotypes_of_snvs(tmp_path, genome, sites)
    assert [one.alleles for one in samples] == [(1,)] * len(sites)
    assert "fit no haplotype" not in caplog.text


@pytest.mark.parametrize("deleted", [(960, 1040), (850, 1150)])
def test_the_fraction_of_an_snv_under_an_unlisted_deletion(tmp_path, deleted):
    """Half of the molecules have it, though all reads over it show it: those with the deletion count too."""
    genome = write_reads(tmp_path, ({SITE}, None), (set(), deleted))
    clip_deletions(tmp_path)
    (sample,) = genotypes_of_snvs(tmp_path, genome, [SITE], mixture=True)
    assert abs(sample.fractions[1][0] - 0.5) < 0.15


def genotypes_of_snvs(folder, genome, sites, **options):
    """The genotypes of listed SNVs."""
    lines = [f"q\t{at + 1}\t.\t{genome[at]}\t{OTHER[genome[at]]}\t.\t.\t.\n" for at in sites]
    (folder / "list.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "".join(lines)
    )
    called = pairhmm.call(folder / "q.bam", folder / "q.fa", folder / "list.vcf", backend="cpu", **options)
    return [sample for site in called for sample in site.samples]


def test_bases_of_which_reads_show_some_are_no_listed_substitution(record):
    neighbours = {SITE + 1, SITE + 2}
    found = record([(neighbours, None)] * 2, 3, lambda ref: "".join(OTHER[letter] for letter in ref))
    assert (found["GT"], found["AD"], float(found["QUAL"]), found["FILTER"]) == ("./.", "0,0", 0.0, "LowQual")


def test_an_snv_that_moves_the_end_of_an_unlisted_deletion(tmp_path):
    """The letter behind a deletion of G G in G G G G G G is no SNV: the deletion alone is the shorter way."""
    genome = "".join(np.random.default_rng(5).choice(list("ACGT"), 2_000))
    genome = genome[: SITE - 4] + "CACCT" + "G" * 6 + "AAGTCA" + genome[SITE + 13 :]
    found = genotypes(tmp_path, genome, (SITE + 1, SITE + 3), [(SITE + 2, "G", "T"), (SITE, "TGGG", "T")])
    assert "1" not in "".join(found)


def test_listed_alleles_that_take_back_each_other_beside_an_unlisted_deletion(tmp_path):
    """A deletion of three A, an insertion of A, and an insertion and an SNV that insert A, are the deletion of one."""
    genome = "".join(np.random.default_rng(5).choice(list("ACGT"), 2_000))
    genome = genome[: SITE - 4] + "GATGTC" + "A" * 12 + "CGTC" + genome[SITE + 18 :]
    run = SITE + 2
    decoys = [(run - 2, "T", "TC"), (run - 1, "C", "A"), (run - 1, "C", "CA"), (run - 1, "CAAA", "C")]
    assert "1" not in "".join(genotypes(tmp_path, genome, (run, run + 1), decoys))


def genotypes(folder, genome, deleted, records) -> list[str]:
    """GT of listed records; of the reads, half are of a chromosome with a deletion."""
    reads = [*aligned_reads(genome, set(), None, "a"), *aligned_reads(genome, set(), deleted, "b")]
    return genotypes_of(folder, genome, reads, records)


def genotypes_of(folder, genome, reads, records) -> list[str]:
    """GT of listed records; reads are their starts and lines."""
    (folder / "q.fa").write_text(f">q\n{genome}\n")
    pysam.faidx(str(folder / "q.fa"), catch_stdout=False)
    head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{len(genome)}\n@RG\tID:s\tSM:s\n"
    (folder / "q.sam").write_text(head + "".join(f"{line}\n" for _, line in sorted(reads)))
    pysam.view("-b", "-o", str(folder / "q.bam"), str(folder / "q.sam"), catch_stdout=False)
    pysam.index(str(folder / "q.bam"))
    lines = [f"q\t{at + 1}\t.\t{ref}\t{alt}\t.\t.\t.\n" for at, ref, alt in sorted(records)]
    (folder / "list.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "".join(lines)
    )
    pairhmm.write_calls(folder / "q.bam", folder / "q.fa", folder / "q.vcf", folder / "list.vcf", backend="cpu")
    called = [line for line in (folder / "q.vcf").read_text().splitlines() if not line.startswith("#")]
    assert len(called) == len(records)
    return [line.split("\t")[9].split(":")[0] for line in called]


def test_reads_inside_a_long_deletion_do_not_make_it_rare(record):
    found = record([(set(), (SITE + 1, SITE + 601)), PLAIN], 601, lambda ref: ref[0])
    assert (found["GT"], found["FILTER"]) == ("0/1", "PASS")
    reference, deleted = map(int, found["AD"].split(","))
    assert reference <= 2 * deleted + 2, "as many over either end as the deletion has"


def test_a_long_deletion_is_genotyped_from_the_reads_at_its_ends(tmp_path):
    """Those inside it are not scored, and take no place of others where depth is limited."""
    deleted = (450, 1550)
    genome = write_reads(tmp_path, ({600, 900, 1200}, None), (set(), deleted))
    clip_deletions(tmp_path)
    (tmp_path / "list.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        f"q\t{deleted[0]}\t.\t{genome[deleted[0] - 1 : deleted[1]]}\t{genome[deleted[0] - 1]}\t.\t.\t.\n"
    )
    given = tmp_path / "q.bam", tmp_path / "q.fa", tmp_path / "list.vcf"
    (site,) = pairhmm.call(*given, backend="cpu", max_depth=60)
    (sample,) = site.samples
    assert sample.alleles == (0, 1) and min(sample.depths) >= 10


def test_listed_alleles_of_a_cluster_that_alignments_place_in_another_way(tmp_path):
    """Reads spell the listed alleles among decoys that make too many haplotypes, and show others by their alignment."""
    genome = write_reads(tmp_path, PLAIN, PLAIN)
    changed = (0, 3, 5, 16, 18)
    other = "".join(OTHER[base] if at - SITE in changed else base for at, base in enumerate(genome))
    other = other[: SITE + 8] + other[SITE + 12 :]
    reads = pysam.view("-h", str(tmp_path / "q.bam"), catch_stdout=True).splitlines()
    head, plain = [one for one in reads if one[0] == "@"], [one for one in reads if one.startswith("r0.")]
    clustered = [
        f"b{start}\t{16 * (start % 2)}\tq\t{start + 1}\t60\t{SITE + 3 - start}M4D{97 - SITE + start}M\t*\t0\t0\t"
        f"{other[start : start + 100]}\t{'?' * 100}\tRG:Z:s"
        for start in range(SITE - 80, SITE - 15, 6)
    ]
    lines = sorted(plain + clustered, key=lambda one: int(one.split("\t")[3]))
    (tmp_path / "q.sam").write_text("\n".join(head + lines) + "\n")
    pysam.view("-b", "-o", str(tmp_path / "q.bam"), str(tmp_path / "q.sam"), catch_stdout=False)
    pysam.index(str(tmp_path / "q.bam"))
    true = [(SITE + at, genome[SITE + at], OTHER[genome[SITE + at]]) for at in changed]
    true.append((SITE + 7, genome[SITE + 7 : SITE + 12], genome[SITE + 7]))
    decoys = [
        (SITE + at, genome[SITE + at], OTHER[OTHER[genome[SITE + at]]]) for at in (-4, -1, 1, 3, 6, 9, 12, 14, 20)
    ]
    (tmp_path / "list.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        + "".join(f"q\t{at + 1}\t.\t{ref}\t{alt}\t.\t.\t.\n" for at, ref, alt in sorted(true + decoys))
    )
    pairhmm.write_calls(tmp_path / "q.bam", tmp_path / "q.fa", tmp_path / "q.vcf", tmp_path / "list.vcf", backend="cpu")
    with pysam.VariantFile(str(tmp_path / "q.vcf")) as records:
        found = {(one.start, one.ref, one.alts[0]) for one in records if 1 in one.samples[0]["GT"]}
    assert found == set(true)


def test_errors_that_reads_share_do_not_hide_a_listed_insertion(tmp_path):
    """Each of four alleles with an error of a few reads fits some reads best, but no chromosome fits all of them."""
    genome = "".join(np.random.default_rng(5).choice(list("ACGT"), 2_000))
    inserted = "".join(np.random.default_rng(6).choice(list("ACGT"), 80))
    own = genome[:SITE] + inserted + genome[SITE:]
    lines = []
    for start in range(SITE - 120, SITE + 50, 5):
        letters, qualities = list(own[start : start + 150]), ["?"] * 150
        for number, place in enumerate((12, 30, 50, 70)):
            at = SITE + place - start
            if 0 <= at < 150 and start // 5 % 5 == number:
                letters[at], qualities[at] = OTHER[letters[at]], "1"
        left, right = max(0, SITE - start), max(0, start + 150 - SITE - len(inserted))
        begin, cigar = (start, f"{left}M{150 - left}S") if left >= right else (SITE, f"{150 - right}S{right}M")
        bases = f"{''.join(letters)}\t{''.join(qualities)}"
        lines.append((begin, f"{start}\t{start % 2 * 16}\tq\t{begin + 1}\t60\t{cigar}\t*\t0\t0\t{bases}\tRG:Z:s"))
    assert genotypes_of(tmp_path, genome, lines, [(SITE - 1, genome[SITE - 1], genome[SITE - 1] + inserted)]) == ["1/1"]
