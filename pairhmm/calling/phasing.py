"""Phases the heterozygous sites of a region. The sums are native (cpu/calling/phasing.cpp)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pairhmm.native import native
from pairhmm.variants.genotypes import SampleGenotype


def phased(
    positions: Sequence[int], reads: Sequence[native.SiteReads], genotypes: Sequence[SampleGenotype], sample: int
) -> list[SampleGenotype]:
    """The genotypes of one sample at the sites of a region, with their phase.

    Diploid heterozygous sites whose alleles some fragments tell apart together are a phase set. A site without another
    one in its set stays unphased.

    Parameters
    ----------
    positions : sequence of int
        Of each site, in order.
    reads : sequence of SiteReads
        The reads over each site.
    genotypes : sequence of SampleGenotype
        The sample's genotype at each site.
    sample : int
        Index of the sample.
    """
    result = list(genotypes)
    pairs = [(number, *alleles) for number, one in enumerate(genotypes) if (alleles := _heterozygous(one))]
    if len(pairs) < 2:
        return result
    phaser = native.Phaser()
    places = [phaser.add(reads[site], sample, first, second) for site, first, second in pairs]
    members = Counter(number for number, _ in places)
    start: dict[int, int] = {}
    for (site, first, second), (number, swapped) in zip(pairs, places, strict=True):
        if members[number] < 2:
            continue
        position = start.setdefault(number, positions[site])
        # PS is a position: of two sets that begin at one place, the second can't be told apart.
        if position in [one for other, one in start.items() if other < number]:
            continue
        result[site] = replace(result[site], phased=(second, first) if swapped else (first, second), phase_set=position)
    return result


def _heterozygous(genotype: SampleGenotype) -> tuple[int, int] | None:
    """The two alleles of a diploid heterozygous genotype; None for any other."""
    alleles = genotype.alleles
    if alleles is None or len(alleles) != 2 or alleles[0] == alleles[1]:
        return None
    return alleles[0], alleles[1]
