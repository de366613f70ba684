"""Tags: texts of any type as pysam gives them, and reads' own indel qualities (BI and BD). Wrong ones name the read."""

import struct

import numpy as np
import pysam
import pytest

from pairhmm.alignments.blocks import NO_INDEL_QUALITY, ReadBlock
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
LENGTH, READ = 400, 10
RIGHT = "~!IJKLMNOP"
INDEL_TAGS = ((), ("BI", "BD"), ("BI",), ("BD",), ("BI", "BD"), ())


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


@pytest.fixture
def write(tmp_path, fasta):
    """``write(tags, kind="bam")``: a file with a read for each list of tags, every second one reverse."""

    def made(tags, kind="bam"):
        header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": [{"SN": "one", "LN": LENGTH}]})
        path = str(tmp_path / f"x.{kind}")
        how = {"bam": "wb", "cram": "wc", "sam": "w"}[kind]
        with pysam.AlignmentFile(path, how, header=header, reference_filename=str(fasta)) as out:
            for number, own in enumerate(tags):
                read = pysam.AlignedSegment(header)
                read.query_name, read.flag = f"r{number}", 16 * (number % 2)
                read.reference_id, read.reference_start, read.mapping_quality = 0, 4 * number, 60
                read.query_sequence, read.cigartuples = "ACGTACGTAC", [(4, 2), (0, 8)]
                read.query_qualities = pysam.qualitystring_to_array("I" * READ)
                read.set_tags([("XA", "x" * number), *own, ("XB", [1, 2])])
                out.write(read)
        return path

    return made


def blocks_of(path, fasta, *, indel_tags=True, chunk_size=20_000):
    with Reference(fasta) as reference, AlignmentReader([path], reference) as reader:
        selection = ReadSelection(0, 0)
        return list(read_blocks(reader.sources, ["one"], selection, chunk_size, indel_tags=indel_tags))


def valued(names, number):
    """The tags of a read, whose values differ from those of other reads."""
    return [(name, RIGHT[number:] + RIGHT[:number] if name == "BI" else RIGHT[::-1]) for name in names]


def qualities(tags):
    """What a read has: two rows, each in the order of its bases as the file has them."""
    own = dict(tags)
    none = chr(33 + NO_INDEL_QUALITY) * READ
    return np.array([[ord(letter) - 33 for letter in own.get(name, none)] for name in ("BI", "BD")], dtype=np.uint8)


@pytest.mark.parametrize("chunk_size", [1, 2, 20_000])
@pytest.mark.parametrize("kind", ["bam", "cram", "sam"])
def test_reads_have_the_qualities_of_their_tags(write, fasta, kind, chunk_size):
    tags = [valued(names, number) for number, names in enumerate(INDEL_TAGS)]
    blocks = blocks_of(write(tags, kind), fasta, chunk_size=chunk_size)
    whole = ReadBlock.concatenate(blocks)
    expected = np.concatenate([qualities(own) for own in tags], axis=1)
    np.testing.assert_array_equal(whole.indel_quals, expected)
    taken = whole.take(np.array([4, 0]))
    np.testing.assert_array_equal(taken.indel_quals, np.concatenate([qualities(tags[4]), qualities(tags[0])], axis=1))
    assert taken.indel_quals.dtype == np.uint8
    if chunk_size == 1:
        assert [block.indel_quals is None for block in blocks] == [not names for names in INDEL_TAGS]


def test_they_are_not_kept_unless_they_are_asked_for_and_there(write, fasta):
    with_tags, without = [valued(("BI", "BD"), 1)], [valued((), 1)]
    (block,) = blocks_of(write(with_tags), fasta, indel_tags=False)
    assert block.indel_quals is None
    (block,) = blocks_of(write(without), fasta)
    assert block.indel_quals is None


@pytest.mark.parametrize("tag", ["BI", "BD"])
@pytest.mark.parametrize("wrong", ["I" * 9, "I" * 11, "IIII IIIII", "", 7, [40] * READ])
def test_wrong_tags_are_refused(write, fasta, tag, wrong):
    right = ("BI", "BD")
    path = write([valued(right, 1), [(name, wrong if name == tag else RIGHT) for name in right]])
    with pytest.raises(InputError) as raised:
        blocks_of(path, fasta)
    rule = "its tags BI and BD are not a quality for each base; repair them, or give indel_tags=False"
    assert str(raised.value) == f"{path}: read r1: {rule}"
    assert len(blocks_of(path, fasta, indel_tags=False)[0]) == 2
