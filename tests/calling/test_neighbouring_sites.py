"""Records of sites that lie in a deletion of the other chromosome, and of SNVs next to each other."""

import pysam
import pysam.bcftools
import pytest

import pairhmm
from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import RecordOptions
from pairhmm.variants.variant import Variant
from tests.calling.reads import OTHER, clip_deletions, write_reads
from tests.calling.scored import AT, evidence_of, genotyped

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")


@pytest.fixture
def called(tmp_path):
    """``called(chromosomes, **records)``: the records of reads of two chromosomes, each as (SNVs, deletion)."""

    def call(*chromosomes, **records):
        genome = write_reads(tmp_path, *chromosomes)
        out = tmp_path / "q.vcf"
        pairhmm.write_calls(tmp_path / "q.bam", tmp_path / "q.fa", out, records=RecordOptions(**records), backend="cpu")
        checked = tmp_path / "norm.vcf"
        pysam.bcftools.norm("-c", "e", "-f", str(tmp_path / "q.fa"), "-o", str(checked), str(out), catch_stdout=False)
        lines = [line.split("\t") for line in out.read_text().splitlines() if not line.startswith("#")]
        return genome, [(int(one[1]) - 1, one[3], one[4], one[9].split(":")[0]) for one in lines]

    return call


def test_a_deletion_over_a_site(called):
    genome, found = called(({1000}, None), (set(), (990, 1012)))
    (start, ref, alt, _), (place, base, alts, genotype) = found
    assert start + len(ref) - len(alt) >= 1005 and len(ref) - len(alt) == 22
    assert (place, base, alts) == (1000, genome[1000], f"{OTHER[genome[1000]]},*")
    # Reads tell apart which chromosome has which.
    assert (found[0][3], genotype) == ("0|1", "1|2")


@pytest.mark.parametrize("deleted", [(910, 1090), (990, 1300)], ids=["of 180 bases", "longer than regions"])
def test_a_long_deletion_over_a_site(tmp_path, deleted):
    """Its reads are clipped at its ends, so that those over the site are all of the other chromosome."""
    genome = write_reads(tmp_path, ({1000}, None), (set(), deleted))
    clip_deletions(tmp_path)
    pairhmm.write_calls(tmp_path / "q.bam", tmp_path / "q.fa", tmp_path / "q.vcf", backend="cpu")
    with pysam.VariantFile(str(tmp_path / "q.vcf")) as records:
        _, site = records
    assert (site.start, site.alts) == (1000, (OTHER[genome[1000]], "*"))
    assert sorted(site.samples[0]["GT"]) == [1, 2]


def test_a_deletion_beside_letters_that_are_not_known(tmp_path):
    """Reads would fit a long run of N whole, with any allele beside it."""
    (site,) = called_beside_n(tmp_path, (1000, 1009))
    assert len(site.variant.ref) - len(site.variant.alts[0]) == 9
    assert site.samples[0].alleles == (0, 1) and min(site.samples[0].depths) >= 8


def test_a_deletion_among_letters_that_are_not_known(tmp_path):
    assert called_beside_n(tmp_path, (1200, 1209)) == []


def called_beside_n(folder, deleted):
    """What is called of reads with a deletion, where 600 letters of the reference are N."""
    genome = write_reads(folder, (set(), None), (set(), deleted))
    (folder / "q.fa").write_text(f">q\n{genome[:1025]}{'N' * 600}{genome[1625:]}\n")
    pysam.faidx(str(folder / "q.fa"), catch_stdout=False)
    return list(pairhmm.call(folder / "q.bam", folder / "q.fa", backend="cpu"))


def listed(folder, *records):
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    (folder / "list.vcf").write_text(
        head + "".join(f"q\t{at + 1}\t.\t{ref}\t{alt}\t.\t.\t.\n" for at, ref, alt in records)
    )
    return folder / "list.vcf"


