"""Candidates joined into regions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.native import native
from pairhmm.variants.regions import Region, RegionOptions
from pairhmm.variants.variant import MAX_SHIFT, Variant, trim_allele
from tests.calling.reads import aligned

LETTERS = "".join(np.random.default_rng(1).choice(list("ACGT"), 2_000))
CONTIG = LETTERS[:400] + "GATC" + "CA" * 10 + "TTGACGATGC" + LETTERS[400:]
REPEAT = 404  # where CACA... begins
LENGTHS = {"c": len(CONTIG), "d": 500}


def fetch(chrom: str, start: int, end: int) -> str:
    return CONTIG[max(0, start) : end]


REFERENCE = native.ReferenceBases(fetch)
NOTHING = ReadBlock.empty("c").native


def snv(pos: int, chrom: str = "c") -> Variant:
    ref = CONTIG[pos]
    return Variant(chrom, pos, ref, ("A" if ref != "A" else "G",), "", 0)


def source_of(variants: list[Variant], **options: int):
    """A source of the regions of listed variants, without any reads."""
    contigs, joining = list(LENGTHS.items()), RegionOptions(**options)
    return native.ListedRegions(REFERENCE, contigs, 1, CandidateOptions(), joining, iter(variants))


def regions_of(variants: list[Variant], **options: int) -> list[Region]:
    return source_of(variants, **options).finish(list(LENGTHS)[-1])


@pytest.mark.parametrize(
    ("ref", "alt", "expected"),
    [
        ("A", "C", (0, "A", "C")),
        ("CAT", "C", (1, "AT", "")),
        ("C", "CAT", (1, "", "AT")),
        ("CAT", "CGT", (1, "A", "G")),
        ("CATG", "CG", (1, "AT", "")),
        ("CAA", "CA", (1, "A", "")),
    ],
)
def test_trimmed_alleles(ref, alt, expected):
    assert trim_allele(ref, alt) == expected


def test_an_snv_touches_its_base():
    assert native.variant_extent(snv(100), REFERENCE) == (100, 101)


@pytest.mark.parametrize(("ref", "alt"), [("CCA", "C"), ("C", "CCA")])
def test_an_indel_touches_all_of_its_repeat(ref, alt):
    variant = Variant("c", REPEAT - 1, ref, (alt,), "", 0)
    assert CONTIG[REPEAT - 1] == "C"
    start, end = native.variant_extent(variant, REFERENCE)
    assert start <= REPEAT - 1
    assert end == REPEAT + 20 + 1


def test_near_candidates_share_a_region():
    (region,) = regions_of([snv(100), snv(120), snv(140)])
    assert (region.core_start, region.core_end) == (100, 141)
    assert (region.start, region.end) == (45, 196)
    assert (region.haplotype_start, region.haplotype_end) == (30, 211)
    assert region.extents == ((100, 101), (120, 121), (140, 141))


def test_far_candidates_do_not():
    first, second = regions_of([snv(100), snv(127)])
    assert (first.core_end, second.core_start) == (101, 127)


def test_candidates_that_reads_spell_together_share_a_region():
    first = replace(snv(100), joined_until=141)
    assert [region.variants for region in regions_of([first, snv(140)])] == [(first, snv(140))]
    assert [len(region.variants) for region in regions_of([first, snv(140), snv(170)], max_span=60)] == [2, 1]
    assert [len(region.variants) for region in regions_of([first, snv(140)], max_span=40)] == [1, 1]
    assert [len(region.variants) for region in regions_of([snv(20), snv(60), first, snv(141)])] == [1, 1, 1, 1]


def test_reads_are_cut_before_the_next_regions_candidates():
    first, second = regions_of([snv(100), snv(140)])
    assert first.end == 140
    assert second.start == 101


def test_spans_and_alleles_are_limited():
    variants = [snv(pos) for pos in range(100, 220, 10)]
    assert [len(region.variants) for region in regions_of(variants, max_span=50)] == [5, 5, 2]
    assert [len(region.variants) for region in regions_of(variants, max_alleles=4)] == [4, 4, 4]
    # A gVCF has one record of an SNV and an indel behind its base.
    behind = replace(snv(130), ref=snv(130).ref + "A", alts=(snv(130).ref,))
    variants.insert(4, behind)
    assert [len(region.variants) for region in regions_of(variants, max_alleles=4)] == [5, 4, 4]


def test_long_candidates_that_nearly_coincide_share_a_region():
    def deletion(pos, size):
        return replace(snv(pos), ref=CONTIG[pos : pos + 1 + size], alts=(CONTIG[pos],))

    rivals = [deletion(100, 80), deletion(100, 81), deletion(104, 80)]
    assert [len(region.variants) for region in regions_of(rivals, max_span=50)] == [3]


def test_an_snv_under_a_deletion_is_of_its_region_unless_that_is_far_longer_than_regions():
    def regions(size):
        long = replace(snv(100), ref=CONTIG[100 : 101 + size], alts=(CONTIG[100],))
        return [len(region.variants) for region in regions_of([long, snv(120)], max_span=50, join_distance=25)]

    assert [regions(size) for size in (80, 120)] == [[2], [1, 1]]


def test_touching_regions_keep_some_flank():
    for region in regions_of([snv(pos) for pos in range(100, 220, 10)], max_span=50):
        assert region.start <= region.core_start - 10
        assert region.end >= region.core_end + 10


def test_regions_end_with_the_contig():
    (first,) = regions_of([snv(3)])
    (last,) = regions_of([snv(len(CONTIG) - 2)])
    assert (first.start, first.haplotype_start) == (0, 0)
    assert (last.end, last.haplotype_end) == (len(CONTIG), len(CONTIG))


def test_contigs_are_never_joined():
    assert [region.chrom for region in regions_of([snv(490), snv(5, "d")])] == ["c", "d"]


def test_regions_do_not_depend_on_how_far_reads_have_come():
    variants = [snv(pos) for pos in (50, 70, 110, 170, 400, 420, 700)]
    whole = regions_of(variants)
    source = source_of(variants)
    stepped: list[Region] = []
    for frontier in range(len(CONTIG)):
        stepped += source.advance("c", NOTHING, frontier)
    assert stepped + source.finish("c") == whole


def test_a_region_is_closed_once_nothing_can_reach_it():
    source = source_of([snv(20)], flank=10)
    assert source.advance("c", NOTHING, 21 + MAX_SHIFT) == []
    assert source.open_start == 20
    # An unlisted deletion may begin in the region and end far behind it.
    near, far = (ReadBlock.from_alignments("c", [aligned(at, CONTIG[at : at + 50])]).native for at in (780, 1_500))
    assert source.advance("c", near, 780) == []
    assert len(source.advance("c", far, 1_500)) == 1
    assert source.open_start is None
