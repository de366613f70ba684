"""The molecule of a read: by its tag, or by the ends that both mates know of."""

from types import SimpleNamespace

import pysam
import pytest

from pairhmm.alignments.molecules import molecule_by_position, require_tags, without_strand
from pairhmm.errors import InputError
from tests.alignments.by_pysam import template_of

HEADER = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": "a", "LN": 10_000}, {"SN": "b", "LN": 10_000}]})


def read(start, cigar, flag=0, **fields):
    one = pysam.AlignedSegment(HEADER)
    one.query_name, one.reference_id, one.reference_start, one.flag = "r", 0, start, flag
    one.cigarstring = cigar
    for name, value in fields.items():
        if len(name) == 2:
            one.set_tag(name, value)
        else:
            setattr(one, name, value)
    return one


def pair(left, right, *, mc=True, second_first=False, tlen=None):
    """A pair, forward then reverse: (start, CIGAR) each. TLEN spans the aligned bases."""
    forward, reverse = (0x61, 0x91) if not second_first else (0xA1, 0x51)
    one, two = read(*left, forward), read(*right, reverse)
    size = two.reference_end - one.reference_start if tlen is None else tlen
    for mine, other, sign in ((one, two, 1), (two, one, -1)):
        mine.next_reference_id, mine.next_reference_start = 0, other.reference_start
        mine.template_length = sign * size
        if mc:
            mine.set_tag("MC", other.cigarstring)
    return one, two


def by_position(one):
    return molecule_by_position(template_of(one))


@pytest.mark.parametrize(
    ("tag", "molecule"),
    [("7", "7"), ("7/A", "7"), ("7/B", "7"), ("7/C", "7/C"), ("", "")],
)
def test_strands_of_a_molecule_are_one(tag, molecule):
    assert without_strand(tag) == molecule


def test_mates_have_the_same_molecule():
    """Clipped bases count, soft and hard, at the 5' ends alone."""
    plain = {by_position(one) for one in pair((100, "50M"), (160, "50M"))}
    clipped = {by_position(one) for one in pair((105, "3H2S40M5S"), (163, "7S40M2D3M2S"))}
    assert plain == clipped == {"100-210+"}
    assert {by_position(one) for one in pair((100, "50M"), (160, "50M"), second_first=True)} == {"100-210-"}
    assert {by_position(one) for one in pair((100, "50M"), (161, "50M"))} == {"100-211+"}


@pytest.mark.parametrize(("right", "tlen"), [((160, "50M"), None), ((90, "50M"), 40)], ids=["apart", "beyond"])
def test_without_mc_the_template_counts(right, tlen):
    """Also where the reverse mate begins before the forward one."""
    found = {by_position(one) for one in pair((100, "3S50M"), right, mc=False, tlen=tlen)}
    assert len(found) == 1
    assert found == ({"100-210+"} if tlen is None else {"100-140+"})


def test_single_reads_begin_and_end_where_they_are_aligned():
    assert by_position(read(100, "2S48M")) == by_position(read(98, "45M5S")) == "98-148+"
    assert by_position(read(98, "50M", 0x10)) == "98-148-"
    assert by_position(read(98, "49M")) == "98-147+"


def test_mates_elsewhere_tell_molecules_apart():
    same = {"next_reference_id": 1, "next_reference_start": 5}
    found = [by_position(read(98, "50M", 0x61, **{**same, **other})) for other in ({}, {}, {"next_reference_start": 6})]
    assert found[0] == found[1] != found[2]
    alone = read(98, "50M", 0x49, next_reference_id=0, next_reference_start=98)
    assert by_position(alone).startswith("98-148+")


class Block(SimpleNamespace):
    def __len__(self):
        return len(self.molecules)


def test_reads_must_not_all_lack_the_tag(caplog):
    assert list(require_tags([], "x.bam")) == []
    blocks = [Block(molecules=["", ""]), Block(molecules=["0:1", ""])]
    assert list(require_tags(blocks, "x.bam")) == blocks
    assert "3 of 4 reads have no tag MI: they join no family" in caplog.text
    with pytest.raises(InputError, match=r"x\.bam: none of 2 reads has the tag MI; group the reads"):
        list(require_tags(blocks[:1], "x.bam"))


def test_a_long_run_without_tags_stops_early():
    endless = (Block(molecules=[""] * 60_000) for _ in range(10))
    with pytest.raises(InputError, match="none of 120000 reads"):
        list(require_tags(endless, "x.bam"))
    assert len(list(endless)) == 8


SIDES = (9_950, "50M50S"), (0, "50S50M")


def test_ends_beyond_the_origin_of_a_circle():
    """A read over the origin has the same ends on whichever side its primary alignment lies."""
    before, behind = (template_of(read(start, cigar))._replace(circle=10_000) for start, cigar in SIDES)
    assert molecule_by_position(before) == molecule_by_position(behind) == "9950-50+"
    ends = [
        {molecule_by_position(template_of(one)._replace(circle=10_000)) for one in pair(side, (100, "100M"))}
        for side in SIDES
    ]
    assert ends[0] == ends[1] == {"200-9950+"}
