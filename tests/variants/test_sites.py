"""Which sites a report shows, and which of a site's alleles each haplotype of a region carries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pairhmm.report.cohort import Cohort
from pairhmm.variants.call_reader import CalledSites
from pairhmm.variants.sites import ReportedSite, SampleCall, SiteSelection, parse_variants, site_alleles, sites_of


def called(pos: int, *qualities: int | None) -> ReportedSite:
    return ReportedSite(
        "q", pos, "A", ("C",), calls=tuple(SampleCall((0, 1), quality=quality) for quality in qualities)
    )


@pytest.mark.parametrize(
    ("ref", "alts", "kind"),
    [
        ("A", ("C",), "SNV"),
        ("A", ("C", "G"), "SNV"),
        ("AC", ("GT",), "MNV"),
        ("A", ("AT",), "insertion"),
        ("AT", ("A", "*"), "deletion"),
        ("AT", ("A", "ATT"), "mixed"),
        ("A", ("C", "<NON_REF>"), "SNV"),
        ("A", ("<DEL>",), "other"),
        ("", (), "other"),
    ],
)
def test_kinds(ref, alts, kind):
    assert ReportedSite("q", 1, ref, alts).kind == kind


def test_genotypes_are_written_as_vcf_has_them():
    assert SampleCall((0, 1)).genotype == "0/1"
    assert SampleCall((1, 0), phased=True).genotype == "1|0"
    assert SampleCall((None, None)).genotype == "./."
    assert SampleCall((None, 1)).is_called is False
    assert SampleCall().genotype == "."


def test_the_least_certain_are_kept_in_their_order():
    choice = SiteSelection(3)
    for pos, qualities in enumerate([(50, 60), (99, 3), (None, None), (20,), (20,), (20,)]):
        choice.add(called(pos, *qualities))
    assert [site.pos for site in choice.sites()] == [1, 3, 4]
    assert choice.seen == 6


def test_variants_are_read_as_tables_have_them():
    assert parse_variants("5:A>C/G,9:AT>A") == [(4, "A", ("C", "G")), (8, "AT", ("A",))]
    assert parse_variants(".") == []
    with pytest.raises(ValueError, match="unpack"):
        parse_variants("nonsense")


def test_alleles_of_haplotypes_at_a_site():
    variants = [(4, "A", ("C",)), (8, "AT", ("A", "GT"))]
    haplotypes = ["0,0", "1,1", "0,2"]
    assert site_alleles(ReportedSite("q", 4, "A", ("C",)), variants, haplotypes) == [0, 1, 0]
    assert site_alleles(ReportedSite("q", 8, "AT", ("GT", "A")), variants, haplotypes) == [0, 2, 1]


def test_alleles_that_a_call_left_out_are_none_of_the_sites():
    """A call drops what no sample has, numbers the rest anew, and shortens the reference base to what they need."""
    variants = [(8, "ATT", ("A", "GTT"))]
    assert site_alleles(ReportedSite("q", 8, "A", ("G",)), variants, ["0", "1", "2"]) == [0, -1, 1]


def test_a_site_that_the_region_does_not_have():
    assert site_alleles(ReportedSite("q", 4, "A", ("G",)), [(4, "A", ("C",))], ["0", "1"]) is None
    assert site_alleles(ReportedSite("q", 4, "A", ("<DEL>",)), [(4, "A", ("C",))], ["0", "1"]) is None
    assert site_alleles(ReportedSite("q", 5, "A", ("C",)), [(4, "A", ("C",))], ["0", "1"]) is None


def test_sites_of_tables_alone():
    first, second = (4, "A", ("C",)), (6, "G", ("T",))
    regions = [("q", 0, [first]), ("q", 0, [first, second]), ("q", 90, []), ("r", 0, [first])]
    sites, has_more = sites_of(regions, 3)
    assert [(site.chrom, site.pos, site.ref) for site in sites] == [("q", 4, "A"), ("q", 6, "G"), ("q", 90, "")]
    assert has_more
    assert [len(sites_of(regions, limit)[0]) for limit in (4, 5)] == [4, 4]
    assert not sites_of(regions, 4)[1]


@pytest.mark.parametrize(
    ("alts", "is_block"), [(("<NON_REF>",), True), (("<*>",), True), (("C", "<NON_REF>"), False), ((), False)]
)
def test_blocks_of_a_gvcf_are_no_variants(alts, is_block):
    assert ReportedSite("q", 1, "A", alts).is_reference_block == is_block


def test_figures_of_a_cohort():
    cohort = Cohort(["a", "b"])
    het, hom, none = (
        SampleCall((0, 1), False, (1, 2), 3, 40),
        SampleCall((1, 1), False, (), 5, 20),
        SampleCall((None,) * 2),
    )
    cohort.add(ReportedSite("q", 1, "A", ("G",), calls=(het, hom)))
    cohort.add(ReportedSite("q", 2, "A", ("T",), filters="PASS", calls=(het, SampleCall((1, 0)))))
    cohort.add(ReportedSite("q", 3, "AT", ("A",), calls=(hom, none)))
    cohort.add(ReportedSite("q", 4, "A", ("T",), filters="LowQual", calls=(hom, hom)))
    first, second = cohort.figures
    assert (first.called, first.het, first.hom_alt, first.missing) == (3, 2, 1, 0)
    assert (first.snvs, first.indels, first.ti_tv) == (2, 1, 1.0)
    assert (first.mean_depth, first.mean_quality) == (pytest.approx(11 / 3), pytest.approx(100 / 3))
    assert (second.called, second.missing, second.mean_depth) == (2, 1, 5)
    assert (cohort.records, cohort.passed, cohort.failed) == (4, 3, {"LowQual": 1})
    assert np.array_equal(cohort.concordance(), [[1, 0.5], [0.5, 1]])


def test_samples_that_are_never_called_together_have_no_concordance():
    cohort = Cohort(["a", "b"])
    cohort.add(ReportedSite("q", 1, "A", ("G",), calls=(SampleCall((0, 1)), SampleCall())))
    assert np.isnan(cohort.concordance()[0, 1])
    assert cohort.figures[1].mean_depth is None and cohort.figures[1].ti_tv is None


@pytest.mark.parametrize(
    ("source", "sample", "is_absent"),
    [
        ("bcftools_callVersion=1", ".:.:28:11,17", True),  # the reads are of other places
        ("bcftools_callVersion=1", ".:.:.:.", True),
        ("bcftools_callVersion=1", ".:0,0:0:0,0", False),
        ("source=x", ".:.:.:.", True),
        ("source=x", ".:.", True),
        ("source=x", ".:.:28:11,17", False),
        ("source=x", ".:0,0:0:0,0", False),
        ("source=x", "./.:.:.:.", False),
        ("source=x", "1:40,0:3:0,3", False),
    ],
)
def test_samples_without_the_chromosome(tmp_path: Path, source: str, sample: str, is_absent: bool) -> None:
    path = tmp_path / "x.vcf"
    numbers = {"GT": "1,Type=String", "PL": "G,Type=Integer", "DP": "1,Type=Integer", "AD": "R,Type=Integer"}
    fields = "".join(f'##FORMAT=<ID={name},Number={rest},Description="x">\n' for name, rest in numbers.items())
    columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tx\n"
    record = f"Y\t2\t.\tC\tT\t9\t.\t.\tGT:PL:DP:AD\t{sample}\n"
    path.write_text(f"##fileformat=VCFv4.2\n##{source}\n##contig=<ID=Y>\n{fields}{columns}{record}")
    with CalledSites(str(path)) as sites:
        (site,) = sites
    cohort = Cohort(["x"])
    cohort.add(site)
    figures = cohort.figures[0]
    assert (site.calls[0].is_absent, figures.called + figures.missing) == (is_absent, int(not is_absent))
    assert not is_absent or (figures.depth_sites, figures.thin) == (0, 0)
