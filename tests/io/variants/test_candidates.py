"""Candidates from VCF and BCF."""

from __future__ import annotations

import re

import pysam
import pysam.bcftools
import pytest

from pairhmm.errors import InputError
from pairhmm.io.variants.candidates import CandidateReader

SEQUENCES = {"one": "ACGTACGTAC", "two": "GGGGTTTT"}
CONTIGS = {name: len(bases) for name, bases in SEQUENCES.items()}
HEADER = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


def fetch(chrom, start, end):
    return SEQUENCES[chrom][start:end]


def write(path, *records):
    path.write_text(HEADER + "".join(f"{record}\t.\t.\t.\n" for record in records))
    return str(path)


def read(path):
    return list(CandidateReader(path, CONTIGS, fetch))


def test_without_contig_lines(tmp_path):
    path = write(tmp_path / "x.vcf", "one\t2\trs1\tc\tT,g", "two\t4\t.\tGT\tG")
    first, second = read(path)
    assert (first.chrom, first.pos, first.ref, first.alts, first.id) == ("one", 1, "C", ("T", "G"), "rs1")
    assert (second.end, second.id, second.record_index) == (5, "", 1)


def test_compressed_and_bcf(tmp_path):
    text = (tmp_path / "x.vcf").with_name("c.vcf")
    contigs = "".join(f"##contig=<ID={name},length={length}>\n" for name, length in CONTIGS.items())
    text.write_text(HEADER.replace("#CHROM", contigs + "#CHROM") + "one\t2\t.\tC\tT\t.\t.\t.\n")
    pysam.tabix_compress(str(text), str(tmp_path / "c.vcf.gz"))
    pysam.bcftools.view("-Ob", "-o", str(tmp_path / "c.bcf"), str(text), catch_stdout=False)
    plain = read(str(text))
    assert read(str(tmp_path / "c.vcf.gz")) == plain
    assert read(str(tmp_path / "c.bcf")) == plain


def test_an_empty_line_ends_no_list(tmp_path):
    path = write(tmp_path / "x.vcf", "one\t2\t.\tC\tT", "two\t4\t.\tGT\tG")
    (tmp_path / "x.vcf").write_text((tmp_path / "x.vcf").read_text().replace("two", "\n\ntwo"))
    pysam.tabix_compress(path, f"{path}.gz")
    assert [one.chrom for one in read(f"{path}.gz")] == [one.chrom for one in read(path)] == ["one", "two"]


def test_symbolic_alleles_are_counted(tmp_path, caplog):
    path = write(tmp_path / "x.vcf", "one\t2\t.\tC\tT,<DEL>,*", "one\t3\t.\tG\t<INS>", "one\t4\t.\tT\t.")
    reader = CandidateReader(path, CONTIGS, fetch)
    assert [variant.alts for variant in reader] == [("T",)]
    assert (reader.skipped_alleles, reader.skipped_records) == (3, 2)
    assert "3 symbolic" in caplog.text


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (["one\t2\t.\tA\tT"], r"one:2: REF A is C in the reference"),
        (["nine\t2\t.\tA\tT"], r"nine:2: contig is not in the reference"),
        (["one\t9\t.\tACGT\tA"], r"one:9: outside one, which has 10 bases"),
        (["two\t1\t.\tG\tT", "one\t2\t.\tC\tT"], r"one:2: records are not in the reference's order"),
        (["one\tx\t.\tC\tT"], r"line 3: not a VCF record"),
    ],
)
def test_bad_records(tmp_path, records, message):
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "x.vcf", *records))


@pytest.mark.parametrize("ref", ["", ".", "<X>", "Q", "AQ", "*", "-"])
def test_a_ref_that_is_no_sequence(tmp_path, ref):
    with pytest.raises(InputError, match=rf"one:2: REF '{re.escape(ref)}' is not a sequence of bases; .*reference"):
        read(write(tmp_path / "x.vcf", f"one\t2\t.\t{ref}\tT"))


@pytest.mark.parametrize("alt", ["", "Q", "T,", "T,,G", "-", "T,X"])
def test_an_alt_that_is_no_allele(tmp_path, alt):
    wrong = next(one for one in alt.split(",") if one not in ("T", "G"))
    with pytest.raises(InputError, match=f"one:2: ALT '{wrong}' is neither bases nor another of VCF's alleles"):
        read(write(tmp_path / "x.vcf", f"one\t2\t.\tC\t{alt}"))


@pytest.mark.parametrize("alt", ["<NON_REF>", "<*>", "*", "C]two:4]", "[two:4[C", "C.", ".C", "R", "C<ctg1>[ctg1:7["])
def test_other_alleles_of_vcf_are_passed_over(tmp_path, alt):
    (variant,) = read(write(tmp_path / "x.vcf", f"one\t2\t.\tC\t{alt},T"))
    assert variant.alts == ("T",)


def test_a_ref_of_ambiguous_letters_is_the_references(tmp_path):
    (variant,) = read(write(tmp_path / "x.vcf", "one\t2\t.\tm\tT"))
    assert variant.ref == "M"


def test_not_a_vcf(tmp_path):
    path = tmp_path / "x.vcf"
    path.write_text("one\t2\t.\tC\tT\n")
    with pytest.raises(InputError, match="not a VCF file"):
        read(str(path))


def test_cut_off(tmp_path):
    write(tmp_path / "x.vcf", *(f"one\t{i % 10 + 1}\t.\tN\tT" for i in range(5)))
    pysam.tabix_compress(str(tmp_path / "x.vcf"), str(tmp_path / "x.vcf.gz"))
    data = (tmp_path / "x.vcf.gz").read_bytes()
    (tmp_path / "x.vcf.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError):
        read(str(tmp_path / "x.vcf.gz"))
