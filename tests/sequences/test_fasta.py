"""The reference and its index."""

import gzip
import os
import random
import resource
import shutil
import time
from pathlib import Path

import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.sequences.fasta import Reference


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; give the reference FASTA with reference$"),
        (gzip.compress(b">one\nACGT\n", mtime=0), "can't be indexed as FASTA; run gunzip -c"),
        (None, "is a folder; give the reference FASTA with reference$"),
    ],
)
def test_what_gets_no_index(tmp_path, caplog, content, message):
    """No message says that one was made."""
    path = tmp_path / "ref.fa"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Reference(path)
    assert caplog.messages == []
    assert list(tmp_path.iterdir()) == [path]


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


def test_missing(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Reference(tmp_path / "none.fa")


def test_a_byte_order_mark(tmp_path):
    (tmp_path / "x.fa").write_text("\ufeff>q\nACGT\n")
    with pytest.raises(InputError, match=r"it begins with a byte order mark: run tail -c \+4 "):
        Reference(tmp_path / "x.fa")


def test_gzip_is_not_bgzip(fasta):
    import gzip

    packed = fasta.parent / "packed.fa.gz"
    with open(fasta, "rb") as plain, gzip.open(packed, "wb") as out:
        shutil.copyfileobj(plain, out)
    with pytest.raises(InputError, match="bgzip"):
        Reference(packed)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.splitlines(keepends=True)[0],
        lambda text: text[:-1],
        lambda text: text[:-4],
        lambda text: "",
        lambda text: text.replace("10\t", "12\t"),
        lambda text: text.replace("\t", " "),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_an_index_that_does_not_fit_is_made_anew(fasta, caplog, damage, packed):
    if packed:
        pysam.tabix_compress(str(fasta), f"{fasta}.gz")
        fasta = fasta.with_name("ref.fa.gz")
    Reference(fasta).close()
    index = fasta.with_name(f"{fasta.name}.fai")
    index.write_text(damage(index.read_text()))
    caplog.clear()
    with Reference(fasta) as reference:
        assert reference.contigs == {"one": 10, "two": 4}
        assert reference.fetch("two", 0, 4) == "GGGG"
    assert "does not fit its FASTA (it may be cut off): made anew" in caplog.text
    caplog.clear()
    Reference(fasta).close()
    assert caplog.text == ""


def test_a_checksum_is_compared_where_an_index_is_looked_up(fasta):
    pysam.tabix_compress(str(fasta), f"{fasta}.gz")
    fasta = fasta.with_name("ref.fa.gz")
    Reference(fasta).close()
    data = bytearray(fasta.read_bytes())
    # The block is followed by the empty one, of 28 bytes; its own last 8 are checksum and size.
    data[-28 - 8] ^= 1
    fasta.write_bytes(data)
    for index in (".fai", ".gzi"):
        fasta.with_name(fasta.name + index).touch()
    with pytest.raises(InputError, match="can't be indexed as FASTA; is it damaged"):
        Reference(fasta)


def test_a_gzi_that_is_missing_or_cut(fasta, caplog):
    pysam.tabix_compress(str(fasta), f"{fasta}.gz")
    fasta = fasta.with_name("ref.fa.gz")
    Reference(fasta).close()
    index = fasta.with_name("ref.fa.gz.gzi")
    whole = index.read_bytes()
    for damaged in (None, whole[:-1], whole + b"\0", b""):
        index.unlink()
        if damaged is not None:
            index.write_bytes(damaged)
        with Reference(fasta) as reference:
            assert reference.fetch("two", 0, 4) == "GGGG"
        assert index.read_bytes() == whole


@pytest.mark.parametrize("text", [">one\r\nACGT\r\nAC\r\n>two\r\nGGGG\r\n", ">one\nACGTAC\n\n\n>two\nGGGG"])
def test_an_index_that_fits_is_kept(fasta, caplog, text):
    fasta.write_text(text)
    Reference(fasta).close()
    caplog.clear()
    Reference(fasta).close()
    assert caplog.text == ""


def test_a_fasta_that_was_cut_is_noticed(fasta):
    Reference(fasta).close()
    fasta.write_text(fasta.read_text()[:15])
    os.utime(fasta, (0, 0))
    with Reference(fasta) as reference:
        assert reference.contigs == {"one": 9}


def test_a_full_disk_leaves_no_index(fasta, capfd):
    fasta.write_text("".join(f">contig{number}\nACGT\n" for number in range(9000)))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(InputError, match=r"ref\.fa\.fai: can't be written: File too large; free some space"):
            Reference(fasta)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(fasta.parent) == ["ref.fa"]
    assert capfd.readouterr().err == ""


def test_a_read_only_index_is_not_replaced(fasta, caplog):
    index = fasta.with_name("ref.fa.fai")
    index.write_text("another's\n")
    index.chmod(0o444)
    with Reference(fasta) as reference:
        assert reference.fetch("two", 0, 4) == "GGGG"
    assert index.read_text() == "another's\n"
    assert "for this run only" in caplog.text


def test_a_gzi_whose_offsets_are_wrong_is_made_anew(tmp_path):
    """Bases a few places further on were read in their stead."""
    bases = "".join(random.Random(1).choices("ACGT", k=400_000))
    path = tmp_path / "x.fa.gz"
    with pysam.BGZFile(str(path), "wb", index=None) as out:
        out.write(f">one\n{bases}\n".encode())
    pysam.faidx(str(path))
    gzi = bytearray(Path(f"{path}.gzi").read_bytes())
    sound = bytes(gzi)
    assert int.from_bytes(gzi[:8], "little") > 3
    gzi[8 + 16 + 8] ^= 4
    Path(f"{path}.gzi").write_bytes(gzi)
    os.utime(f"{path}.gzi")
    with Reference(path) as reference:
        assert reference.fetch("one", 140_000, 140_100) == bases[140_000:140_100]
    assert Path(f"{path}.gzi").read_bytes() == sound
