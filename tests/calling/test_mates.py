"""Reads of one molecule become one profile, column by column along their alignments."""

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import FIRST, PAIRED, REVERSE, SECOND, mate_of
from pairhmm.calling.cut_reads import CutSlices, cut_bases
from pairhmm.calling.mates import Joiner
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.scoring import model_reads
from pairhmm.models.gatk import ERROR, GatkOptions
from pairhmm.models.profile import one_hot, preset
from pairhmm.sequences.arrays import Names
from pairhmm.sequences.letters import encode
from tests.calling.reads import aligned

M, I, D, S = 0, 1, 2, 4  # noqa: E741 (CIGAR's own letters)
MATES = PAIRED | FIRST, PAIRED | SECOND | REVERSE
MODEL = preset("normalised")


def read(start, bases, cigar=None, *, qual=20, **more):
    return aligned(start, bases, cigar, quality=qual, **more)


def block_of(reads):
    block = ReadBlock.from_alignments("c", reads)
    block.molecules = [one.molecule for one in reads]
    return block


def rows_of(block, slices, joined):
    """The rows of profiles, of base qualities as they are."""
    options = GatkOptions(cap_by_mapping_quality=False, base_quality_threshold=None)
    cut = cut_bases(block, slices)
    cut.joined = joined
    return model_reads(cut, options, MODEL)["profiles"]


def join(reads, join_mates=True, families="MI"):
    """The rows of each profile, what evidence says of them, and the joined reads. Reads are whole."""
    block = block_of(reads)
    slices = CutSlices(np.arange(len(reads)), np.zeros(len(reads), dtype=np.int64), np.diff(block.base_offset))
    joined, told = Joiner(MoleculeOptions(join_mates, families)).join(block, slices, [len(reads)])
    rows = rows_of(block, slices, joined).at_bases
    return np.split(rows, joined.offset[1:-1]), told, joined


def names_of(told):
    return list(Names(told.names, told.name_end))


def called(bases, qual=20):
    return one_hot(encode(bases), np.full(len(bases), ERROR[qual]))


def product(*rows):
    result = np.prod(rows, axis=0)
    return result / result.sum(axis=-1, keepdims=True)


def mates(*reads, name="r"):
    """Two reads as mates."""
    return [read(*one[:2], *one[2:], name=name, flag=flag) for one, flag in zip(reads, MATES, strict=True)]


def test_mates_that_overlap_become_one():
    (profile,), told, joined = join(mates((10, "ACGTAC"), (13, "TACGGA")))
    left, both, right = called("ACG"), called("TAC"), called("GGA")
    np.testing.assert_allclose(profile, np.concatenate([left, product(both, both), right]), rtol=1e-12)
    assert profile[3].max() > 1 - 4e-5 and profile[0].max() == pytest.approx(0.99)
    assert (names_of(told), told.start.tolist(), told.end.tolist(), told.length.tolist()) == (["r"], [10], [19], [9])
    assert told.reads.tolist() == [2] and mate_of(int(told.flag[0])) == 0 and joined.are_mates.tolist() == [True]


def test_disagreement_becomes_uncertainty():
    (profile,), _, _ = join(mates((10, "ACG"), (10, "ATG")))
    np.testing.assert_allclose(profile, product(called("ACG"), called("ATG")))
    np.testing.assert_allclose(profile[1, [1, 3]], 0.5, atol=0.005)


def test_the_better_call_wins():
    (profile,), _, _ = join([read(5, "AAA", flag=MATES[0], qual=40), read(5, "ACA", flag=MATES[1], qual=10)])
    assert profile[1].argmax() == 0


def test_an_n_says_nothing():
    (profile,), _, _ = join(mates((5, "ANA"), (5, "ACA")))
    np.testing.assert_allclose(profile[1], called("C")[0])


