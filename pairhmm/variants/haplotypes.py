"""Haplotypes of a region: the reference with combinations of the candidates' alleles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.objects import short_repr
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import trim_allele

UNKNOWN = -1
"""Stands for the allele of a read whose alignment does not show it."""

CarriedAlleles = Callable[[Region], NDArray[np.int16]]
"""Gives the allele of each candidate that each read carries: int16 (reads, candidates), `UNKNOWN` where not shown."""


@dataclass(frozen=True, slots=True)
class Haplotype:
    """One haplotype of a region.

    Attributes
    ----------
    alleles : tuple of int
        The index of its allele at each of the region's candidates. 0 is the reference, also under another candidate's
        deletion.
    name : str
        Name of its FASTA record, where haplotypes were given.
    is_nuisance : bool
        Whether every combination of alleles that spells it has a nuisance's allele.
    """

    sequence: str
    alleles: tuple[int, ...]
    name: str = ""
    is_nuisance: bool = False

    __repr__ = short_repr


class _Edit(NamedTuple):
    """The change of an alternative allele: reference bases `[start, end)` become `bases`."""

    start: int
    end: int
    bases: str

    def conflicts(self, other: _Edit) -> bool:
        """Whether no haplotype can have both: they change the same bases, or insert at the same place."""
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
    """The reference, which begins at `offset`, after some edits that do not conflict."""
    if len(edits) == 1:
        (edit,) = edits
        return f"{reference[: edit.start - offset]}{edit.bases}{reference[edit.end - offset :]}"
    stretches = []
    position = offset
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        stretches.append(reference[position - offset : edit.start - offset])
        stretches.append(edit.bases)
        position = edit.end
    stretches.append(reference[position - offset :])
    return "".join(stretches)


def _combinations(
    region: Region, edits: list[list[_Edit]], limit: int, carried: CarriedAlleles | None
) -> list[tuple[int, ...]]:
    """Allele combinations without conflicts, at most `limit`, in lexicographic order.

    Combinations grow from left to right, candidate by candidate. Whenever there are more than `limit`, only those that
    reads support best are kept. A read supports a combination that agrees with it at every candidate that it shows, and
    counts once for each of these candidates. The reference and each allele by itself are always kept, so that every
    allele has a haplotype.
    """
    if len(edits) == 1:
        return [(allele,) for allele in range(len(edits[0]) + 1)]
    prefixes: list[tuple[int, ...]] = [()]
    shown: NDArray[np.int16] | None = None
    reads = np.empty(0, dtype=np.int64)
    for index, alternatives in enumerate(edits):
        extended = []
        for prefix in prefixes:
            applied = [edits[candidate][allele - 1] for candidate, allele in enumerate(prefix) if allele]
            extended.append((*prefix, 0))
            for allele, edit in enumerate(alternatives, start=1):
                if not any(edit.conflicts(other) for other in applied):
                    extended.append((*prefix, allele))
        prefixes = extended
        if len(prefixes) > limit:
            if shown is None:
                shown, reads = _patterns(region, carried)
            prefixes = _supported(prefixes, shown[:, : index + 1], reads, limit)
    return sorted(prefixes)


def _patterns(region: Region, carried: CarriedAlleles | None) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """The distinct rows of carried alleles, int16 (patterns, candidates), and the number of reads with each."""
    if carried is None:
        return np.empty((0, len(region.variants)), dtype=np.int16), np.empty(0, dtype=np.int64)
    shown = np.ascontiguousarray(carried(region))
    # As bytes: NumPy sorts those many times faster than rows of numbers.
    rows = shown.view(np.dtype((np.void, shown.dtype.itemsize * shown.shape[1]))).reshape(-1)
    _, first, reads = np.unique(rows, return_index=True, return_counts=True)
    return shown[first], reads


def _supported(
    prefixes: list[tuple[int, ...]], shown: NDArray[np.int16], reads: NDArray[np.int64], limit: int
) -> list[tuple[int, ...]]:
    """The `limit` prefixes that reads support best, always with the reference and each allele by itself.

    `reads` is the number of reads that show each row.
    """
    known = shown != UNKNOWN
    weight = known.sum(axis=1) * reads
    agrees = np.ones((len(prefixes), len(shown)), dtype=bool)
    for candidate, alleles in enumerate(np.array(prefixes, dtype=np.int16).T):
        agrees &= (shown[:, candidate] == alleles[:, None]) | ~known[:, candidate]
    support = (agrees @ weight).tolist()
    changes = [sum(allele != 0 for allele in prefix) for prefix in prefixes]
    order = sorted(range(len(prefixes)), key=lambda i: (changes[i] > 1, -support[i], changes[i], prefixes[i]))
    always = sum(change <= 1 for change in changes)
    return [prefixes[i] for i in order[: max(limit, always)]]


def build_haplotypes(
    region: Region, reference: str, max_haplotypes: int = 128, carried: CarriedAlleles | None = None
) -> list[Haplotype]:
    """Build the haplotypes of a region: the reference first, those with a nuisance last.

    Parameters
    ----------
    reference : str
        Reference bases of ``[region.haplotype_start, region.haplotype_end)``.
    max_haplotypes : int
        The most combinations, unless there are more single alleles. Combinations with a nuisance are counted apart, so
        that they do not displace others.
    carried : callable, optional
        Gives the alleles that reads carry according to their alignment. It is called only where there are too many
        combinations.

    Returns
    -------
    list of Haplotype
        No two have the same sequence. Combinations that spell one sequence are one haplotype, which has an alternative
        allele where any of them has one. A combination does not count where some of its alleles alone spell the same
        sequence, as where an insertion and a deletion cancel.
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
    """The haplotypes that the combinations of all alleles of a region spell."""
    edits = _edits(region)
    combos = _combinations(region, edits, max_haplotypes, carried)
    spelled: dict[str, list[tuple[int, ...]]] = {}
    for combo in combos:
        chosen = [edits[candidate][allele - 1] for candidate, allele in enumerate(combo) if allele]
        spelled.setdefault(_apply(reference, region.haplotype_start, chosen), []).append(combo)
    return [Haplotype(sequence, _merged_alleles(members)) for sequence, members in spelled.items()]


def _spread(alleles: tuple[int, ...], columns: list[int], size: int) -> tuple[int, ...]:
    """`size` alleles: the given ones in their columns, and the reference (0) in the others."""
    row = [0] * size
    for column, allele in zip(columns, alleles, strict=True):
        row[column] = allele
    return tuple(row)


def _merged_alleles(members: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The alleles of a haplotype that several combinations spell."""
    if len(members) == 1:
        return members[0]
    minimal = [combo for combo in members if not any(_is_contained(other, combo) for other in members)]
    return tuple(next((allele for allele in column if allele), 0) for column in zip(*minimal, strict=True))


def _is_contained(inner: tuple[int, ...], outer: tuple[int, ...]) -> bool:
    """Whether `inner` has some, but not all, of the alternative alleles of `outer`, and no other."""
    return inner != outer and all(ours in (0, theirs) for ours, theirs in zip(inner, outer, strict=True))
