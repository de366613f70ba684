"""Regions are read in as few fetches as they need."""

from __future__ import annotations

from pairhmm.alignments.sources import neighbours


def test_near_regions_are_one_fetch():
    regions = [(chrom, start, start + 1) for chrom in "ab" for start in range(0, 60_000, 50)]
    assert list(neighbours(regions)) == [regions[:1200], regions[1200:]]


def test_far_regions_are_not_read_on_to():
    regions = [("a", 100, 200), ("a", 50_000, 50_100)]
    assert list(neighbours(regions)) == [regions[:1], regions[1:]]
