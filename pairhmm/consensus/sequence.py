"""The consensus sequence of a contig. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.run_options import MIN_MAPQ
from pairhmm.consensus.alleles import ContigAlleles, Indel
from pairhmm.options import Within, check_fields
from pairhmm.sequences.letters import ANY, HIGHEST_SAM_QUALITY, SET_OF_LETTER, decode_sets, encode_sets

# Sums of fractions that a file rounds.
_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class ConsensusOptions:
    """How a consensus is made.

    Attributes
    ----------
    min_depth : int
        Positions with a lower depth become N, and insertions and deletions there are left out.
    min_fraction : float
        The fewest bases that make up this fraction, the most frequent first, stand at a position: one, or an IUPAC
        code of several. An insertion or deletion is applied if it has this fraction, and no other allele has more.
    iupac_fraction : float or None
        Every base of this fraction is in the IUPAC code of its position, too.
    min_mapq, min_base_quality : int
        Alignments and bases with a lower quality (Phred) do not count as depth.
    """

    min_depth: Annotated[int, Within(0)] = 10
    min_fraction: Annotated[float, Within(0, 1)] = 0.5
    iupac_fraction: Annotated[float | None, Within(0, 1)] = None
    min_mapq: Annotated[int, Within(0, 255)] = MIN_MAPQ
    min_base_quality: Annotated[int, Within(0, HIGHEST_SAM_QUALITY)] = CandidateOptions().min_base_quality

    def __post_init__(self) -> None:
        check_fields(self)


class ConsensusKeywords(TypedDict, total=False):
    """The fields of `ConsensusOptions`."""

    min_depth: int
    min_fraction: float
    iupac_fraction: float | None
    min_mapq: int
    min_base_quality: int


class Consensus(NamedTuple):
    """A consensus sequence.

    Attributes
    ----------
    letters : str
    changed, ambiguous, masked : int
        Positions of another base than the reference's, of an IUPAC code of several bases, and of too low a depth.
    applied : list of Indel
        In order.
    left_out : list of (Indel, str)
        Each with the reason, the most frequent first.
    """

    letters: str
    changed: int
    ambiguous: int
    masked: int
    applied: list[Indel]
    left_out: list[tuple[Indel, str]]


def make_consensus(
    reference: str, alleles: ContigAlleles, depth: NDArray[np.uint32], options: ConsensusOptions
) -> Consensus:
    """The consensus of a contig: its reference bases, the alleles of a sample, and the depth of its reads."""
    own = encode_sets(reference)
    sets = _chosen_bases(own, alleles, options)
    sets[depth < options.min_depth] = ANY
    applied, left_out = _chosen_indels(alleles.indels, depth, options)
    kept = np.ones(len(sets), dtype=bool)
    for indel in applied:
        kept[indel.positions(len(sets))] = False
    is_deep = kept & (depth >= options.min_depth)
    is_several = (sets & (sets - 1)) != 0
    return Consensus(
        _spliced(sets, applied),
        int(((sets != own) & ~is_several & is_deep).sum()),
        int(((sets != own) & is_several & is_deep).sum()),
        int((kept & (depth < options.min_depth)).sum()),
        applied,
        left_out,
    )


def _chosen_bases(own: NDArray[np.uint8], alleles: ContigAlleles, options: ConsensusOptions) -> NDArray[np.uint8]:
    """The set of bases of each position of the reference, whose own are `own`."""
    sets, deleted = own.copy(), np.zeros(len(own))
    for indel in alleles.indels:
        deleted[indel.positions(len(own))] += indel.fraction
    for position, others in alleles.bases.items():
        rest = max(0.0, 1 - sum(others.values()) - deleted[position])
        sets[position] = _chosen_set(int(own[position]), rest, others, options)
    return sets


def _chosen_set(own: int, rest: float, others: Mapping[str, float], options: ConsensusOptions) -> int:
    """The set of bases of a position: the reference's base has the rest, and comes first of equal fractions."""
    shares = [(rest, own), *((share, int(SET_OF_LETTER[ord(base)])) for base, share in others.items())]
    total = sum(share for share, _ in shares)
    chosen, held = 0, 0.0
    for share, bases in sorted(shares, key=lambda one: -one[0]):
        is_needed = not chosen or held < options.min_fraction * total - _SLACK
        is_frequent = options.iupac_fraction is not None and share >= options.iupac_fraction * total - _SLACK
        if share > 0 and (is_needed or is_frequent):
            chosen |= bases
            held += share
    return chosen


def _chosen_indels(
    indels: Sequence[Indel], depth: NDArray[np.uint32], options: ConsensusOptions
) -> tuple[list[Indel], list[tuple[Indel, str]]]:
    """Insertions and deletions that are applied, in order, and the others with the reason."""
    chosen = [_chosen_of_some(near, depth, options) for near in _neighbours(_unrolled(indels, len(depth)))]
    applied = [indel for own, _ in chosen for indel in own]
    left_out = [indel for _, others in chosen for indel in others]
    return applied, sorted(left_out, key=lambda one: -one[0].fraction)


def _unrolled(indels: Sequence[Indel], length: int) -> list[Indel]:
    """Those at the beginning of a circle follow the last base if they are neighbours of one over the origin."""
    reach = max((one.end for one in indels), default=0) - length
    if reach <= 0:
        return list(indels)
    unrolled = []
    for indel in sorted(indels, key=lambda one: one.start):
        is_behind = indel.start <= reach and indel.end <= length
        reach = max(reach, indel.end) if is_behind else reach
        behind = replace(indel, start=indel.start + length, end=indel.end + length)
        unrolled.append(behind if is_behind else indel)
    return unrolled


def _neighbours(indels: Sequence[Indel]) -> Iterator[list[Indel]]:
    """Insertions and deletions in groups, of which none overlaps one of another group."""
    group: list[Indel] = []
    for indel in sorted(indels, key=lambda one: (one.start, one.end)):
        if group and indel.start > max(one.end for one in group):
            yield group
            group = []
        group.append(indel)
    if group:
        yield group


def _chosen_of_some(
    indels: Sequence[Indel], depth: NDArray[np.uint32], options: ConsensusOptions
) -> tuple[list[Indel], list[tuple[Indel, str]]]:
    applied: list[Indel] = []
    left_out: list[tuple[Indel, str]] = []
    for indel in sorted(indels, key=lambda one: (-one.fraction, one.start, one.end)):
        rest = 1 - sum(other.fraction for other in indels if other.overlaps(indel))
        if any(indel.overlaps(other) for other in applied):
            left_out.append((indel, "it overlaps one that was applied"))
        elif indel.fraction < options.min_fraction - _SLACK or indel.fraction <= rest:
            left_out.append((indel, "its fraction is too low"))
        elif depth[max(0, indel.start - 1) % len(depth)] < options.min_depth:
            left_out.append((indel, "the depth before it is too low"))
        else:
            applied.append(indel)
    return sorted(applied, key=lambda one: (one.start, one.end)), left_out


def _spliced(sets: NDArray[np.uint8], indels: Sequence[Indel]) -> str:
    """The bases with insertions and deletions applied. What is behind the last base is the contig's beginning."""
    length = len(sets)
    behind = [replace(one, start=one.start - length, end=one.end - length) for one in indels if one.start > length]
    parts, at = [], max(0, max((one.end for one in indels if one.start <= length), default=0) - length)
    for indel in (*behind, *(one for one in indels if one.start <= length)):
        parts += [decode_sets(sets[at : indel.start]), indel.bases]
        at = indel.end
    return "".join([*parts, decode_sets(sets[at:])])
