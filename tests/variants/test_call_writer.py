"""Call sets are what bcftools expects; their header, and FILTER and INFO of their records."""

from __future__ import annotations

import os
from dataclasses import replace

import pysam
import pysam.bcftools
import pytest

from pairhmm.errors import InputError
from pairhmm.variants.call_writer import open_calls
from pairhmm.variants.genotypes import RecordOptions, SampleGenotype, SiteStatistics
from pairhmm.variants.variant import Variant

CONTIGS = {"one": 1000, "two": 600_000_000}
HETEROZYGOUS = SampleGenotype((0, 1), (3, 4), 8, 50, (50, 0, 60), -5.0)
NOTHING = SampleGenotype(None, (0, 0), 0, 0, (), 0.0)


def write(path, contigs=CONTIGS):
    with open_calls(
        path, contigs, ["s1", "s2"], min_quality=30, reference="ref.fa", provenance={"fileDate": "20260101"}
    ) as out:
        out.write(Variant("one", 10, "A", ("C",), "rs1"), 50.123, [HETEROZYGOUS, NOTHING])
        out.write(Variant("one", 12, "AT", ("A",)), 29.9, [HETEROZYGOUS, HETEROZYGOUS])


@pytest.mark.parametrize("name", ["x.vcf", "x.vcf.gz", "x.bcf"])
def test_bcftools_reads_it(tmp_path, name):
    path = tmp_path / name
    write(path)
    first, second = pysam.bcftools.view("-H", str(path)).splitlines()
    assert first.split("\t") == [
        *("one", "11", "rs1", "A", "C", first.split("\t")[5], "PASS", "AC=1;AF=0.5;AN=2;DP=8;QD=7.16"),
        *("GT:AD:DP:GQ:PL:SB", "0/1:3,4:8:50:50,0,60:0,0,0,0", "./.:0,0:0:.:.:0,0,0,0"),
    ]
    assert float(first.split("\t")[5]) == pytest.approx(50.12)
    assert second.split("\t")[6] == "LowQual"


def test_indexes(tmp_path):
    write(tmp_path / "x.vcf.gz", {"one": 1000})
    write(tmp_path / "long.vcf.gz")
    write(tmp_path / "x.bcf")
    assert sorted(os.listdir(tmp_path)) == [
        *("long.vcf.gz", "long.vcf.gz.csi", "x.bcf", "x.bcf.csi", "x.vcf.gz", "x.vcf.gz.tbi")
    ]
    for name in ("x.vcf.gz", "long.vcf.gz", "x.bcf"):
        with pysam.VariantFile(str(tmp_path / name)) as calls:
            assert [record.pos for record in calls.fetch("one", 12, 20)] == [13]


def test_name_that_says_nothing(tmp_path):
    with pytest.raises(InputError, match=r"end it in \.vcf"):
        with open_calls(tmp_path / "x.gz", CONTIGS, ["s"], min_quality=30, reference="ref.fa", provenance={}):
            pass


ONE_CONTIG = {"one": 1000}
VARIANT = Variant("one", 10, "A", ("C", "G"))


def statistics_of(*values: float | None) -> SiteStatistics:
    """Statistics with these annotations."""
    return SiteStatistics(dict(zip(("FS", "SOR", "MQ", "MQRankSum", "ReadPosRankSum"), values, strict=True)))


def genotype(*alleles: int, quality: int = 50) -> SampleGenotype:
    return SampleGenotype(alleles or None, (3, 4, 0), 8, quality, (0,) * 6, -5.0)


def lines(path, samples, quality=50.0, min_quality=30.0, provenance=None, statistics=None, records=None):
    names = [f"s{number}" for number in range(len(samples))]
    given = {"min_quality": min_quality, "reference": "ref.fa", "provenance": provenance or {}, "records": records}
    with open_calls(path, ONE_CONTIG, names, **given) as out:
        out.write(VARIANT, quality, samples, statistics)
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
    assert ";".join(column(lines(tmp_path / "x.vcf", samples)[-1], 7).split(";")[:4]) == info


@pytest.mark.parametrize(
    ("samples", "statistics", "info"),
    [
        ([genotype(0, 1)], statistics_of(1.23456, 0.5, 59.996, -1.5, 2.0), "FS=1.235;MQ=60.00;MQRankSum=-1.500;"
         "QD=7.14;ReadPosRankSum=2.000;SOR=0.500"),
        # Where only one side has reads, ranks are not known. The depth of QD is that of the samples with the variant.
        ([genotype(1, 1), genotype(0, 0), genotype(2)], statistics_of(0, 0.7, 60, None, None), "FS=0.000;MQ=60.00;"
         "QD=3.57;SOR=0.700"),
        ([genotype(0, 0)], statistics_of(0, 0.7, None, None, None), "FS=0.000;SOR=0.700"),
    ],
)  # fmt: skip
def test_statistics(tmp_path, samples, statistics, info):
    record = lines(tmp_path / "x.vcf", samples, statistics=statistics)[-1]
    assert column(record, 7).split(";", 4)[4] == info


BIASED = statistics_of(70.0, 3.5, 30.0, None, None)


@pytest.mark.parametrize(
    ("records", "verdict"),
    [
        (RecordOptions(), "PASS"),
        (RecordOptions(min_qd=8), "LowQD"),
        (RecordOptions(min_qd=7, max_fs=70, max_sor=3.5, min_rms_mapq=30), "PASS"),
        (RecordOptions(max_fs=69), "StrandBias"),
        (RecordOptions(max_sor=3), "StrandBias"),
        (RecordOptions(min_qd=8, max_fs=1, max_sor=1, min_rms_mapq=31), "LowQD;StrandBias;LowMQ"),
    ],
)
def test_filters_by_option(tmp_path, records, verdict):
    path = tmp_path / "x.vcf"
    written = lines(path, [genotype(0, 1)], statistics=BIASED, records=records)
    assert column(written[-1], 6) == verdict
    named = {line.split("ID=")[1].split(",")[0] for line in written if line.startswith("##FILTER")}
    assert {*verdict.split(";"), "PASS", "LowQual"} <= named
    assert ("StrandBias" in named) == (records.max_fs is not None or records.max_sor is not None)
    assert pysam.bcftools.view("-H", str(path)).split("\t")[6] == verdict
    # What is not known fails nothing.
    unknown = statistics_of(0.0, 0.0, None, None, None)
    strict = RecordOptions(min_qd=99, max_fs=1, max_sor=1, min_rms_mapq=99)
    assert column(lines(path, [genotype(0, 0, quality=99)], statistics=unknown, records=strict)[-1], 6) == "PASS"


def test_phase(tmp_path):
    phased = replace(genotype(0, 1), phased=(1, 0), phase_set=10, strands=(1, 2, 3, 4))
    record = lines(tmp_path / "x.vcf", [phased, genotype(1, 2), genotype()])[-1].split("\t")
    assert record[8] == "GT:AD:DP:GQ:PL:PS:SB"
    assert [one.split(":")[0] for one in record[9:]] == ["1|0", "1/2", "./."]
    assert [one.split(":", 5)[5] for one in record[9:]] == ["11:1,2,3,4", ".:0,0,0,0", ".:0,0,0,0"]


def test_provenance_stands_first(tmp_path):
    provenance = {"fileDate": "20260102", "source": "pairhmm 1"}
    header = lines(tmp_path / "x.vcf", [genotype(0, 1)], provenance=provenance)
    expected = ["##fileformat=VCFv4.3", "##fileDate=20260102", "##source=pairhmm 1", "##reference=ref.fa"]
    assert header[:4] == expected
