"""Regions as users write them."""

import gzip
from pathlib import Path

import pytest

from pairhmm.errors import InputError
from pairhmm.sequences.intervals import Interval, parse_region, read_intervals

CONTIGS = {"chr1": 5000, "HLA-A*01:01": 300, "chr2": 100}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("chr1", ("chr1", 0, 5000)),
        ("chr1:1-10", ("chr1", 0, 10)),
        ("chr1:1,000-2,000", ("chr1", 999, 2000)),
        ("chr1:100", ("chr1", 99, 100)),
        ("chr1:1,000", ("chr1", 999, 1000)),
        ("chr1:100-", ("chr1", 99, 5000)),
        ("chr1:4990-6000", ("chr1", 4989, 5000)),
        ("HLA-A*01:01", ("HLA-A*01:01", 0, 300)),
        ("HLA-A*01:01:5-6", ("HLA-A*01:01", 4, 6)),
        ("{HLA-A*01:01}:5", ("HLA-A*01:01", 4, 5)),
        ("{chr1}", ("chr1", 0, 5000)),
        ("{chr1}:1-10", ("chr1", 0, 10)),
        ("{chr1}:4,990-", ("chr1", 4989, 5000)),
    ],
)
def test_parse(text, expected):
    assert parse_region(text, CONTIGS) == Interval(*expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chr3:1-2", "no contig 'chr3'"),
        ("chr1:5-4", "not an interval"),
        ("chr1:0-4", "not an interval"),
        ("{chr1}:5-4", "not an interval"),
        ("chr1:,", "not an interval"),
        ("{chr3}:5", "no contig 'chr3'"),
        ("{chr1:5-6", "no contig '{chr1'"),
        ("chr1:6000-7000", "outside chr1, which has 5000 bases"),
        ("chr1:5001", "outside chr1, which has 5000 bases"),
        ("chr1:5001-", "outside chr1, which has 5000 bases"),
        ("chr1:a-b", "not an interval"),
        ("chr1:1e3-2e3", "not an interval"),
        ("chr1 5 10", "not an interval"),
        ("HLA-A*01:01:5-x", "not an interval"),
        ("Chr1:5-10", "no contig 'Chr1'; the reference names it 'chr1'"),
    ],
)
def test_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_region(text, CONTIGS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("chr1:4990-10", (4989, 5010)),
        ("chr1:4990-5010", (4989, 5010)),
        ("chr1:4990-", (4989, 5000)),
        ("chr1:5000", (4999, 5000)),
        ("chr1:3-90000", (2, 5002)),
    ],
)
def test_regions_over_the_origin_of_a_circle(text, expected):
    assert parse_region(text, CONTIGS, circles=["chr1"])[1:] == expected


@pytest.mark.parametrize("text", ["chr2:90-10", "chr1:5-0", "chr1:0-5", "chr1:5001-10", "chr1:3-2"])
def test_regions_that_a_circle_does_not_have(text):
    with pytest.raises(InputError, match=r"not an interval|outside chr1|write chr1 for the whole circle"):
        parse_region(text, CONTIGS, circles=["chr1"])


AMBIGUOUS = {"1": 1000, "1:100-400": 600, "1:7": 50, "{1}": 9}


@pytest.mark.parametrize("text", ["1:100-400", "1:7"])
def test_a_text_with_two_readings(text):
    """Either reading can be had with the braces that the message names."""
    with pytest.raises(InputError, match="is the name of a contig, and a part of contig '1'") as error:
        parse_region(text, AMBIGUOUS)
    whole, part = error.value.cure.removeprefix("write ").replace("'", "").split(" or ")
    assert parse_region(whole, AMBIGUOUS) == Interval(text, 0, AMBIGUOUS[text])
    assert parse_region(part, AMBIGUOUS) == parse_region(text, {"1": 1000})


def test_a_contig_with_braces():
    assert parse_region("{1}", AMBIGUOUS) == Interval("1", 0, 1000)
    assert parse_region("{{1}}:2", AMBIGUOUS) == Interval("{1}", 1, 2)
    assert parse_region("{1}:3", {"{1}": 9}) == Interval("{1}", 2, 3)


