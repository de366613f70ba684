"""FASTA and FASTQ, read."""

import gzip

import pytest

from pairhmm.errors import InputError
from pairhmm.sequences.fastx import read_sequences


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
