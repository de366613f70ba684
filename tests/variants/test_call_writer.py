"""Call sets are what bcftools expects."""

from __future__ import annotations

import os

import pysam
import pysam.bcftools
import pytest

from pairhmm.errors import InputError
from pairhmm.variants.call_writer import open_calls
from pairhmm.variants.genotypes import SampleGenotype
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


@pytest.mark.parametrize("name", ["x.vcf", "x.vcf.gz", "x.bcf"])
def test_no_half_file(tmp_path, name):
    with pytest.raises(RuntimeError):
        with open_calls(tmp_path / name, CONTIGS, ["s"], min_quality=30, reference="ref.fa", provenance={}) as out:
            out.write(Variant("one", 10, "A", ("C",)), 50.0, [HETEROZYGOUS])
            raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_name_that_says_nothing(tmp_path):
    with pytest.raises(InputError, match=r"end it in \.vcf"):
        with open_calls(tmp_path / "x.gz", CONTIGS, ["s"], min_quality=30, reference="ref.fa", provenance={}):
            pass
