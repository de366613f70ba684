"""Phases the heterozygous sites of a region. The sums are native (cpu/genomics/phasing.cpp)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pairhmm.compiled import native
from pairhmm.genomics.genotypes import SampleGenotype

if TYPE_CHECKING:
    from pairhmm._cpu import SiteReads


def phased(
    positions: Sequence[int], reads: Sequence[SiteReads], genotypes: Sequence[SampleGenotype], sample: int
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
    sites = [number for number, one in enumerate(genotypes) if _is_heterozygous(one)]
    if len(sites) < 2:
        return result
    phaser = native.Phaser()
    places = [phaser.add(reads[site], sample, *genotypes[site].alleles) for site in sites]
    members = Counter(number for number, _ in places)
    start: dict[int, int] = {}
    for site, (number, swapped) in zip(sites, places, strict=True):
        alleles = genotypes[site].alleles
        if members[number] < 2 or alleles is None:
            continue
        position = start.setdefault(number, positions[site])
        # PS is a position: of two sets that begin at one place, the second can't be told apart.
        if position in [one for other, one in start.items() if other < number]:
            continue
        result[site] = replace(result[site], phased=alleles[::-1] if swapped else alleles, phase_set=position)
    return result


def _is_heterozygous(genotype: SampleGenotype) -> bool:
    alleles = genotype.alleles
    return alleles is not None and len(alleles) == 2 and alleles[0] != alleles[1]