def test_mates_that_do_not_overlap_stay_two():
    reads = mates((10, "ACGT"), (14, "TTTT"))
    profiles, told, joined = join(reads)
    assert [len(one) for one in profiles] == [4, 4]
    assert not joined.are_mates.any()
    assert names_of(told) == ["r", "r"] and [mate_of(flag) for flag in told.flag.tolist()] == [1, 2]
    assert joined.apart == (0, 0, 0, 1) and joined.fragment.tolist() == [0, 0]


@pytest.mark.parametrize("second", [{"name": "q"}, {"sample": 1}, {"flag": MATES[0]}], ids=str)
def test_other_reads_stay_apart(second):
    """Another name, another sample, or the same end of the molecule, as a supplementary alignment has it."""
    reads = [read(3, "ACGT", flag=MATES[0]), read(3, "ACGT", **{"flag": MATES[1], **second})]
    assert len(join(reads)[0]) == 2


def test_mates_are_joined_only_on_demand():
    assert len(join(mates((3, "ACGT"), (3, "ACGT")), join_mates=False)[0]) == 2


def test_insertions_are_joined_where_place_and_length_agree():
    inserted = [(M, 3), (I, 2), (M, 3)]
    (profile,), told, _ = join(mates((7, "AAACCGGG", inserted), (7, "AAACTGGG", inserted)))
    np.testing.assert_allclose(profile, product(called("AAACCGGG"), called("AAACTGGG")))
    assert told.end.tolist() == [13]


@pytest.mark.parametrize(
    "other",
    [
        ("AAACGGG", [(M, 3), (I, 1), (M, 3)]),
        ("AAACCGGG", [(M, 2), (I, 2), (M, 4)]),
        ("AAAGGG", [(M, 6)]),
        ("AAAGG", [(M, 3), (D, 1), (M, 2)]),
    ],
    ids=["another length", "another place", "none", "a deletion"],
)
def test_indels_that_differ_keep_reads_apart(other):
    profiles, _, joined = join(mates((7, "AAACCGGG", [(M, 3), (I, 2), (M, 3)]), (7, *other)))
    assert len(profiles) == 2 and joined.apart == (0, 0, 1, 0)
    assert joined.fragment.tolist() == [0, 0]


def test_an_indel_outside_the_overlap_is_kept():
    deleted = [(M, 3), (D, 2), (M, 4)]
    (profile,), told, _ = join(mates((0, "AAACCCC", deleted), (6, "CCCGGG")))
    assert len(profile) == 10 and (told.start[0], told.end[0]) == (0, 12)
    np.testing.assert_allclose(profile[4:7], product(called("CCC"), called("CCC")))


def test_a_deletion_that_the_other_read_begins_in():
    assert len(join(mates((0, "AAACCCC", [(M, 3), (D, 2), (M, 4)]), (4, "GCCCGGG")))[0]) == 2


def test_soft_clips_stay_at_the_ends():
    """They are counted from the alignment's end, and join where two alignments have the same end."""
    first = read(10, "TTACGT", [(S, 2), (M, 4)], flag=MATES[0])
    second = read(10, "GTACGTCC", [(S, 2), (M, 4), (S, 2)], flag=MATES[1])
    (profile,), _, _ = join([first, second])
    both = product(called("TTACGT"), called("GTACGT"))
    np.testing.assert_allclose(profile, np.concatenate([both, called("CC")]))


def test_a_soft_clip_inside_is_left_out():
    first = read(8, "GGACGT", flag=MATES[0])
    second = read(10, "TTACGTA", [(S, 2), (M, 5)], flag=MATES[1])
    (profile,), told, _ = join([first, second])
    np.testing.assert_allclose(
        profile, np.concatenate([called("GG"), product(called("ACGT"), called("ACGT")), called("A")])
    )
    assert told.length.tolist() == [7]


def family(*reads, molecule="1", flag=0):
    return [read(*one, name=f"{molecule}{number}", flag=flag, molecule=molecule) for number, one in enumerate(reads)]


