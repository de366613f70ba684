"""A damaged index of a FASTA is made anew: it never gives other contigs or other bases."""

import os

import numpy as np
import pysam
import pytest

from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.fasta_index import why_unfit

LATER = (4e9, 4e9)
LINE_ENDS = {"plain": "\n", "packed": "\n", "CRLF": "\r\n"}


def contigs_of(rng, count, length=None):
    """Contigs of random bases, whose lengths may all be the same."""
    return {
        f"chr{number}": "".join(rng.choice(list("ACGT"), length or int(rng.integers(30, 400))))
        for number in range(1, count + 1)
    }


def write_fasta(path, contigs, width=40, end="\n", description=" of a test"):
    """Lines of so many bases; gives the index that samtools makes."""
    lines = [
        line
        for name, bases in contigs.items()
        for line in (f">{name}{description}", *(bases[at : at + width] for at in range(0, len(bases), width)))
    ]
    text = "".join(line + end for line in lines).encode()
    if path.suffix == ".gz":
        with pysam.BGZFile(str(path), "wb", index=None) as out:
            out.write(text)
    else:
        path.write_bytes(text)
    pysam.faidx(str(path))
    return path.with_name(path.name + ".fai")


def damaged(rng, sound):
    """A flipped bit or two, another digit, a line that is left out, or two names in each other's place."""
    data, lines = bytearray(sound), sound.splitlines(keepends=True)
    kind = int(rng.integers(6))
    if kind == 0:
        del lines[int(rng.integers(len(lines)))]
        return b"".join(lines)
    if kind == 1:
        parts = [line.split(b"\t", 1) for line in lines]
        parts[0][0], parts[-1][0] = parts[-1][0], parts[0][0]
        return b"\n".join(b"\t".join(part).rstrip(b"\n") for part in parts) + b"\n"
    if kind in (2, 3):
        digits = [at for at, byte in enumerate(data) if chr(byte).isdigit()]
        data[digits[int(rng.integers(len(digits)))]] = ord("0") + int(rng.integers(10))
        return bytes(data)
    for _ in range(kind - 3):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


@pytest.mark.parametrize("length", [None, 240])
@pytest.mark.parametrize("kind", LINE_ENDS)
def test_damage_gives_no_other_bases(tmp_path, kind, length):
    rng = np.random.default_rng(41)
    contigs = contigs_of(rng, 4, length)
    path = tmp_path / ("genome.fa.gz" if kind == "packed" else "genome.fa")
    index = write_fasta(path, contigs, end=LINE_ENDS[kind])
    sound = index.read_bytes()
    for _ in range(200):
        index.write_bytes(damaged(rng, sound))
        os.utime(index, LATER)
        with Reference(path) as genome:
            assert {name: genome.fetch(name, 0, size) for name, size in genome.contigs.items()} == contigs


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("description", ["", " of a test", "\tof a test", " of a long description" * 200])
def test_sound_indexes_fit(tmp_path, description, end):
    contigs = contigs_of(np.random.default_rng(3), 3) | {"short": "A", "full": "ACGT" * 20}
    for width in (1, 40, 500):
        path = tmp_path / f"{width}.fa"
        write_fasta(path, contigs, width, end, description)
        assert why_unfit(str(path)) is None
    # The last line end may be missing.
    path.write_bytes(path.read_bytes().rstrip())
    pysam.faidx(str(path))
    assert why_unfit(str(path)) is None


@pytest.mark.parametrize(
    "text",
    [
        ">a\nACGT\nAC\n>b\nACGTAC\n>a\nACG\n>c\nACGT\n>a\nAC\n",
        ">none\n>a\nACGT\nAC\n>other\n>b\nAC\n",
        "\n>a\nACGT\nAC\n\n\n>b\nAC\n\n",
    ],
    ids=["names that come twice", "no bases", "blank lines"],
)
def test_what_samtools_leaves_out(tmp_path, text, caplog):
    path = tmp_path / "genome.fa"
    path.write_text(text)
    pysam.faidx(str(path))
    assert why_unfit(str(path)) is None
    said = f"{path}: a: more than one contig of this name: the first is used"
    expected = [said] if text.count(">a") > 1 else []
    assert caplog.messages == expected
    os.remove(f"{path}.fai")
    caplog.clear()
    Reference(path)
    assert caplog.messages[1:] == expected


def test_every_record_of_an_assembly_is_looked_up(tmp_path):
    rng = np.random.default_rng(8)
    index = write_fasta(tmp_path / "genome.fa", contigs_of(rng, 1000))
    index.write_bytes(index.read_bytes().replace(b"\nchr778\t", b"\nchr779\t"))
    assert "does not fit" in why_unfit(str(tmp_path / "genome.fa"))
