"""Truth variants: normalised, apart from one another, and applied to haplotypes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.simulate.reference import make_contig, repeat_families
from pairhmm.simulate.variants import TooManyVariantsError, TruthVariant, build_haplotype, left_align, place_variants

MARGIN = 300


@pytest.fixture(scope="module")
def placed() -> tuple[np.ndarray, list[TruthVariant]]:
    rng = np.random.default_rng(5)
    codes, tracts = make_contig(rng, 60_000, repeat_families(rng))
    return codes, place_variants(rng, codes, tracts, 120, 90, 50, MARGIN)


@given(
    st.lists(st.integers(0, 1), min_size=12, max_size=30),
    st.integers(1, 8),
    st.integers(1, 3),
    st.booleans(),
)
def test_left_align_finds_the_leftmost_writing(bases: list[int], position: int, size: int, deletes: bool) -> None:
    codes = np.array(bases, dtype=np.uint8)
    moving = bases[position : position + size]
    made = left_align(codes, position, moving, []) if deletes else left_align(codes, position, [], moving)
    result = bases[:position] + bases[position + size :] if deletes else bases[:position] + moving + bases[position:]
    spellings = [
        at
        for at in range(len(bases) + 1)
        if (deletes and at + size <= len(bases) and bases[:at] + bases[at + size :] == result)
        or (not deletes and bases[:at] == result[:at] and bases[at:] == result[at + size :])
    ]
    if made is None:
        assert spellings[0] == 0
        return
    start, ref, alt = made
    assert start == spellings[0] - 1
    assert bases[:start] + list(alt) + bases[start + len(ref) :] == result


def test_counts_sizes_and_genotypes(placed: tuple[np.ndarray, list[TruthVariant]]) -> None:
    codes, variants = placed
    snvs = [variant for variant in variants if variant.is_snv]
    assert (len(snvs), len(variants)) == (120, 210)
    assert all(variant.ref != variant.alt for variant in variants)
    assert all(tuple(codes[v.start : v.start + len(v.ref)]) == v.ref for v in variants)
    assert max(abs(len(v.ref) - len(v.alt)) for v in variants) <= 50
    heterozygous = sum(sum(variant.genotype) == 1 for variant in variants)
    assert 0.55 < heterozygous / len(variants) < 0.78


def test_variants_keep_apart(placed: tuple[np.ndarray, list[TruthVariant]]) -> None:
    codes, variants = placed
    ends = [variant.start + len(variant.ref) for variant in variants]
    starts = [variant.start for variant in variants]
    assert all(start - end >= 2 for end, start in zip(ends[:-1], starts[1:], strict=True))
    assert starts[0] >= MARGIN - 50 and ends[-1] <= len(codes) - MARGIN + 50


@pytest.mark.parametrize("copy", [0, 1])
def test_haplotype_maps_back_to_the_reference(placed: tuple[np.ndarray, list[TruthVariant]], copy: int) -> None:
    codes, variants = placed
    haplotype = build_haplotype(codes, variants, copy)
    carried = [variant for variant in variants if variant.genotype[copy]]
    growth = sum(len(variant.alt) - len(variant.ref) for variant in carried)
    assert len(haplotype.codes) == len(haplotype.ref_positions) == len(codes) + growth
    on_ref = haplotype.ref_positions >= 0
    places = haplotype.ref_positions[on_ref]
    assert (np.diff(places) > 0).all()
    differing = places[haplotype.codes[on_ref] != codes[places]]
    assert differing.tolist() == [variant.start for variant in carried if variant.is_snv]


def test_no_room_is_told() -> None:
    with pytest.raises(TooManyVariantsError):
        place_variants(np.random.default_rng(1), np.zeros(700, dtype=np.uint8), [], 100, 0, 10, MARGIN)
