"""Variants of given haplotypes."""

from __future__ import annotations

import pytest

from pairhmm.align.haplotypes import describe_haplotypes, differences_of_each, find_differences
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region

REFERENCE = "GATTACAGGCATCGACACACATTGCCTA"
REGION = Region("c", 100, 128, 100, 128, 100, 128)


def describe(*sequences: str) -> tuple[list[tuple[int, str, tuple[str, ...]]], list[tuple[int, ...]]]:
    region, haplotypes = describe_haplotypes(REGION, REFERENCE, [Haplotype(one, ()) for one in sequences])
    return (
        [(variant.pos, variant.ref, variant.alts) for variant in region.variants],
        [haplotype.alleles for haplotype in haplotypes],
    )


@pytest.mark.parametrize(
    ("sequence", "variant"),
    [
        (REFERENCE[:10] + "T" + REFERENCE[11:], (110, "A", ("T",))),
        (REFERENCE[:17] + REFERENCE[19:], (113, "GAC", ("G",))),
        (REFERENCE[:17] + "CA" + REFERENCE[17:], (113, "G", ("GAC",))),
        (REFERENCE[:8] + "TTTGG" + REFERENCE[8:], (106, "A", ("AGTTTG",))),
    ],
)
def test_one_difference(sequence, variant):
    assert describe(REFERENCE, sequence) == ([variant], [(0,), (1,)])


def test_several_haplotypes_share_their_variants():
    snv = REFERENCE[:10] + "T" + REFERENCE[11:]
    other = REFERENCE[:10] + "C" + REFERENCE[11:]
    both = snv[:17] + snv[19:]
    variants, alleles = describe(snv, other, both)
    assert variants == [(110, "A", ("C", "T")), (113, "GAC", ("G",))]
    assert alleles == [(2, 0), (1, 0), (2, 1)]


def test_the_reference_alone_has_none():
    assert describe(REFERENCE) == ([], [()])


def test_gaps_are_those_of_gatk():
    """Its scores prefer two gaps to six different letters, which stay letters of their own as there are as many."""
    old, new = "CCCCCC", "GGGGGG"
    reference, sequence = REFERENCE + old + REFERENCE, REFERENCE + new + REFERENCE
    at = len(REFERENCE)
    expected = {(at + place, one, other) for place, (one, other) in enumerate(zip(old, new, strict=True))}
    assert find_differences(reference, sequence, 0) == expected


def test_an_indel_may_be_shifted_before_the_sequence():
    (found,) = differences_of_each("GATTTTTTC", ["TTTC"], first=4)
    assert found == {(1, "AT", "A")}
