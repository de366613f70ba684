"""Regions as users write them."""

from __future__ import annotations

import pytest

from pairhmm.errors import InputError
from pairhmm.io.sequences.intervals import Interval, parse_region, read_bed

CONTIGS = {"chr1": 5000, "HLA-A*01:01": 300, "chr2": 100}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("chr1", ("chr1", 0, 5000)),
        ("chr1:1-10", ("chr1", 0, 10)),
        ("chr1:1,000-2,000", ("chr1", 999, 2000)),
        ("chr1:100", ("chr1", 99, 5000)),
        ("chr1:100-", ("chr1", 99, 5000)),
        ("chr1:4990-6000", ("chr1", 4989, 5000)),
        ("HLA-A*01:01", ("HLA-A*01:01", 0, 300)),
        ("HLA-A*01:01:5-6", ("HLA-A*01:01", 4, 6)),
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
        ("chr1:6000-7000", "outside chr1, which has 5000 bases"),
        ("chr1:a-b", "no contig"),
    ],
)
def test_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_region(text, CONTIGS)


def test_bed_is_merged_in_contig_order(tmp_path):
    path = tmp_path / "x.bed"
    path.write_text("track x\nchr2\t0\t5\nchr1\t10\t20\tname\n#c\n\nchr1\t15\t30\nchr1\t30\t40\n")
    assert read_bed(path, CONTIGS) == [Interval("chr1", 10, 40), Interval("chr2", 0, 5)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chr1\t5\n", "line 1: not `chrom start end`"),
        ("chr9\t5\t6\n", "no contig 'chr9'"),
        ("chr2\t5\t101\n", "not inside chr2, which has 100 bases"),
    ],
)
def test_bad_bed(tmp_path, text, message):
    path = tmp_path / "x.bed"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_bed(path, CONTIGS)
