import numpy as np
import pytest

from pairhmm.consensus.alleles import ContigAlleles, Indel, fractions_of
from pairhmm.consensus.sequence import ConsensusOptions, make_consensus
from pairhmm.errors import OptionError
from pairhmm.variants.sites import SampleCall

REFERENCE = "ACGTACGTACGTACGTACGT"


def made(*variants, depth=100, **options):
    """The consensus with variants (0-based position, REF, ALT, fraction)."""
    alleles = ContigAlleles(len(REFERENCE))
    for variant in variants:
        alleles.add(*variant)
    depths = np.full(len(REFERENCE), depth, dtype=np.uint32) if np.isscalar(depth) else np.array(depth, np.uint32)
    return make_consensus(REFERENCE, alleles, depths, ConsensusOptions(**options))


@pytest.mark.parametrize(
    ("shares", "options", "letter"),
    [
        ({}, {}, "A"),
        ({"G": 0.6}, {}, "G"),
        ({"G": 0.4}, {}, "A"),
        ({"G": 0.5}, {}, "A"),  # a tie is the reference's
        ({"G": 0.85}, {"min_fraction": 0.9}, "R"),  # neither base has the fraction
        ({"G": 0.4, "C": 0.35}, {}, "S"),  # nor here: C and G are the fewest that have it
        ({"G": 0.4, "C": 0.35}, {"min_fraction": 0}, "G"),
        ({"G": 0.2}, {"iupac_fraction": 0.2}, "R"),
        ({"G": 0.19}, {"iupac_fraction": 0.2}, "A"),
        ({"G": 0.3, "C": 0.3, "T": 0.3}, {"iupac_fraction": 0.1}, "N"),
        ({"G": 0.7}, {"min_fraction": 0.7}, "G"),
    ],
)
def test_a_base_is_the_fewest_that_make_up_the_fraction(shares, options, letter):
    made_of = made(*((4, "A", base, share) for base, share in shares.items()), **options)
    assert made_of.letters == f"ACGT{letter}CGTACGTACGTACGT"
    assert made_of.changed == (letter in "CG")
    assert made_of.ambiguous == (letter not in "ACG")


def test_bases_are_shares_of_the_reads_that_have_one():
    # Of 100 reads 40 lack the base, 35 have G and 25 the reference's A.
    assert made((3, "TACG", "T", 0.4), (4, "A", "G", 0.35)).letters[4] == "G"


def test_an_mnv_adds_to_its_bases():
    assert made((4, "AC", "GT", 0.3), (4, "A", "G", 0.3)).letters[4:6] == "GC"


@pytest.mark.parametrize(
    ("variants", "letters"),
    [
        ([(19, "TA", "T", 1.0)], REFERENCE[1:]),
        ([(17, "CGTACG", "C", 1.0)], REFERENCE[3:18]),
        ([(17, "CGTACG", "CTT", 1.0)], REFERENCE[3:18] + "TT"),
        ([(17, "CGTACG", "C", 0.4)], REFERENCE),
        # What is beside it is applied, what overlaps it is not.
        ([(17, "CGTACG", "C", 0.6), (2, "G", "GTTT", 1.0)], "TTT" + REFERENCE[3:18]),
        ([(17, "CGTACG", "C", 0.6), (1, "CG", "C", 0.4)], REFERENCE[3:18]),
        ([(17, "CGTACG", "C", 0.3), (1, "CGT", "C", 0.6), (5, "CG", "C", 1.0)], "AC" + REFERENCE[4:6] + REFERENCE[7:]),
        ([(19, "TA", "GC", 1.0), (0, "A", "C", 0.0)], "C" + REFERENCE[1:19] + "G"),
        ([(19, "T", "TGG", 1.0)], REFERENCE + "GG"),
    ],
)
def test_alleles_over_the_origin_of_a_circle(variants, letters):
    result = made(*variants)
    assert result.letters == letters
    assert len(result.applied) + len(result.left_out) == sum(len(ref) != len(alt) for _, ref, alt, _ in variants)


