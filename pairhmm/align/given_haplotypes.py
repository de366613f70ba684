"""Finds the variants of haplotypes that were given as sequences, so that these can be genotyped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from pairhmm.align.base import ALIGNERS, Aligner
from pairhmm.align.batch import SequencePairs, Sequences
from pairhmm.align.scoring import PRESETS
from pairhmm.alignments.sam import MATCH
from pairhmm.sequences.letters import encode
from pairhmm.variants.differences import Difference, differences_of
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import Variant

_SCORING = replace(PRESETS["gatk-haplotype"], overhang="indel")
"""GATK aligns haplotypes so. It clips their ends, and leaves out those that were clipped; these here are aligned whole,
which is the same alignment wherever GATK keeps a haplotype."""

_NEVER_GAPPED = 2
"""Sequences of equal length with at most this many mismatches need no alignment: a mismatch costs 350, and two gaps in
place of mismatches 720."""


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
    found = differences_of_each(reference, [haplotype.sequence for haplotype in haplotypes])
    differences = [{(region.start + position, old, new) for position, old, new in one} for one in found]
    sites: dict[tuple[int, bool], set[Difference]] = {}
    for difference in set[Difference]().union(*differences):
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


def find_differences(reference: str, sequence: str, offset: int) -> set[Difference]:
    """Differences of a sequence from the reference, which begins at `offset`. Indels are shifted left."""
    (found,) = differences_of_each(reference, [sequence])
    return {(offset + position, old, new) for position, old, new in found}


def differences_of_each(reference: str, sequences: Sequence[str], first: int = 0) -> list[set[Difference]]:
    """The differences of sequences from the reference, by the alignments of GATK's HaplotypeCaller.

    Parameters
    ----------
    reference : str
    sequences : sequence of str
        Each spans ``reference[first:]``.
    first : int
        Bases of the reference before the sequences, into which indels may be shifted.

    Returns
    -------
    list of set of (int, str, str)
        Positions are counted from the first base of `reference`.
    """
    spanned = reference[first:]
    aligned = [one for one in dict.fromkeys(sequences) if not _is_plain(spanned, one)]
    targets = Sequences.of([encode(spanned)])
    pairs = SequencePairs.all_of(Sequences.of([encode(one) for one in aligned]), targets)
    found = _aligner().alignments(pairs, _SCORING, 1) if aligned else None
    operations = {one: [(MATCH, len(one))] for one in sequences}
    for index, one in enumerate(aligned):
        assert found is not None
        words = found.part(index, index + 1).cigars.tolist()
        operations[one] = [(word & 15, word >> 4) for word in words]
    return [differences_of(reference, one, operations[one], first) for one in sequences]


def _is_plain(reference: str, sequence: str) -> bool:
    """Whether a sequence needs no alignment, since gaps would cost more than its mismatches."""
    if len(reference) != len(sequence):
        return False
    return sum(old != new for old, new in zip(reference, sequence, strict=True)) <= _NEVER_GAPPED


@cache
def _aligner() -> Aligner:
    return ALIGNERS.on_the_cpu()