@pytest.mark.parametrize(
    ("chromosomes", "genotype", "depths"),
    [
        # (SNVs, deletion) of both: the deletion on both, on one beside the reference, and beside the SNV.
        (((set(), (990, 1012)), (set(), (990, 1012))), "2/2", [False, False, True]),
        (((set(), None), (set(), (990, 1012))), "0/2", [True, False, True]),
        ((({1000}, None), (set(), (990, 1012))), "1/2", [False, True, True]),
    ],
)
def test_a_listed_site_under_a_listed_deletion(tmp_path, chromosomes, genotype, depths):
    """Deleted bases are no reference: the site gets `*`, in the genotype and in AD."""
    genome = write_reads(tmp_path, *chromosomes)
    snv = 1000, genome[1000], OTHER[genome[1000]]
    path = listed(tmp_path, (989, genome[989:1012], genome[989]), snv)
    sites = list(pairhmm.call(tmp_path / "q.bam", tmp_path / "q.fa", path, backend="cpu"))
    assert [one.variant.alts for one in sites] == [(genome[989],), (snv[2], "*")]
    ((one,),) = (site.samples for site in sites[1:])
    assert "/".join(map(str, one.alleles)) == genotype
    assert [depth > 8 for depth in one.depths] == depths
    out = tmp_path / "q.vcf"
    pairhmm.write_calls(tmp_path / "q.bam", tmp_path / "q.fa", out, path, backend="cpu")
    assert [line.split("\t")[6] for line in out.read_text().splitlines() if line[0] == "q"] == ["PASS", "PASS"]


def test_a_listed_deletion_that_no_sample_has_adds_no_allele(tmp_path):
    genome = write_reads(tmp_path, ({1000}, None), (set(), None))
    path = listed(tmp_path, (989, genome[989:1012], genome[989]), (1000, genome[1000], OTHER[genome[1000]]))
    sites = list(pairhmm.call(tmp_path / "q.bam", tmp_path / "q.fa", path, backend="cpu"))
    assert [one.variant.alts for one in sites] == [(genome[989],), (OTHER[genome[1000]],)]
    assert [one.samples[0].alleles for one in sites] == [(0, 0), (0, 1)]


def test_a_deletion_beside_a_site_takes_nothing_away(called):
    _, found = called(({1000}, None), (set(), (1003, 1012)))
    assert [alts.count("*") for _, _, alts, _ in found] == [0, 0]


@pytest.mark.parametrize("mnv", [False, True])
def test_snvs_on_one_chromosome(called, mnv):
    genome, found = called(({700, 701, 702, 710}, None), (set(), None), mnv=mnv)
    spelled = "".join(OTHER[base] for base in genome[700:703])
    if mnv:
        assert found[0] == (700, genome[700:703], spelled, "0|1")
    else:
        assert [(place, alt) for place, _, alt, _ in found[:3]] == list(zip((700, 701, 702), spelled, strict=True))
        assert {genotype for *_, genotype in found} == {"0|1"}
    assert found[-1][0] == 710
    assert len(found) == 4 - 2 * mnv


def test_snvs_on_different_chromosomes_stay_apart(called):
    """The first two lie on one chromosome, the third on the other."""
    _, found = called(({700, 701}, None), ({702}, None), mnv=True)
    assert [(place, len(ref), genotype) for place, ref, _, genotype in found] == [(700, 2, "0|1"), (702, 1, "1|0")]


def test_snvs_of_which_one_is_homozygous_stay_apart(called):
    _, found = called(({700, 701}, None), ({701}, None), mnv=True)
    assert [(place, genotype) for place, _, _, genotype in found] == [(700, "0/1"), (701, "1/1")]


def test_snvs_of_which_one_has_an_allele_that_no_sample_has():
    """The haplotype with that allele is none of the joined site's."""
    variants = Variant("q", AT, "A", ("C", "G")), Variant("q", AT + 1, "C", ("T",))
    scores = [[0.0, -9.0, -9.0]] * 10 + [[-9.0, 0.0, -6.0]] * 10
    (site,) = genotyped(evidence_of(scores, variants=variants, alleles=[(0, 0), (1, 1), (2, 1)]), mnv=True)
    assert (site.variant.ref, site.variant.alts, site.samples[0].alleles) == ("AC", ("CT",), (0, 1))