def test_low_depth_before_the_origin_leaves_a_deletion_out():
    result = made((19, "TA", "T", 1.0), depth=[100] * 19 + [9])
    assert result.letters == REFERENCE[:19] + "N"
    assert [why for _, why in result.left_out] == ["the depth before it is too low"]


def test_low_depth_is_n():
    depth = [100] * 4 + [9] * 3 + [10] * 13
    result = made((5, "C", "G", 1.0), depth=depth)
    assert result.letters == "ACGTNNN" + REFERENCE[7:]
    assert (result.masked, result.changed) == (3, 0)


@pytest.mark.parametrize(
    ("variant", "letters"),
    [
        ((3, "TACG", "T", 0.6), REFERENCE[:4] + REFERENCE[7:]),
        ((3, "T", "TGG", 0.6), REFERENCE[:4] + "GG" + REFERENCE[4:]),
        ((3, "TACG", "TGG", 0.6), REFERENCE[:4] + "GG" + REFERENCE[7:]),
        ((3, "TACG", "T", 0.5), REFERENCE),
        ((3, "TACG", "T", 0.4), REFERENCE),
    ],
)
def test_insertions_and_deletions_are_applied_by_majority(variant, letters):
    result = made(variant)
    assert result.letters == letters
    assert len(result.applied) == (letters != REFERENCE)
    assert len(result.left_out) == (letters == REFERENCE)


def test_of_overlapping_deletions_the_more_frequent_is_applied():
    result = made((3, "TAC", "T", 0.55), (4, "ACG", "A", 0.6))
    assert result.letters == REFERENCE[:5] + REFERENCE[7:]
    assert result.left_out == [(Indel(4, 6, "", 0.55), "it overlaps one that was applied")]


def test_an_insertion_beside_a_deletion_is_applied():
    result = made((3, "T", "TGGG", 0.9), (3, "TACG", "T", 0.9))
    assert result.letters == REFERENCE[:4] + "GGG" + REFERENCE[7:]


def test_a_low_threshold_leaves_out_what_is_not_the_most_frequent():
    assert made((3, "TACG", "T", 0.3), min_fraction=0.2).letters == REFERENCE
    assert made((3, "TACG", "T", 0.4), (3, "TA", "T", 0.3), min_fraction=0.2).letters == REFERENCE[:4] + REFERENCE[7:]


def test_a_deletion_needs_depth_before_it_and_no_bases_within():
    within = [100] * 4 + [0] * 3 + [100] * 13
    assert made((3, "TACG", "T", 1.0), depth=within).letters == REFERENCE[:4] + REFERENCE[7:]
    result = made((3, "TACG", "T", 1.0), depth=5)
    assert result.letters == "N" * len(REFERENCE)
    assert result.left_out[0][1] == "the depth before it is too low"


@pytest.mark.parametrize(("length", "keeps"), [(1, False), (2, False), (3, True), (9, True)])
def test_the_frame(length, keeps):
    assert Indel(4, 4 + length, "", 1.0).keeps_frame is keeps
    assert Indel(4, 4, "A" * length, 1.0).keeps_frame is keeps


@pytest.mark.parametrize(
    ("call", "fractions"),
    [
        (SampleCall((0, 1), fractions=(0.03, 0.2)), [0.03, 0.0]),
        (SampleCall((0, 1, 2), fractions=(0.03, 0.2)), [0.03, 0.2]),
        (SampleCall((0, 1), depths=(30, 60, 10)), [0.6, 0.0]),
        (SampleCall((1, 2)), [0.5, 0.5]),
        (SampleCall((2,)), [0.0, 1.0]),
        (SampleCall((None, None), fractions=(0.9, 0.1)), [0.0, 0.0]),
        (SampleCall(()), [0.0, 0.0]),
    ],
)
def test_fractions_are_of_af_then_ad_then_gt(call, fractions):
    assert fractions_of(call, 2) == fractions


def test_options_have_ranges():
    with pytest.raises(OptionError, match=r"min_fraction=1\.5 is not a number from 0 to 1"):
        ConsensusOptions(min_fraction=1.5)
