"""Tags of any type have the text that pysam gives them; those without a text are an error that names the read."""

from __future__ import annotations

import struct

import pysam
import pytest

from pairhmm.alignments.native_reader import tag_text
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import ReadSelection
from pairhmm.errors import InputError
from pairhmm.sequences.fasta import Reference

TEXTS = (
    *(b"Ax", b"A\0", b"Z\0", b"Zab\0", b"Z\xc3\xa4\0", b"H1AE3\0"),
    *(b"c\xff", b"C\xff", b"s\xff\x80", b"S\xff\x80", b"i\xff\0\0\x80", b"I\xff\0\0\x80"),
    *(b"f" + struct.pack("<f", 1.1), b"d" + struct.pack("<d", 1.1)),
    *(b"Bc\1\0\0\0\xff", b"BC\2\0\0\0\xff\1", b"Bs\1\0\0\0\xff\xff", b"BS\1\0\0\0\xff\xff", b"Bi\0\0\0\0"),
    *(b"BI\1\0\0\0\xff\0\0\x80", b"Bf\1\0\0\0" + struct.pack("<f", 1.1)),
)
NO_TEXTS = (b"A\xc8", b"A\xff", b"Z\xc3\x28\0", b"BA\1\0\0\0x", b"Bd\1\0\0\0" + struct.pack("<d", 1.1))
LENGTH = 400


@pytest.fixture(scope="module")
def fasta(tmp_path_factory):
    path = tmp_path_factory.mktemp("tags") / "ref.fa"
    path.write_text(f">one\n{'ACGT' * (LENGTH // 4)}\n")
    pysam.faidx(str(path))
    return path


@pytest.fixture
def bam(tmp_path):
    """Makes a file of a read with a tag, given by its name and the bytes of its type and value."""

    def write(name, value, groups=()):
        header = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": "one", "LN": LENGTH}], "RG": list(groups)})
        path = str(tmp_path / "x.bam")
        with pysam.AlignmentFile(path, "wb", header=header) as out:
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start, read.flag = "r0", 0, 5, 0
            read.query_sequence, read.cigartuples, read.mapping_quality = "ACGT", [(0, 4)], 60
            read.query_qualities = pysam.qualitystring_to_array("IIII")
            out.write(read)
        with pysam.BGZFile(path) as file:
            data = file.read()
        at = data.index(b"r0\0") - 36
        record = data[at + 4 :] + name.encode() + value
        with pysam.BGZFile(path, "wb") as file:
            file.write(data[:at] + struct.pack("<i", len(record)) + record)
        return path

    return write


@pytest.mark.parametrize("value", TEXTS, ids=repr)
def test_texts_are_those_of_pysam(bam, value):
    with pysam.AlignmentFile(bam("XX", value)) as file:
        assert tag_text(value) == str(next(iter(file)).get_tag("XX"))


def test_a_tag_that_is_missing_has_no_text():
    assert tag_text(b"") == ""


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
def test_what_is_no_text_is_refused(value):
    with pytest.raises(ValueError, match=r"decode|an array of type"):
        tag_text(value)


def error_of(path, fasta, families="none"):
    """What a file is refused with."""
    with (
        Reference(fasta) as reference,
        AlignmentReader([path], reference) as reader,
        pytest.raises(InputError) as raised,
    ):
        list(read_blocks(reader.sources, ["one"], ReadSelection(0, 0), families=families))
    return str(raised.value)


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
@pytest.mark.parametrize(("tag", "families"), [("MI", "MI"), ("MC", "position")])
def test_the_error_names_the_read_and_the_tag(bam, fasta, value, tag, families):
    error = error_of(path := bam(tag, value), fasta, families)
    assert error == f"{path}: read r0: its tag {tag} is not text; it is damaged: make it again"


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
def test_the_error_names_the_read_of_a_group(bam, fasta, value):
    path = bam("RG", value, [{"ID": name, "SM": name} for name in "ab"])
    assert error_of(path, fasta) == f"{path}: read r0: its read group is not text; run samtools addreplacerg"
