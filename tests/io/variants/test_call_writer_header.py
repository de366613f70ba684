"""What a call set says of itself: its header, and FILTER and INFO of its records."""

from __future__ import annotations

import pytest

from pairhmm.genomics.genotypes import SampleGenotype
from pairhmm.genomics.variants import Variant
from pairhmm.io.variants.call_writer import open_calls

CONTIGS = {"one": 1000}
VARIANT = Variant("one", 10, "A", ("C", "G"))


def genotype(*alleles: int, quality: int = 50) -> SampleGenotype:
    return SampleGenotype(alleles or None, (3, 4, 0), 8, quality, (0,) * 6, -5.0)


def lines(path, samples, quality=50.0, min_quality=30.0, provenance=None):
    names = [f"s{number}" for number in range(len(samples))]
    given = {"min_quality": min_quality, "reference": "ref.fa", "provenance": provenance or {}}
    with open_calls(path, CONTIGS, names, **given) as out:
        out.write(VARIANT, quality, samples)
    return path.read_text().splitlines()


def column(record: str, number: int) -> str:
    return record.split("\t")[number]


@pytest.mark.parametrize(
    ("samples", "quality", "min_quality", "verdict"),
    [
        # Where all are the reference, QUAL is near 0 however sure they are.
        ([genotype(0, 0, quality=99)], 0, 30, "PASS"),
        ([genotype(0, 0, quality=30)], 0, 30, "PASS"),
        ([genotype(0, 0, quality=29)], 0, 30, "LowQual"),
        ([genotype(0, 0, quality=99)], 0, 500, "PASS"),
        # The least sure one decides; without a genotype there is nothing to be sure of.
        ([genotype(0, 0, quality=99), genotype(0, 0, quality=12)], 1, 30, "LowQual"),
        ([genotype(0, 0, quality=40), genotype()], 1, 30, "PASS"),
        ([genotype(), genotype()], 0, 30, "LowQual"),
        # One variant among them, and QUAL speaks.
        ([genotype(0, 0, quality=99), genotype(0, 1, quality=2)], 29.9, 30, "LowQual"),
        ([genotype(0, 0, quality=2), genotype(0, 2, quality=2)], 30, 30, "PASS"),
    ],
)
def test_filter(tmp_path, samples, quality, min_quality, verdict):
    record = lines(tmp_path / "x.vcf", samples, quality, min_quality)[-1]
    assert column(record, 6) == verdict


def test_the_filter_is_described(tmp_path):
    header = lines(tmp_path / "x.vcf", [genotype(0, 1)], min_quality=120)
    rule = "QUAL is below 120; where every genotype is the reference, the lowest GQ is below 99"
    assert f'##FILTER=<ID=LowQual,Description="{rule}">' in header


@pytest.mark.parametrize(
    ("samples", "info"),
    [
        ([genotype(0, 1)], "AC=1,0;AF=0.5,0;AN=2;DP=8"),
        ([genotype(1, 2), genotype(0)], "AC=1,1;AF=0.333333,0.333333;AN=3;DP=16"),
        ([genotype()], "AC=0,0;AF=.,.;AN=0;DP=8"),
    ],
)
def test_allele_frequency(tmp_path, samples, info):
    assert column(lines(tmp_path / "x.vcf", samples)[-1], 7) == info


def test_provenance_stands_first(tmp_path):
    provenance = {"fileDate": "20260102", "source": "pairhmm 1"}
    header = lines(tmp_path / "x.vcf", [genotype(0, 1)], provenance=provenance)
    expected = ["##fileformat=VCFv4.3", "##fileDate=20260102", "##source=pairhmm 1", "##reference=ref.fa"]
    assert header[:4] == expected
