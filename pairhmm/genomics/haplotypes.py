"""Haplotypes of a region: the reference with combinations of the candidates' alleles put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.regions import Region, trim_allele
from pairhmm.interface.display import short_repr

# Allele index a read carries where its alignment does not say.
UNKNOWN = -1

CarriedAlleles = Callable[[Region], NDArray[np.int16]]


@dataclass(frozen=True, slots=True)
class Haplotype:
    """One haplotype of a region.

    Attributes
    ----------
    sequence : str
    alleles : tuple of int
        The allele of each of the region's candidates, 0 for the reference (also under another candidate's deletion).
    name : str
        The FASTA record's name where haplotypes were given.
    is_nuisance : bool
        No combination of alleles without a nuisance spells it.
    """

    sequence: str
    alleles: tuple[int, ...]
    name: str = ""
    is_nuisance: bool = False

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class _Edit:
    """What one alternative allele does to the reference: `[start, end)` becomes `bases`."""

    start: int
    end: int
    bases: str

    def conflicts(self, other: _Edit) -> bool:
        """Whether the two cannot stand on one haplotype: they share bases, or both insert at one place."""
        if self.start == self.end or other.start == other.end:
            inside = max(self.start, other.start) < min(self.end, other.end)
            same_place = self.start == other.start and self.end == other.end
            within = self.start < other.start < self.end or other.start < self.start < other.end
            return inside or same_place or within
        return self.start < other.end and other.start < self.end


def _edits(region: Region) -> list[list[_Edit]]:
    """The edit of each alternative allele of each candidate."""
    edits = []
    for variant in region.variants:
        row = []
        for alt in variant.alts:
            head, ref_part, alt_part = trim_allele(variant.ref, alt)
            start = variant.pos + head
            row.append(_Edit(start, start + len(ref_part), alt_part))
        edits.append(row)
    return edits


def _apply(reference: str, offset: int, edits: Sequence[_Edit]) -> str:
    """The reference, which begins at `offset`, with edits that do not conflict put in."""
    parts = []
    position = offset
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts.append(reference[position - offset : edit.start - offset])
        parts.append(edit.bases)
        position = edit.end
    parts.append(reference[position - offset :])
    return "".join(parts)


def _combinations(
    region: Region, edits: list[list[_Edit]], limit: int, carried: CarriedAlleles | None
) -> list[tuple[int, ...]]:
    """Allele combinations without conflicts, at most `limit`, in lexicographic order.

    Candidates are taken from left to right. Whenever there are more combinations than `limit`, those stay that the
    reads support best: the reads that agree with a combination at every candidate they show count once for each such
    candidate. The reference and each allele by itself always stay, so that every allele has a haplotype.
    """
    prefixes: list[tuple[int, ...]] = [()]
    shown: NDArray[np.int16] | None = None
    for index, alternatives in enumerate(edits):
        extended = []
        for prefix in prefixes:
            applied = [edits[site][allele - 1] for site, allele in enumerate(prefix) if allele]
            extended.append((*prefix, 0))
            for allele, edit in enumerate(alternatives, start=1):
                if not any(edit.conflicts(other) for other in applied):
                    extended.append((*prefix, allele))
        prefixes = extended
        if len(prefixes) > limit:
            if shown is None:
                sites = len(edits)
                shown = carried(region) if carried is not None else np.empty((0, sites), dtype=np.int16)
            prefixes = _supported(prefixes, shown[:, : index + 1], limit)
    return sorted(prefixes)


def _supported(prefixes: list[tuple[int, ...]], shown: NDArray[np.int16], limit: int) -> list[tuple[int, ...]]:
    """The `limit` prefixes that reads support best, and with them the reference and each allele by itself."""
    known = shown != UNKNOWN
    weight = known.sum(axis=1)
    support = []
    for prefix in prefixes:
        agrees = ((shown == np.array(prefix, dtype=np.int16)) | ~known).all(axis=1)
        support.append(int(weight[agrees].sum()))
    changes = [sum(allele != 0 for allele in prefix) for prefix in prefixes]
    order = sorted(range(len(prefixes)), key=lambda i: (changes[i] > 1, -support[i], changes[i], prefixes[i]))
    always = sum(change <= 1 for change in changes)
    return [prefixes[i] for i in order[: max(limit, always)]]


def build_haplotypes(
    region: Region, reference: str, max_haplotypes: int = 128, carried: CarriedAlleles | None = None
) -> list[Haplotype]:
    """The haplotypes of a region, the reference first, and those with a nuisance last.

    Parameters
    ----------
    region : Region
    reference : str
        Reference bases of ``[region.haplotype_start, region.haplotype_end)``.
    max_haplotypes : int
        The most combinations made, unless there are more single alleles; nuisances get as many of their own, so that
        they take no combination of other alleles away.
    carried : callable, optional
        Gives the alleles that reads carry by their alignment, asked only where there are too many combinations: int16
        (reads, candidates), `UNKNOWN` where a read does not show a candidate.

    Returns
    -------
    list of Haplotype
        Sequences are distinct. Combinations that spell one sequence are one haplotype, which has an alternative allele
        where any of them has; a combination is left out where some of its own alleles already spell its sequence (an
        insertion and a deletion that cancel, say).
    """
    own = [number for number, variant in enumerate(region.variants) if variant.role != "nuisance"]
    if len(own) == len(region.variants):
        return _spelled(region, reference, max_haplotypes, carried)
    without = replace(
        region,
        variants=tuple(region.variants[number] for number in own),
        extents=tuple(region.extents[number] for number in own),
    )
    haplotypes = [
        replace(haplotype, alleles=_spread(haplotype.alleles, own, len(region.variants)))
        for haplotype in _spelled(without, reference, max_haplotypes, carried)
    ]
    known = {haplotype.sequence for haplotype in haplotypes}
    for haplotype in _spelled(region, reference, max_haplotypes, carried):
        if haplotype.sequence not in known:
            haplotypes.append(replace(haplotype, is_nuisance=True))
    return haplotypes


def _spelled(region: Region, reference: str, max_haplotypes: int, carried: CarriedAlleles | None) -> list[Haplotype]:
    edits = _edits(region)
    combos = _combinations(region, edits, max_haplotypes, carried)
    spelled: dict[str, list[tuple[int, ...]]] = {}
    for combo in combos:
        chosen = [edits[site][allele - 1] for site, allele in enumerate(combo) if allele]
        spelled.setdefault(_apply(reference, region.haplotype_start, chosen), []).append(combo)
    return [Haplotype(sequence, _merged_alleles(members)) for sequence, members in spelled.items()]


def _spread(alleles: tuple[int, ...], columns: list[int], size: int) -> tuple[int, ...]:
    """Alleles of some columns among the reference's of the others."""
    row = [0] * size
    for column, allele in zip(columns, alleles, strict=True):
        row[column] = allele
    return tuple(row)


def _merged_alleles(members: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The alleles of a haplotype that several combinations spell."""
    if len(members) == 1:
        return members[0]
    minimal = [combo for combo in members if not any(_is_part(other, combo) for other in members)]
    return tuple(next((allele for allele in site if allele), 0) for site in zip(*minimal, strict=True))


def _is_part(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether `part` has some, not all, of the alternative alleles of `whole` and no other."""
    return part != whole and all(p in (0, w) for p, w in zip(part, whole, strict=True))