def test_a_family_of_three():
    (profile,), told, joined = join(family((4, "ACGT"), (4, "ACGT"), (4, "ACTT")), join_mates=False)
    np.testing.assert_allclose(profile, product(called("ACGT"), called("ACGT"), called("ACTT")))
    assert told.reads.tolist() == [3] and joined.copies.tolist() == [3]
    assert names_of(told) == ["10"] and not joined.are_mates.any()


def test_copies_with_another_indel_are_a_profile_of_their_own():
    inserted = [(M, 2), (I, 1), (M, 2)]
    reads = family((4, "ACGT"), (4, "ACCGT", inserted), (4, "ACGT"), (4, "ACCGT", inserted), (4, "ACGT"))
    profiles, told, joined = join(reads)
    assert [len(one) for one in profiles] == [4, 5] and told.reads.tolist() == [3, 2]
    assert names_of(told) == ["10", "11"] and joined.apart[0] == 1 and joined.copies.tolist() == [3, 2]
    assert joined.fragment.tolist() == [0, 0], "one molecule is one observation"


def test_strands_are_two_ends_whose_profiles_are_mates():
    forward, reverse = family((4, "ACGT"), (4, "ACGT")), family((6, "GTAA"), (6, "GTAA"), flag=REVERSE)
    reads = [*forward, *reverse]
    profiles, told, _ = join(reads, join_mates=False)
    assert told.reads.tolist() == [2, 2] and names_of(told) == ["10", "10"]
    (profile,), told, joined = join(reads)
    np.testing.assert_allclose(profile[2:4], product(*[called("GT")] * 4))
    assert told.reads.tolist() == [4] and joined.copies.tolist() == [2, 2] and joined.are_mates.all()
    assert len(profiles) == 2


def test_reads_without_a_molecule_join_their_mates_alone():
    reads = [*family((4, "ACGT"), (4, "ACGT")), *mates((5, "CGT"), (5, "CGT"), name="x"), read(5, "CGT", name="y")]
    _, told, _ = join(reads)
    assert sorted(zip(names_of(told), told.reads.tolist(), strict=True)) == [("10", 2), ("x", 2), ("y", 1)]


def test_a_large_family_that_disagrees_does_not_underflow():
    reads = family(*[(0, "AC"), (0, "CC")] * 400)
    (profile,), _, _ = join(reads)
    np.testing.assert_allclose(profile[0], [0.5, 0.5, 0, 0], atol=1e-9)
    (profile,), _, _ = join([read(0, letter, molecule="1", name=letter, qual=0) for letter in "ACGT"])
    np.testing.assert_allclose(profile, 0.25)


@pytest.mark.parametrize("size", [4, 140_000], ids=["few rows", "more rows than kinds"])
def test_distinct_rows_stay_distinct(size):
    rng = np.random.default_rng(1)
    pair = mates(*((start, "".join(rng.choice(list("ACGTN"), size))) for start in (4, 6)))
    for one in pair:
        one.quals = rng.integers(0, 128, size, dtype=np.uint8)
    block = block_of(pair)
    slices = CutSlices(np.arange(2), np.zeros(2, dtype=np.int64), np.full(2, size))
    joined, _ = Joiner(MoleculeOptions(True)).join(block, slices, [2])
    profiles = rows_of(block, slices, joined)
    assert (profiles.kinds is None) == (size > 10)
    left, right = one_hot(block.bases, ERROR[block.quals]).reshape(2, size, 4)
    expected = np.concatenate([left[:2], product(left[2:], right[:-2]), right[-2:]])
    np.testing.assert_allclose(profiles.at_bases, expected, rtol=1e-12)


def test_regions_are_apart():
    reads = mates((4, "ACGT"), (4, "ACGT"))
    block = block_of(reads)
    twice = np.array([0, 1, 0, 1])
    slices = CutSlices(twice, np.zeros(4, dtype=np.int64), np.full(4, 4))
    joined, _ = Joiner(MoleculeOptions(True)).join(block, slices, [2, 2])
    assert joined.member.tolist() == [0, 1, 2, 3] and joined.reads.tolist() == [2, 2]
