"""Genotype fields of VCF and BCF, and sample columns as arrays against Python's own splitting."""

import numpy as np
import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.map.genotype_reader import MISSING, GenotypeFile, SampleFields

HEADER = """##fileformat=VCFv4.2
##contig=<ID=chr1,length=1000000>
##contig=<ID=X,length=1000000>
##FILTER=<ID=LowQual,Description="x">
##FORMAT=<ID=GT,Number=1,Type=String,Description="x">
##FORMAT=<ID=AD,Number=R,Type=Integer,Description="x">
##FORMAT=<ID=DP,Number=1,Type=Integer,Description="x">
##FORMAT=<ID=PL,Number=G,Type=Integer,Description="x">
##FORMAT=<ID=GL,Number=G,Type=Float,Description="x">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb
"""


def written(tmp_path, *records, kind="vcf"):
    path = tmp_path / "x.vcf"
    path.write_text(HEADER + "".join("\t".join(record.split()) + "\n" for record in records))
    if kind == "vcf":
        return str(path)
    out = tmp_path / f"x.{kind}"
    with (
        pysam.VariantFile(str(path)) as lines,
        pysam.VariantFile(str(out), "wb" if kind == "bcf" else "wz", header=lines.header) as file,
    ):
        for record in lines:
            file.write(record)
    return str(out)


def blocks(path, wanted=lambda _: True):
    return list(GenotypeFile(path, wanted))


RECORDS = (
    "chr1 10 . A G 5 PASS . GT:AD:DP:PL 0/1:4,3:7:50,0,60 ./.:0,0:0:.",
    "chr1 20 . C T 5 . . GT:PL:DP 1/1:90,9,0:8 0/0:0,3,30:3",
    "chr1 30 . C T 5 . . GT:GL 0/1:-5,-0.5,-40 1/1:.",
    "chr1 40 . C T 5 . . GT 0|1 1/1",
)


@pytest.mark.parametrize("kind", ["vcf", "vcf.gz", "bcf"])
def test_reads_come_before_likelihoods_and_these_before_genotypes(tmp_path, kind):
    reads, phred, logs, genotypes = blocks(written(tmp_path, *RECORDS, kind=kind))
    assert reads.keys == ["1:10:A:G"]
    assert reads.counts.tolist() == [[[4, 3], [0, 0]]] and not reads.phred.any() and (reads.called == -1).all()
    assert reads.depth.tolist() == [[7, 0]]
    assert phred.phred.tolist() == [[[90, 9, 0], [0, 3, 30]]] and not phred.counts.any()
    # Three reads are too few for a certain genotype.
    assert phred.called.tolist() == [[2, -1]] and phred.depth.tolist() == [[8, 3]]
    assert logs.phred.tolist() == [[[45, 0, 255], [0, 0, 0]]] and logs.called.tolist() == [[1, 2]]
    assert genotypes.phred.tolist() == [[[20, 0, 20], [20, 20, 0]]] and genotypes.called.tolist() == [[1, 2]]


def test_only_biallelic_autosomal_snvs_that_pass(tmp_path):
    path = written(
        tmp_path,
        "chr1 10 . A G,T 5 PASS . GT 0/1 0/1",
        "chr1 11 . AT A 5 PASS . GT 0/1 0/1",
        "chr1 12 . A G 5 LowQual . GT 0/1 0/1",
        "X 13 . A G 5 PASS . GT 0/1 0/1",
        "chr1 14 . A <DEL> 5 PASS . GT 0/1 0/1",
        "chr1 15 . a g 5 PASS . GT 0/1 0/1",
        "chr1 16 . A G 5 PASS . GT 0/1 0/1",
    )
    (found,) = blocks(path, lambda key: key != "1:16:A:G")
    assert found.keys == ["1:15:A:G"]


def test_records_of_one_format_are_a_block(tmp_path):
    path = written(tmp_path, *[f"chr1 {pos} . A G 5 PASS . AD {pos},0 0,{pos}" for pos in range(1, 300)])
    (found,) = blocks(path)
    assert found.counts[:, 0, 0].tolist() == list(range(1, 300)) and (found.depth == found.counts.sum(axis=2)).all()
    part = found.take([2, 5])
    assert part.keys == [found.keys[2], found.keys[5]] and np.array_equal(part.counts, found.counts[[2, 5]])


def damaged(tmp_path, change):
    path = tmp_path / "bad.vcf"
    path.write_text(change(HEADER + "chr1\t10\t.\tA\tG\t5\tPASS\t.\tGT\t0/1\t0/1\n"))
    return str(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "hello\n", "not a VCF or BCF file"),
        (lambda text: text.replace("\ta\tb", ""), "has no samples"),
        (lambda text: text.replace("\ta\tb", "\ta\ta"), "names a sample twice"),
        (lambda text: text.replace("0/1\n", "0/1\t1/1\n"), "1:10:A:G: 3 samples where the header has 2"),
        (lambda text: text.replace("chr1\t10\t.", "chr1\tx\t."), "record 1: not a VCF record"),
        (lambda text: text[: text.index("#CHROM")], "no line #CHROM"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        blocks(damaged(tmp_path, change))


COLUMNS = [
    "0/1:7,3:30,0,255",
    "1|1:0,12:99,9,0",
    "./.:.:.",
    "0/0",
    "1:5,1:1,2,3",
    "0/2:1,2,3:.,1,2",
    "0/0::0,1,x",
    "a/b:-1,2:0,0,0",
]


def test_numbers_of_a_field():
    fields = SampleFields("\t".join(COLUMNS).encode())
    assert fields.columns == len(COLUMNS)
    none = [MISSING, MISSING]
    assert fields.numbers(1, 2).tolist() == [[7, 3], [0, 12], none, none, [5, 1], none, none, none]
    assert fields.numbers(2, 3).tolist() == [
        [30, 0, 255],
        [99, 9, 0],
        *[[MISSING] * 3] * 2,
        [1, 2, 3],
        *[[MISSING] * 3] * 2,
        [0, 0, 0],
    ]
    assert (fields.numbers(5, 1) == MISSING).all()


def test_genotypes():
    found = SampleFields("\t".join([*COLUMNS, "1/0", "0|0", "0-1"]).encode()).genotypes(0)
    assert found.tolist() == [1, 2, MISSING, 0, MISSING, MISSING, 0, MISSING, 1, 0, MISSING]


def test_numbers_with_fractions():
    found = SampleFields(b"0/1:-1.5,-0.1,-3e1\t0/0\t0/0:.,1,2\t1/1:1,2").logs(1, 3)
    assert found[0] == pytest.approx([-1.5, -0.1, -30]) and np.isnan(found[1:]).all()


def test_one_column():
    assert SampleFields(b"17").numbers(0, 1).tolist() == [[17]]
    assert SampleFields(b"1234567890").numbers(0, 1).tolist() == [[MISSING]]
