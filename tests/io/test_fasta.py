"""The reference and its index."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from pairhmm.errors import InputError
from pairhmm.io.fasta import Reference


@pytest.fixture
def fasta(tmp_path):
    path = tmp_path / "ref.fa"
    path.write_text(">one\nacgtn\nACGTR\n>two\nGGGG\n")
    return path


def test_fetch_is_upper_case_and_clamped(fasta):
    with Reference(fasta) as reference:
        assert reference.contigs == {"one": 10, "two": 4}
        assert reference.fetch("one", 0, 5) == "ACGTN"
        assert reference.fetch("one", -5, 2) == "AC"
        assert reference.fetch("two", 2, 99) == "GG"
        assert reference.fetch("two", 9, 12) == ""


def test_index_is_made_beside_the_file(fasta, caplog):
    Reference(fasta).close()
    assert (fasta.parent / "ref.fa.fai").exists()
    assert "has no index: made" in caplog.text


def test_outdated_index_is_made_anew(fasta, caplog):
    Reference(fasta).close()
    later = time.time() + 10
    fasta.write_text(">one\nACGTACGTACGTACGT\n")
    os.utime(fasta, (later, later))
    with Reference(fasta) as reference:
        assert reference.contigs == {"one": 16}
    assert "older than its FASTA" in caplog.text


def test_read_only_folder(fasta, monkeypatch, caplog):
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))
    with Reference(fasta) as reference:
        assert reference.fetch("two", 0, 4) == "GGGG"
    assert not (fasta.parent / "ref.fa.fai").exists()
    assert "for this run only" in caplog.text


def test_contigs_of_another_file(fasta):
    with Reference(fasta) as reference:
        reference.check_contigs("x.bam", {"one": 10, "two": None})
        with pytest.raises(InputError, match=r"ref\.fa: contig three: not in the reference, but in x\.bam"):
            reference.check_contigs("x.bam", {"three": 5})
        with pytest.raises(InputError, match=r"contig two: 9 bases in x\.bam and 4 in the reference"):
            reference.check_contigs("x.bam", {"two": 9})


def test_missing(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Reference(tmp_path / "none.fa")


def test_gzip_is_not_bgzip(fasta):
    import gzip

    packed = fasta.parent / "packed.fa.gz"
    with open(fasta, "rb") as plain, gzip.open(packed, "wb") as out:
        shutil.copyfileobj(plain, out)
    with pytest.raises(InputError, match="bgzip"):
        Reference(packed)
