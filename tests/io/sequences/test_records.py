"""FASTA, FASTQ and profiles for `forward`."""

from __future__ import annotations

import gzip

import pytest

from pairhmm.errors import InputError
from pairhmm.io.sequences.records import read_profiles, read_sequences


def test_fastq_gzipped(tmp_path):
    path = tmp_path / "x.fq.gz"
    with gzip.open(path, "wt") as out:
        out.write("@r1 comment\nacgu\n+\n!I5~\n")
    (record,) = read_sequences(path)
    assert (record.name, record.codes.tolist()) == ("r1", [0, 1, 2, 3])
    assert record.quality.tolist() == [0, 40, 20, 93]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">h1\nACGT\n>h2\nAC?T\n", r"h2: letter '\?' at position 3 is not an IUPAC base"),
        (">h1\n>h2\nACGT\n", "h1: empty sequence"),
        ("no sequences here\n", "no FASTA or FASTQ record"),
        ("", "no FASTA or FASTQ record"),
        ("@r1\nACGT\n+\nII\n", "cut off"),
    ],
)
def test_bad_sequences(tmp_path, text, message):
    path = tmp_path / "x.fa"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_sequences(path))


def test_profiles(tmp_path):
    path = tmp_path / "x.profile"
    path.write_text(">p1 x\n1 0 0 0\n.25 .25 .25 .25\n\n>p2\n0 0 0 1\n")
    (first, one), (second, two) = read_profiles(path)
    assert (first, second) == ("p1", "p2")
    assert (one.shape, two.tolist()) == ((2, 4), [[0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">p\n1 0 0 0\n.5 .5 .5 0\n", "p: row 2 sums to 1.5 instead of 1; normalise the row"),
        (">p\n1 0 0\n", "line 2: not four numbers"),
        ("1 0 0 0\n", "line 1: numbers before the first >name"),
        (">p\n>q\n1 0 0 0\n", "p: empty profile"),
        ("", "no profile in it"),
    ],
)
def test_bad_profiles(tmp_path, text, message):
    path = tmp_path / "x.profile"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_profiles(path))
