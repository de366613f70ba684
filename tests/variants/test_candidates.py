"""Candidates from VCF and BCF."""

import gzip
import re
from codecs import BOM_UTF8
from pathlib import Path

import pysam
import pysam.bcftools
import pytest

from pairhmm.errors import InputError
from pairhmm.variants.call_reader import CalledSites
from pairhmm.variants.candidates import CandidateReader
from pairhmm.variants.records import RecordLines

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


def test_raw_bcf_is_known_by_its_first_bytes(tmp_path):
    text = tmp_path / "x.vcf"
    write(text, "one\t2\t.\tC\tT")
    text.write_text(text.read_text().replace("#CHROM", "##contig=<ID=one>\n#CHROM", 1))
    pysam.bcftools.view("-Ob", "-o", str(tmp_path / "x.bcf"), str(text), catch_stdout=False)
    packed = (tmp_path / "x.bcf").read_bytes()
    raw = gzip.decompress(packed)
    files = {
        "raw.vcf": raw,
        "raw.bcf": raw,
        "packed.vcf.gz": packed,
        "packed.vcf": packed,
        "text.bcf": text.read_bytes(),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        assert read(str(tmp_path / name)) == read(str(text)), name


ORDERS = [
    *(["c1", "c10", "c11", "c2", "c20", "c3"], ["c3", "c20", "c2", "c11", "c10", "c1"], ["c2", "c1", "c3"]),
    ["c1", "c2", "c3", "c10", "c11", "c20"],
]


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
@pytest.mark.parametrize("kind", ["no contig lines", "contig lines", "contig lines in another order", "bcf"])
def test_contigs_in_any_order(tmp_path, order, kind):
    """The variants come in the order of the run, each with its number in the file."""
    contigs = dict.fromkeys(["c1", "c2", "c3", "c10", "c11", "c20"], 10)
    path = tmp_path / "x.vcf"
    write(path, *(f"{name}\t{at}\t.\tA\tT" for name in order for at in (2, 5)))
    named = {"no contig lines": [], "contig lines in another order": list(contigs)[::-1]}.get(kind, order)
    lines = "".join(f"##contig=<ID={name},length=10>\n" for name in named)
    path.write_text(path.read_text().replace("#CHROM", lines + "#CHROM", 1))
    if kind == "bcf":
        pysam.bcftools.view("-Ob", "-o", str(tmp_path / "x.bcf"), str(path), catch_stdout=False)
        path = tmp_path / "x.bcf"
    found = list(CandidateReader(str(path), contigs, lambda chrom, start, end: "A" * (end - start)))
    expected = [(name, at - 1) for name in contigs if name in order for at in (2, 5)]
    assert [(one.chrom, one.pos) for one in found] == expected
    written = [(name, at - 1) for name in order for at in (2, 5)]
    assert [written[one.record_index] for one in found] == expected


def test_unknown_contigs_are_found_in_any_order(tmp_path):
    path = write(tmp_path / "x.vcf", "two\t1\t.\tG\tT", "nine\t2\t.\tA\tT", "one\t2\t.\tC\tT")
    with pytest.raises(InputError, match="nine:2: contig is not in the reference"):
        read(path)
    chosen = CandidateReader(path, CONTIGS, fetch, skip_unknown=True)
    assert [variant.chrom for variant in chosen] == ["one", "two"]


def test_telomeres_are_passed_over(tmp_path, caplog):
    """POS 0 and N + 1 are legal (VCF 4.3, section 1.6.1)."""
    path = write(
        tmp_path / "x.vcf",
        *("one\t0\t.\t.\tC]two:4]", "one\t2\t.\tC\tT", "one\t11\t.\tN\t<DEL>", "one\t11\t.\tN\t]two:2]N"),
    )
    reader = CandidateReader(path, CONTIGS, fetch)
    assert [variant.pos for variant in reader] == [1]
    assert f"{path}: 3 records at telomeres (POS 0, or behind the last base) skipped" in caplog.text


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
        (["one\t3\t.\tG\tT", "one\t2\t.\tC\tT"], r"one:2: the records are not sorted; run \(zgrep "),
        (["one\t3\t.\tG\tT", "two\t1\t.\tG\tT", "one\t2\t.\tC\tT"], r"one:2: the records are not sorted"),
        (["one\t11\t.\tN\tT"], r"one:11: outside one, which has 10 bases"),
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


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark(tmp_path, pack):
    path = tmp_path / "x.vcf"
    path.write_bytes(pack(BOM_UTF8 + Path(write(path, "one\t2\t.\tC\tT")).read_bytes()))
    assert [one.pos for one in read(str(path))] == [1]
    assert RecordLines(str(path), "").samples() == ()


def test_a_byte_order_mark_before_calls(tmp_path):
    path = tmp_path / "x.vcf"
    path.write_bytes(BOM_UTF8 + Path(write(path, "one\t2\t.\tC\tT")).read_bytes())
    with pytest.raises(InputError, match=r"x\.vcf: begins with a byte order mark; run tail -c \+4 "):
        CalledSites(str(path))


def test_a_folder_has_no_calls(tmp_path):
    with pytest.raises(InputError, match="not a VCF or BCF file"):
        CalledSites(str(tmp_path))


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