def test_bed_is_merged_in_contig_order(tmp_path):
    path = tmp_path / "x.bed"
    path.write_text("\ufefftrack x\nchr2\t0\t5\nchr1\t10\t20\tname\n#c\n\nchr1\t15\t30\nchr1\t30\t40\n")
    assert read_intervals(path, CONTIGS) == [Interval("chr1", 10, 40), Interval("chr2", 0, 5)]


def test_bed_that_is_gzipped(tmp_path):
    path = tmp_path / "x.bed.gz"
    path.write_bytes(gzip.compress(b"chr1\t10\t20\r\n"))
    assert read_intervals(path, CONTIGS) == [Interval("chr1", 10, 20)]


def test_headers_of_bed_are_whole_words(tmp_path):
    path = tmp_path / "x.bed"
    path.write_text("browser position track1\ntrack name=x\ntrack1\t10\t20\n")
    assert read_intervals(path, {"track1": 100}) == [Interval("track1", 10, 20)]


@pytest.mark.parametrize("text", ["", "#chrom\tstart\tend\n", "track x\n\n"])
def test_bed_without_a_region_is_announced(tmp_path, caplog, text):
    path = tmp_path / "x.bed"
    path.write_text(text)
    assert read_intervals(path, CONTIGS) == []
    assert f"{path}: no region in it, so that nothing is asked for" in caplog.text


@pytest.mark.parametrize("change", [lambda path: None, Path.mkdir, lambda path: path.write_bytes(b"\xff\xfe\n")])
def test_each_bed_that_can_not_be_read_has_its_own_message(tmp_path, change):
    path = tmp_path / "x.bed"
    change(path)
    expected = {"missing": "No such file", "folder": "Is a directory", "binary": "not a text file"}
    kind = "missing" if not path.exists() else "folder" if path.is_dir() else "binary"
    with pytest.raises(InputError, match=expected[kind]):
        read_intervals(path, CONTIGS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chr1\t5\n", "line 1: not `chrom start end`"),
        ("chr9\t5\t6\n", "no contig 'chr9'"),
        ("chr1\t1\t5\nchr1\t5\t5\n", "line 2: 5-5 is an interval without a base; BED is 0-.*: base 5 is 4 5; take 1"),
        ("chr1\t0\t0\n", "0-0 is an interval without a base; .*: base 1 is 0 1"),
        ("chr1\t9\t5\n", "9-5 is an interval without a base"),
        ("chr2\t5\t101\n", "not inside chr2, which has 100 bases"),
    ],
)
def test_bad_bed(tmp_path, text, message):
    path = tmp_path / "x.bed"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_intervals(path, CONTIGS)


def test_intervals_of_a_bed_over_the_origin(tmp_path):
    path = tmp_path / "x.bed"
    path.write_text("chr2\t90\t110\n")
    assert read_intervals(path, CONTIGS, ["chr2"]) == [("chr2", 90, 110)]
    for text in ("chr2\t100\t110\n", "chr2\t90\t191\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="not inside chr2"):
            read_intervals(path, CONTIGS, ["chr2"])


PICARD = "@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:1000\nchr1\t11\t20\t+\tone\n"
VCF = "##fileformat=VCFv4.2\n#CHROM\nchr1\t11\t.\tACGTA\tA\t9\t.\t.\nchr1\t41\t.\tA\t<NON_REF>\t.\t.\tEND=50;X=1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [(PICARD, [("chr1", 10, 20)]), (VCF, [("chr1", 10, 15), ("chr1", 40, 50)])],
    ids=["interval list", "VCF"],
)
def test_other_files_of_intervals(tmp_path, text, expected):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert read_intervals(path, CONTIGS) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@HD\nchr1\t0\t5\t+\tx\n", "line 2: not `chrom start end strand name`; .* 1-based"),
        ("@HD\nchr2\t5\t101\t+\tx\n", "not inside chr2, which has 100 bases"),
        ("##fileformat=VCFv4.2\nchr1\tx\n", "line 2: not a record of a VCF"),
        ("##fileformat=VCFv4.2\nchr9\t1\t.\tA\tC\t.\t.\t.\n", "no contig 'chr9'"),
    ],
)
def test_bad_files_of_intervals(tmp_path, text, message):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_intervals(path, CONTIGS)
