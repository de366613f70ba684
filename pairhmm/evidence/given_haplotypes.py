"""Finds the variants of haplotypes that were given as sequences, so that these can be genotyped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pairhmm.genomics.haplotypes import Haplotype
from pairhmm.genomics.regions import Region, shift_left
from pairhmm.genomics.variants import Variant

# Costs of aligning a haplotype with the reference. A gap costs more than a mismatch, so that gaps are rare.
_MATCH, _MISMATCH, _OPEN, _EXTEND = 1.0, -4.0, -6.0, -1.0
# Sequences of equal length with at most this many mismatches need no alignment: a mismatch costs 5, two gaps cost 13.
_NEVER_GAPPED = 2

# A difference from the reference: position, reference bases, haplotype bases. An indel includes its anchor base.
_Difference = tuple[int, str, str]


def describe_haplotypes(
    region: Region, reference: str, haplotypes: Sequence[Haplotype]
) -> tuple[Region, list[Haplotype]]:
    """Add to a region the variants of its haplotypes, and to each haplotype its alleles.

    Parameters
    ----------
    region : Region
        Without variants.
    reference : str
        Reference bases of ``[region.start, region.end)``.
    haplotypes : sequence of Haplotype
        Names and sequences. The sequences span the region.

    Returns
    -------
    region : Region
        The region with a variant for each position and kind (single bases, or insertions and deletions).
    haplotypes : list of Haplotype
        The haplotypes with their allele at each variant.
    """
    differences = [find_differences(reference, haplotype.sequence, region.start) for haplotype in haplotypes]
    sites: dict[tuple[int, bool], set[_Difference]] = {}
    for difference in set().union(*differences):
        position, old, new = difference
        sites.setdefault((position, len(old) != len(new)), set()).add(difference)
    variants, alleles = [], []
    for number, site in enumerate(sorted(sites)):
        position, members = site[0], sorted(sites[site])
        ref = max((old for _, old, _ in members), key=len)
        variants.append(
            Variant(region.chrom, position, ref, tuple(new + ref[len(old) :] for _, old, new in members), "", number)
        )
        alleles.append([next((i for i, one in enumerate(members, start=1) if one in seen), 0) for seen in differences])
    described = [
        replace(haplotype, alleles=tuple(row[index] for row in alleles)) for index, haplotype in enumerate(haplotypes)
    ]
    extents = tuple((variant.pos, variant.end) for variant in variants)
    return replace(region, variants=tuple(variants), extents=extents), described


@cache
def _aligner() -> Any:
    # The import takes a tenth of the CPU time of a small run.
    from Bio.Align import PairwiseAligner

    return PairwiseAligner(  # type: ignore[no-untyped-call]
        mode="global", match_score=_MATCH, mismatch_score=_MISMATCH, open_gap_score=_OPEN, extend_gap_score=_EXTEND
    )


def find_differences(reference: str, sequence: str, offset: int) -> set[_Difference]:
    """Differences of a sequence from the reference, which begins at `offset`. Indels are shifted left."""
    if len(sequence) == len(reference):
        singles = [
            (offset + at, old, new) for at, (old, new) in enumerate(zip(reference, sequence, strict=True)) if old != new
        ]
        if len(singles) <= _NEVER_GAPPED:
            return set(singles)
    old_blocks, new_blocks = _aligner().align(reference, sequence)[0].aligned
    found: set[_Difference] = set()
    old_end, new_end = 0, 0
    ends = [(len(reference), len(reference)), (len(sequence), len(sequence))]
    for (old_start, old_stop), (new_start, new_stop) in zip(
        [*old_blocks.tolist(), ends[0]], [*new_blocks.tolist(), ends[1]], strict=True
    ):
        if old_start > old_end or new_start > new_end:
            found.add(_indel(reference, old_end, reference[old_end:old_start], sequence[new_end:new_start], offset))
        for old, new in zip(range(old_start, old_stop), range(new_start, new_stop), strict=True):
            if reference[old] != sequence[new]:
                found.add((offset + old, reference[old], sequence[new]))
        old_end, new_end = old_stop, new_stop
    return found


def _indel(reference: str, start: int, old: str, new: str, offset: int) -> _Difference:
    start, old, new = shift_left(reference, start, old, new)
    if start == 0:
        # No base precedes the indel, so the base after it is the anchor (VCF 4.3, section 1.6.1).
        anchor = reference[len(old)] if len(old) < len(reference) else "N"
        return offset, old + anchor, new + anchor
    return offset + start - 1, reference[start - 1] + old, reference[start - 1] + new
