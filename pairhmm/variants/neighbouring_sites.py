"""Sites of a region that depend on each other: spanning deletions, and adjacent SNVs merged into one MNV.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pairhmm.variants.variant import Variant, trim_allele

SPANNED = "*"
"""The allele of a chromosome on which a deletion that begins further ahead takes a site away (VCF 4.3)."""


def deleted(variant: Variant, allele: int) -> range:
    """The reference bases that an alternative allele deletes; empty where it deletes none."""
    head, old, new = trim_allele(variant.ref, variant.alts[allele - 1])
    start = variant.pos + head
    return range(start, start + (len(old) if len(new) < len(old) else 0))


def spanned_haplotypes(
    index: int, variants: Sequence[Variant], called: Sequence[set[int]], alleles: Sequence[Sequence[int]]
) -> set[int]:
    """The haplotypes on which a called deletion takes a site away: site number `index` of a region's variants.

    `called` has the alternative alleles of each site that samples have, `alleles` that of each site on each haplotype.
    """
    position = variants[index].pos
    over = [
        (other, allele)
        for other, own in enumerate(called)
        for allele in own
        if other != index and position in deleted(variants[other], allele)
    ]
    return {
        number
        for other, allele in over
        for number, carried in enumerate(alleles[other])
        if carried == allele and alleles[index][number] == 0
    }


def with_spanned(variant: Variant, allele_of: Sequence[int], haplotypes: set[int]) -> tuple[Variant, list[int]]:
    """A variant with the allele `SPANNED`, and the allele that each haplotype has of it.

    `allele_of`: the allele of each haplotype without it. `haplotypes`: those that have it.
    """
    alts = (*variant.alts, SPANNED)
    return replace(variant, alts=alts), [
        len(alts) if number in haplotypes else allele for number, allele in enumerate(allele_of)
    ]


def snv_runs(variants: Sequence[Variant]) -> Iterator[tuple[int, int]]:
    """The runs [first, last) of two SNVs or more at neighbouring positions, longer runs before the ones within them."""
    first = 0
    while first < len(variants):
        last = first + 1
        while last < len(variants) and _are_neighbours(variants[last - 1], variants[last]):
            last += 1
        for size in range(last - first, 1, -1):
            for begin in range(first, last - size + 1):
                yield begin, begin + size
        first = last


def _are_neighbours(one: Variant, other: Variant) -> bool:
    """Whether two variants are SNVs at neighbouring positions."""
    return other.pos == one.pos + 1 and all(len(text) == 1 for text in (one.ref, other.ref, *one.alts, *other.alts))


def joined_snvs(variants: Sequence[Variant], alleles: Sequence[tuple[int, ...]]) -> tuple[Variant, list[int], set[int]]:
    """Neighbouring SNVs as one variant (an MNV). `alleles` has the allele of each SNV on each haplotype.

    Returns
    -------
    variant : Variant
        Its alternative alleles are what the haplotypes have.
    allele_of : list of int
        The allele of each haplotype.
    changed : set of int
        The alleles that differ from the reference at every base.
    """
    combos = sorted({combo for combo in alleles if any(combo)})
    number_of = {combo: number for number, combo in enumerate(combos, start=1)}
    spelled = [
        "".join(one.alts[allele - 1] if allele else one.ref for one, allele in zip(variants, combo, strict=True))
        for combo in combos
    ]
    first = variants[0]
    joined = replace(first, ref="".join(one.ref for one in variants), alts=tuple(spelled))
    changed = {number_of[combo] for combo in combos if all(combo)}
    return joined, [number_of.get(combo, 0) for combo in alleles], changed
