"""Reads' own indel qualities (tags BI and BD), as both readers take them."""

from __future__ import annotations

import numpy as np
import pysam
import pytest

from pairhmm.alignments.blocks import NO_INDEL_QUALITY, ReadBlock
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import ReadSelection
from pairhmm.errors import InputError
from pairhmm.sequences.fasta import Reference

LENGTH, READ = 400, 10
RIGHT = "~!IJKLMNOP"
TAGS = ((), ("BI", "BD"), ("BI",), ("BD",), ("BI", "BD"), ())


@pytest.fixture(scope="module")
def fasta(tmp_path_factory):
    path = tmp_path_factory.mktemp("indel-tags") / "ref.fa"
    path.write_text(f">one\n{'ACGT' * (LENGTH // 4)}\n")
    pysam.faidx(str(path))
    return path


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
    tags = [valued(names, number) for number, names in enumerate(TAGS)]
    blocks = blocks_of(write(tags, kind), fasta, chunk_size=chunk_size)
    whole = ReadBlock.concatenate(blocks)
    expected = np.concatenate([qualities(own) for own in tags], axis=1)
    np.testing.assert_array_equal(whole.indel_quals, expected)
    taken = whole.take(np.array([4, 0]))
    np.testing.assert_array_equal(taken.indel_quals, np.concatenate([qualities(tags[4]), qualities(tags[0])], axis=1))
    assert taken.indel_quals.dtype == np.uint8
    if chunk_size == 1:
        assert [block.indel_quals is None for block in blocks] == [not names for names in TAGS]


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
    rule = "its tags BI and BD are not a quality for each base; repair them, or give --no-indel-tags"
    assert str(raised.value) == f"{path}: read r1: {rule}"
    assert len(blocks_of(path, fasta, indel_tags=False)[0]) == 2
