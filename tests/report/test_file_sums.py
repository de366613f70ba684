"""Sizes and checksums of a report's files: of all of a file, or of something small of it, which is named."""

import hashlib
import os

import pysam
import pytest

from pairhmm.report import file_sums
from pairhmm.report.file_sums import sum_of


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_has_its_own_checksum(tmp_path):
    path = tmp_path / "calls.vcf"
    path.write_bytes(b"x" * 2_500_000)
    assert sum_of(str(path)) == (2_500_000, sha256(b"x" * 2_500_000), "")


@pytest.fixture
def large(monkeypatch, tmp_path):
    monkeypatch.setattr(file_sums, "MOST_SUMMED", 3000)
    monkeypatch.setattr(file_sums, "HEAD", 1000)
    path = tmp_path / "ref.fa"
    path.write_bytes(bytes(range(200)) * 20)
    return path


def test_a_large_file_has_that_of_its_index_or_of_its_beginning(large, tmp_path):
    head = bytes(range(200)) * 5
    assert sum_of(str(large)) == (4000, sha256(head), "its first 1,000 bytes")
    (tmp_path / "ref.fa.fai").write_bytes(b"chr1\t1")
    assert sum_of(str(large)) == (4000, sha256(b"chr1\t1"), "its index ref.fa.fai")


def test_the_index_of_alignments_is_found_by_either_name(monkeypatch, tmp_path):
    monkeypatch.setattr(file_sums, "MOST_SUMMED", 100)
    path = tmp_path / "a.bam"
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": f"c{number}", "LN": 9} for number in range(99)]}
    pysam.AlignmentFile(str(path), "wb", header=header).close()
    assert path.stat().st_size > 100
    (tmp_path / "a.bai").write_bytes(b"index")
    assert sum_of(str(path))[1:] == (sha256(b"index"), "its index a.bai")


def test_a_pipe_has_none(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert sum_of(str(tmp_path / "pipe")) == (None, "", "") == sum_of("-")
