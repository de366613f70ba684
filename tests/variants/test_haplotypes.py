"""Haplotypes from combinations of alleles."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.native import native
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import Variant

UNKNOWN = -1
REFERENCE = "ACGTACCATGCATTTGACGA"


def variant(pos: int, ref: str, *alts: str) -> Variant:
    assert REFERENCE[pos : pos + len(ref)] == ref
    return Variant("c", pos, ref, alts, "", 0)


def haplotypes_of(*variants: Variant, limit: int = 128, carried=None, are_discovered=False) -> list[Haplotype]:
    end = len(REFERENCE)
    region = Region("c", 5, 15, 0, end, 0, end, variants, tuple((v.pos, v.pos + len(v.ref)) for v in variants))
    flat = None if carried is None else lambda region: carried(region).reshape(-1)
    return native.build_haplotypes(region, REFERENCE, limit, flat, are_discovered)


def alleles(haplotypes: list[Haplotype]) -> list[tuple[int, ...]]:
    return [haplotype.alleles for haplotype in haplotypes]


@pytest.mark.parametrize(
    ("candidate", "sequence"),
    [
        (variant(4, "A", "G"), "ACGTGCCATGCATTTGACGA"),
        (variant(4, "AC", "A"), "ACGTACATGCATTTGACGA"),
        (variant(4, "A", "ATT"), "ACGTATTCCATGCATTTGACGA"),
        (variant(4, "ACC", "TGG"), "ACGTTGGATGCATTTGACGA"),
    ],
)
def test_one_candidate_makes_two_haplotypes(candidate, sequence):
    haplotypes = haplotypes_of(candidate)
    assert haplotypes == [Haplotype(REFERENCE, (0,)), Haplotype(sequence, (1,))]


def test_all_combinations_in_order():
    haplotypes = haplotypes_of(variant(4, "A", "G", "T"), variant(8, "T", "C"))
    assert alleles(haplotypes) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert len({haplotype.sequence for haplotype in haplotypes}) == 6


def test_alleles_that_overlap_are_not_combined():
    haplotypes = haplotypes_of(variant(5, "CCAT", "C"), variant(7, "A", "G"))
    assert alleles(haplotypes) == [(0, 0), (0, 1), (1, 0)]


def test_an_snv_of_the_anchor_base_goes_with_the_deletion():
    haplotypes = haplotypes_of(variant(5, "C", "G"), variant(5, "CCAT", "C"))
    assert alleles(haplotypes) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert haplotypes[3].sequence == "ACGTAGGCATTTGACGA"


def test_two_insertions_at_one_place_are_not_combined():
    assert len(haplotypes_of(variant(4, "A", "ATT"), variant(4, "A", "AGG"))) == 3


def test_records_that_say_the_same_are_one_haplotype_with_both():
    haplotypes = haplotypes_of(variant(4, "AC", "AG"), variant(5, "C", "G"))
    assert alleles(haplotypes) == [(0, 0), (1, 1)]


def test_listed_alleles_that_take_back_a_part_of_each_other_are_none_of_a_haplotype():
    # A T more and two Ts less are a T less.
    sites = variant(11, "A", "AT"), variant(11, "AT", "A"), variant(11, "ATT", "A")
    found = {one.sequence: one.alleles for one in haplotypes_of(*sites)}
    assert found[REFERENCE[:12] + REFERENCE[13:]] == (0, 1, 0)


@pytest.mark.parametrize(("shown", "expected"), [([0, 0, 1], (0, 0, 1)), ([1, 1, 0], (1, 1, 0)), ([], (0, 0, 1))])
def test_of_discovered_alleles_that_spell_the_same_a_haplotype_has_those_that_reads_show(shown, expected):
    # TTTG becomes TTTT: by an SNV, or by another T and a deletion of the G.
    sites = variant(11, "A", "AT"), variant(14, "TG", "T"), variant(15, "G", "T")
    rows = np.array([shown] * 5, dtype=np.int16).reshape(-1, 3)
    found = {one.sequence: one.alleles for one in haplotypes_of(*sites, carried=lambda _: rows, are_discovered=True)}
    listed = {one.sequence: one.alleles for one in haplotypes_of(*sites)}
    both = REFERENCE[:15] + "T" + REFERENCE[16:]
    assert listed[both] == (1, 1, 1)
    assert found == listed | {both: expected}


def test_combinations_that_cancel_are_the_reference():
    # Deleting one T of TTT and inserting one is no change.
    haplotypes = haplotypes_of(variant(11, "AT", "A"), variant(14, "T", "TT"))
    assert haplotypes[0] == Haplotype(REFERENCE, (0, 0))
    assert alleles(haplotypes) == [(0, 0), (0, 1), (1, 0)]


def test_too_many_combinations_are_those_that_reads_support():
    sites = [variant(pos, REFERENCE[pos], "N") for pos in range(4, 12)]
    shown = np.full((6, 8), UNKNOWN, dtype=np.int16)
    shown[:3] = [1, 0, 1, 0, 1, 0, 1, 0]
    shown[3:] = [0, 1, 0, 1, 0, 1, 0, 1]
    haplotypes = haplotypes_of(*sites, limit=16, carried=lambda region: shown)
    found = alleles(haplotypes)
    assert len(found) == 16
    assert found[0] == (0,) * 8
    assert (1, 0) * 4 in found
    assert (0, 1) * 4 in found
    assert all(any(one[site] and sum(one) == 1 for one in found) for site in range(8))


def plainly_supported(prefixes, shown, limit):
    """`supported` (cpu/calling/haplotypes.cpp), read by read."""
    support = {}
    for prefix in prefixes:
        rows = [[(has, is_) for has, is_ in zip(row, prefix, strict=True) if has != UNKNOWN] for row in shown.tolist()]
        support[prefix] = sum(len(row) for row in rows if all(has == is_ for has, is_ in row))
    changes = {prefix: sum(allele != 0 for allele in prefix) for prefix in prefixes}
    order = sorted(prefixes, key=lambda one: (changes[one] > 1, -support[one], changes[one], one))
    return order[: max(limit, sum(change <= 1 for change in changes.values()))]


@pytest.mark.parametrize("reads", [0, 1, 300])
def test_support_of_any_reads(reads):
    rng = np.random.default_rng(reads)
    sites = [variant(pos, REFERENCE[pos], "N") for pos in range(4, 11)]
    shown = rng.choice(np.array([UNKNOWN, 0, 1], dtype=np.int16), (reads, 7), p=[0.2, 0.5, 0.3])
    expected = [()]
    for at in range(7):
        expected = [(*one, allele) for one in expected for allele in (0, 1)]
        if len(expected) > 20:
            expected = plainly_supported(expected, shown[:, : at + 1], 20)
    found = haplotypes_of(*sites, limit=20, carried=lambda region: shown)
    assert sorted(alleles(found)) == sorted(expected)


def test_every_allele_has_a_haplotype_whatever_the_limit():
    sites = [variant(pos, REFERENCE[pos], "N") for pos in range(4, 12)]
    assert len(haplotypes_of(*sites, limit=4)) == 9


def test_reads_are_not_asked_where_all_combinations_fit():
    def carried(region):
        raise AssertionError("not needed")

    assert len(haplotypes_of(variant(4, "A", "G"), carried=carried)) == 2
