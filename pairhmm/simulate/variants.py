"""Simulated variants of a contig, and its two haplotypes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairhmm.simulate.reference import Tract

HET_SHARE = 2 / 3
"""Share of the variants that are heterozygous."""

TRANSITION_SHARE = 2 / 3
"""Share of the SNVs that are transitions."""

CLUSTERED_SHARE = 0.1
"""Share of the variants that are drawn near another one."""

CLUSTER_DISTANCE = 30
"""Bases between a variant that is drawn near another one and that one, at most."""

TRACT_SHARE = 0.4
"""Share of the indels that change the number of copies in a tandem repeat."""

INDEL_LENGTH_EXPONENT = 1.6
"""P(length) of an indel falls as length ** -1.6, about as that of germline indels of 1 to 50 bases."""

MIN_GAP = 2
"""Unchanged bases between neighbouring variants, at least: closer ones could be written as one other variant."""

ATTEMPTS_PER_VARIANT = 200
"""Draws for each variant, on average, before a contig counts as full."""


@dataclass(frozen=True, slots=True)
class TruthVariant:
    """A variant with one alternative allele, left-aligned and trimmed as in VCF.

    Attributes
    ----------
    start : int
        0-based position of the first base of `ref`.
    ref, alt : tuple of int
        Base codes; an indel has its anchor base first.
    genotype : tuple of (int, int)
        Phased alleles of the first and the second haplotype.
    """

    start: int
    ref: tuple[int, ...]
    alt: tuple[int, ...]
    genotype: tuple[int, int]

    @property
    def is_snv(self) -> bool:
        """Whether one base replaces one base."""
        return len(self.ref) == len(self.alt)


@dataclass(frozen=True, slots=True)
class SimulatedHaplotype:
    """One of the two copies of a contig, with its variants.

    Attributes
    ----------
    codes : numpy.ndarray, uint8, shape (n,)
        Base codes.
    ref_positions : numpy.ndarray, int32, shape (n,)
        0-based reference position of each base; -1 for an inserted base.
    """

    codes: np.ndarray
    ref_positions: np.ndarray


class TooManyVariantsError(ValueError):
    """The contig has no room for so many variants; `placed` says how many it has room for."""

    def __init__(self, placed: int) -> None:
        super().__init__(f"room for {placed} variants only")
        self.placed = placed


def place_variants(
    rng: np.random.Generator,
    codes: np.ndarray,
    tracts: list[Tract],
    snvs: int,
    indels: int,
    max_indel: int,
    margin: int,
) -> list[TruthVariant]:
    """Draw variants that do not overlap, and do not lie where another one's indel could be shifted to.

    Parameters
    ----------
    codes : numpy.ndarray, uint8, shape (n,)
        The contig.
    tracts : list of Tract
        The contig's tandem repeats.
    snvs, indels : int
        How many of each to draw.
    max_indel : int
        Bases of the largest insertion or deletion.
    margin : int
        Bases at either end of the contig that get no variants.

    Returns
    -------
    list of TruthVariant
        In order of position.

    Raises
    ------
    TooManyVariantsError
        Where the contig has too few free places.
    """
    taken = np.zeros(len(codes), dtype=bool)
    taken[:margin] = taken[len(codes) - margin :] = True
    lengths = np.arange(1, max_indel + 1)
    weights = lengths**-INDEL_LENGTH_EXPONENT
    weights /= weights.sum()
    variants: list[TruthVariant] = []
    attempts = ATTEMPTS_PER_VARIANT * (snvs + indels)
    # Indels first: they need more room.
    while len(variants) < snvs + indels:
        if attempts == 0 or len(codes) <= 2 * margin:
            raise TooManyVariantsError(len(variants))
        attempts -= 1
        near = variants[int(rng.integers(len(variants)))].start if variants and rng.random() < CLUSTERED_SHARE else None
        if len(variants) < indels:
            size = int(rng.choice(lengths, p=weights))
            draft = _draw_indel(rng, codes, tracts, size, max_indel, margin=margin, near=near)
        else:
            draft = _draw_snv(rng, codes, _draw_position(rng, len(codes), margin, near))
        if draft is None:
            continue
        start, ref, alt = draft
        # An indel takes every position that it can be shifted to, so that none of them touches another variant.
        left, right = start, start + len(ref)
        if len(ref) != len(alt):
            right = _rightmost_end(codes, start, ref, alt)
        window = slice(max(0, left - MIN_GAP), right + MIN_GAP)
        if taken[window].any():
            continue
        taken[left:right] = True
        variants.append(TruthVariant(start, ref, alt, _draw_genotype(rng)))
    return sorted(variants, key=lambda variant: variant.start)


def _draw_position(rng: np.random.Generator, length: int, margin: int, near: int | None) -> int:
    if near is None:
        return int(rng.integers(margin, length - margin))
    return min(length - margin - 1, max(margin, near + int(rng.integers(-CLUSTER_DISTANCE, CLUSTER_DISTANCE + 1))))


def _draw_genotype(rng: np.random.Generator) -> tuple[int, int]:
    if rng.random() >= HET_SHARE:
        return (1, 1)
    return (0, 1) if rng.random() < 0.5 else (1, 0)


def _draw_snv(
    rng: np.random.Generator, codes: np.ndarray, position: int
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    # With codes A 0, C 1, G 2, T 3, the exclusive or with 2 is a transition.
    flip = 2 if rng.random() < TRANSITION_SHARE else int(rng.choice((1, 3)))
    base = int(codes[position])
    return position, (base,), (base ^ flip,)


def _draw_indel(
    rng: np.random.Generator,
    codes: np.ndarray,
    tracts: list[Tract],
    size: int,
    max_indel: int,
    margin: int,
    near: int | None,
) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
    position = _draw_position(rng, len(codes), margin, near)
    tandem = bool(tracts) and near is None and rng.random() < TRACT_SHARE
    if tandem:
        tract = tracts[int(rng.integers(len(tracts)))]
        position = tract.start
        size = min(max_indel // tract.unit, -(-size // tract.unit)) * tract.unit
        if size == 0 or size >= tract.end - tract.start:
            return None
    if position < 1 or position + size > len(codes):
        return None
    if rng.random() < 0.5:
        return left_align(codes, position, codes[position : position + size].tolist(), [])
    # An insertion away from a tandem repeat is as often new sequence as a copy of its neighbour.
    copied = tandem or rng.random() < 0.5
    inserted = codes[position : position + size] if copied else rng.integers(0, 4, size, dtype=np.uint8)
    return left_align(codes, position, [], inserted.tolist())


def left_align(
    codes: np.ndarray, position: int, deleted: list[int], inserted: list[int]
) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
    """Shift a pure insertion or deletion before `position` as far left as it goes and add its anchor base.

    Returns None where it reaches the start of the contig, which leaves no anchor base.
    """
    moving = deleted or inserted
    while position > 0 and codes[position - 1] == moving[-1]:
        moving = [moving[-1], *moving[:-1]]
        position -= 1
    if position == 0:
        return None
    anchor = int(codes[position - 1])
    with_moving = (anchor, *moving)
    return (position - 1, with_moving, (anchor,)) if deleted else (position - 1, (anchor,), with_moving)


def _rightmost_end(codes: np.ndarray, start: int, ref: tuple[int, ...], alt: tuple[int, ...]) -> int:
    """End (exclusive) of the interval in which a left-aligned indel can be shifted."""
    moving = list(ref[1:] or alt[1:])
    end = start + len(ref)
    shift = 0
    while end < len(codes) and codes[end] == moving[shift % len(moving)]:
        end += 1
        shift += 1
    return end


def build_haplotype(codes: np.ndarray, variants: list[TruthVariant], copy: int) -> SimulatedHaplotype:
    """Build one copy of a contig, with the variants that it carries.

    Parameters
    ----------
    codes : numpy.ndarray, uint8, shape (n,)
        The contig.
    variants : list of TruthVariant
        In order of position, without overlaps.
    copy : int
        0 or 1: the first or the second allele of each genotype.
    """
    stretches, places = [], []
    positions = np.arange(len(codes), dtype=np.int32)
    done = 0
    for variant in variants:
        if not variant.genotype[copy]:
            continue
        kept = min(len(variant.ref), len(variant.alt))
        end = variant.start + len(variant.ref)
        alt_places = np.full(len(variant.alt), -1, dtype=np.int32)
        alt_places[:kept] = positions[variant.start : variant.start + kept]
        stretches += [codes[done : variant.start], np.array(variant.alt, dtype=np.uint8)]
        places += [positions[done : variant.start], alt_places]
        done = end
    stretches.append(codes[done:])
    places.append(positions[done:])
    return SimulatedHaplotype(np.concatenate(stretches), np.concatenate(places))
