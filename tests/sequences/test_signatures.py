"""Signatures of FASTA: names, and what their headers say."""

import gzip

import pytest

from pairhmm.errors import InputError
from pairhmm.sequences import signatures
from pairhmm.sequences.signatures import read_signatures

HEADERS = {
    "NC_1|kraken:taxid|11676 Human immunodeficiency virus 1": ("Human immunodeficiency virus 1", 11676),
    "x": ("", 0),
    "y\tof a tab taxid=7": ("of a tab taxid=7", 7),
    "z OX=12 >inner": ("OX=12 >inner", 12),
    "w nontaxid=5": ("nontaxid=5", 0),
}


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_headers_give_titles_and_taxa(tmp_path, monkeypatch, chunk, end):
    monkeypatch.setattr(signatures, "_CHUNK", chunk)
    path = tmp_path / "s.fa.gz"
    path.write_bytes(gzip.compress("".join(f">{text}{end}ACGTAC{end}GT{end}" for text in HEADERS).encode()))
    known = read_signatures(path)
    assert [(known.title(index), known.taxid(index)) for index in range(len(known))] == list(HEADERS.values())
    assert known.names[0] == "NC_1|kraken:taxid|11676"


def test_fastq_has_no_titles(tmp_path):
    path = tmp_path / "s.fq"
    path.write_text("@a some\nACGT\n+\n>III\n@b\nAC\n+\n>x\n")
    known = read_signatures(path)
    assert [known.title(index) for index in range(2)] == ["", ""] and known.taxid(0) == 0


def test_alignments_are_no_signatures(tmp_path):
    path = tmp_path / "reads.bam"
    path.write_bytes(gzip.compress(b"BAM\1\0\0\0\0\0\0\0\0"))
    with pytest.raises(InputError, match=r"reads\.bam: is BAM or CRAM; give FASTA or FASTQ"):
        read_signatures(path)
