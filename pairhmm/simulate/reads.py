"""Simulated read pairs from two haplotypes: qualities, errors at the rate of the qualities, true alignments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pairhmm.simulate.profile_errors import ProfileErrors, draw_letters, draw_places, without_gaps
from pairhmm.simulate.stutter import Rates, draw_stutter, find_tracts
from pairhmm.simulate.variants import SimulatedHaplotype

FRAGMENTS_AT_ONCE = 1 << 15
"""Fragments that are sequenced in one array operation, to bound the memory."""

FRAGMENT_MEAN, FRAGMENT_SPREAD = 400, 70
"""Mean and standard deviation of the fragments' lengths, in bases."""

MIN_QUALITY, MAX_QUALITY = 2, 41
"""The lowest and the highest base quality (Phred), as on Illumina's sequencers."""

SLIP_BASE, SLIP_GROWTH, SLIP_MAX = 3e-6, 1.65, 0.02
"""Probability that sequencing drops or doubles a base of a homopolymer of n: BASE * GROWTH ** (n - 1), at most MAX."""

CIGAR_M, CIGAR_I, CIGAR_D, CIGAR_S = 0, 1, 2, 4
"""Operations of a CIGAR as BAM numbers them."""


@dataclass(slots=True)
class SimulatedReads:
    """Reads of one contig. The left read of fragment k is at row 2k, the right one at row 2k + 1.

    Attributes
    ----------
    codes, quals : numpy.ndarray, uint8, shape (2 * fragments, read length)
        Base codes and Phred qualities along the reference strand.
    starts, ends : numpy.ndarray, int32, shape (2 * fragments,)
        Reference span of the alignment, 0-based half-open.
    first_is_left : numpy.ndarray, bool, shape (fragments,)
        Whether the left read is the first of its pair, so that the fragment is from the forward strand.
    cigars : dict of int to list of (int, int)
        BAM (operation, length) pairs of each row whose alignment is more than one match.
    """

    codes: np.ndarray
    quals: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    first_is_left: np.ndarray
    cigars: dict[int, list[tuple[int, int]]]

    @classmethod
    def concatenate(cls, parts: Sequence[SimulatedReads]) -> SimulatedReads:
        """The fragments of all parts, in their order."""
        first = 0
        cigars: dict[int, list[tuple[int, int]]] = {}
        for part in parts:
            cigars |= {first + row: cigar for row, cigar in part.cigars.items()}
            first += len(part.starts)
        names = ("codes", "quals", "starts", "ends", "first_is_left")
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(**arrays, cigars=cigars)


def draw_reads(
    rng: np.random.Generator,
    haplotypes: Sequence[SimulatedHaplotype],
    fragments: int,
    read_length: int,
    errors: ProfileErrors | None = None,
    fragment_mean: float = FRAGMENT_MEAN,
    fragment_spread: float = FRAGMENT_SPREAD,
    stutter: Rates | None = None,
) -> SimulatedReads:
    """Sequence `fragments` fragments, each from a random place of a random haplotype.

    Parameters
    ----------
    haplotypes : sequence of SimulatedHaplotype
        The copies of the contig, as many as the ploidy.
    fragments : int
        Pairs of reads.
    read_length : int
        Bases a read; shorter than either haplotype.
    errors : ProfileErrors, optional
        Gaps and letters come from the profile model, and errors of calling follow the qualities on top; without it,
        bases slip in runs of one letter.
    fragment_mean, fragment_spread : float
        Mean and standard deviation of the fragments' lengths, bases. No fragment is shorter than a read.
    stutter : Rates, optional
        How often tandem repeats gain and lose units, in place of the slips and of `errors`.
    """
    rows = 2 * fragments
    reads = SimulatedReads(
        codes=np.empty((rows, read_length), dtype=np.uint8),
        quals=np.empty((rows, read_length), dtype=np.uint8),
        starts=np.empty(rows, dtype=np.int32),
        ends=np.empty(rows, dtype=np.int32),
        first_is_left=rng.random(fragments) < 0.5,
        cigars={},
    )
    copies = rng.integers(0, len(haplotypes), fragments)
    lengths = np.rint(rng.normal(fragment_mean, fragment_spread, fragments)).astype(np.int64)
    places = rng.random(fragments)
    for copy, haplotype in enumerate(haplotypes):
        slips = _slip_rates(haplotype.codes)
        tracts = None if stutter is None else find_tracts(haplotype.codes, stutter)
        inserted = np.concatenate(([0], np.cumsum(haplotype.ref_positions < 0)))
        mine = np.flatnonzero(copies == copy)
        # A read with a slip needs one base more than its length.
        size = np.clip(lengths[mine], read_length, len(haplotype.codes) - 1)
        left = (places[mine] * (len(haplotype.codes) - size)).astype(np.int64)
        for first in range(0, len(mine), FRAGMENTS_AT_ONCE):
            some = slice(first, first + FRAGMENTS_AT_ONCE)
            first_is_left = reads.first_is_left[mine[some]]
            for side in (0, 1):
                begin = left[some] if side == 0 else left[some] + size[some] - read_length
                rows_here = 2 * mine[some] + side
                read_two = first_is_left if side == 1 else ~first_is_left
                if stutter is not None and tracts is not None:
                    drawn = _Drawn(*draw_stutter(rng, haplotype.codes, tracts, stutter, begin, read_length))
                elif errors is None:
                    drawn = _draw_slips(rng, haplotype, slips, begin, read_length)
                else:
                    drawn = _draw_profile(rng, haplotype, errors, begin, read_length)
                _sequence(rng, reads, rows_here, haplotype, inserted, drawn=drawn, reverse=side == 1, read_two=read_two)
    return reads


class _Drawn(NamedTuple):
    """Reads before errors of calling: [reads, length], and a number a read.

    `source` is the haplotype position of each base (-1 for an inserted one), `copied` whether a base is a further copy
    of that position, `slipped` whether there is a gap, `codes` the letters, if they are not the haplotype's.
    """

    source: np.ndarray
    copied: np.ndarray
    slipped: np.ndarray
    codes: np.ndarray | None = None


def _sequence(
    rng: np.random.Generator,
    reads: SimulatedReads,
    rows: np.ndarray,
    haplotype: SimulatedHaplotype,
    inserted: np.ndarray,
    drawn: _Drawn,
    reverse: bool,
    read_two: np.ndarray,
) -> None:
    length = reads.codes.shape[1]
    source, copied, slipped, codes = drawn
    codes = haplotype.codes[source] if codes is None else codes
    quals = draw_qualities(rng, len(rows), length, read_two)
    if reverse:
        # The sequencer reads this mate from its right end.
        quals = quals[:, ::-1]
    wrong = rng.random(codes.shape, dtype=np.float32) < ERROR_OF_QUALITY[quals]
    codes[wrong] = (codes[wrong] + rng.integers(1, 4, int(wrong.sum()), dtype=np.uint8)) % 4
    reads.codes[rows] = codes
    reads.quals[rows] = quals

    first, last = source[:, 0], source.max(axis=1)
    starts, ends = haplotype.ref_positions[first], haplotype.ref_positions[last] + 1
    plain = (inserted[last + 1] == inserted[first]) & (ends - starts == length) & ~slipped
    for k in np.flatnonzero(~plain).tolist():
        places = np.where((source[k] >= 0) & ~copied[k], haplotype.ref_positions[source[k]], -1)
        starts[k], ends[k], cigar = true_cigar(places)
        reads.cigars[int(rows[k])] = cigar
    reads.starts[rows] = starts
    reads.ends[rows] = ends


def _slip_rates(codes: np.ndarray) -> np.ndarray:
    """Cumulative rate of slips before each base (float64, shape (n + 1,)), a homopolymer's at its first base."""
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    lengths = np.diff(np.concatenate((starts, [len(codes)])))
    rates = np.zeros(len(codes))
    rates[starts] = np.minimum(SLIP_MAX, SLIP_BASE * SLIP_GROWTH ** (np.minimum(lengths, 64) - 1))
    return np.concatenate(([0.0], np.cumsum(rates)))


def _draw_slips(
    rng: np.random.Generator, haplotype: SimulatedHaplotype, slips: np.ndarray, begin: np.ndarray, length: int
) -> _Drawn:
    """Reads in which at most one run of a letter has slipped: a base is dropped or doubled."""
    source = begin[:, None] + np.arange(length)
    doubled = np.full(len(begin), -1)
    # Not at the first two bases and the last: an aligner clips an indel there.
    low, high = slips[begin + 2], slips[begin + length - 1]
    draw = low + rng.random(len(begin))
    slipped = draw < high
    which = np.flatnonzero(slipped)
    at = np.searchsorted(slips, draw[which], side="right") - 1 - begin[which]
    drops = rng.random(len(which)) < 0.6
    # A read with a dropped base takes one more base from the right, which the contig may not have.
    drops &= begin[which] + length < len(haplotype.codes)
    steps = np.where(drops, 1, -1)
    moved = np.arange(length)[None, :] >= (at + ~drops)[:, None]
    source[which] += steps[:, None] * moved
    # The first of the two copies counts as inserted, so that the insertion is left-aligned in its homopolymer.
    doubled[which[~drops]] = at[~drops]
    return _Drawn(source, np.arange(length) == doubled[:, None], slipped)


def _draw_profile(
    rng: np.random.Generator, haplotype: SimulatedHaplotype, errors: ProfileErrors, begin: np.ndarray, length: int
) -> _Drawn:
    source = draw_places(rng, errors, begin, length, len(haplotype.codes))
    # A read that is inserted from end to end has no place on the reference.
    nowhere = np.where(source >= 0, haplotype.ref_positions[source], -1).max(axis=1) < 0
    without_gaps(source, nowhere, begin)
    has_gap = (source < 0).any(axis=1) | (source.max(axis=1) - source[:, 0] != length - 1)
    letters = draw_letters(rng, errors, haplotype.codes, source)
    return _Drawn(source, np.zeros(source.shape, dtype=bool), has_gap, letters)


def draw_qualities(rng: np.random.Generator, count: int, length: int, read_two: np.ndarray) -> np.ndarray:
    """Phred qualities in the order of sequencing, like those of an Illumina sequencer.

    Qualities sink along the read. They are lower for second reads and for poor clusters. Noise only lowers them, so
    that their distribution is skewed to the left. Now and then a cycle is bad.

    Parameters
    ----------
    count, length : int
        Reads and bases a read.
    read_two : numpy.ndarray, bool, shape (count,)
        Whether each is the second read of its pair.

    Returns
    -------
    numpy.ndarray, uint8, shape (count, length)
        Between `MIN_QUALITY` and `MAX_QUALITY`.
    """
    cycle = np.arange(length, dtype=np.float32) / max(1, length - 1)
    ramp = np.minimum(1.0, np.arange(length, dtype=np.float32) / 5 + 0.85)
    plateau = 40.0 * ramp - 4.0 * cycle**2
    cluster = rng.gamma(1.2, 1.2, count).astype(np.float32) + 1.0 * read_two
    spread = (1.0 + 0.35 * cluster)[:, None] * (1.0 + 1.5 * cycle**2)
    noise = np.abs(rng.standard_normal((count, length), dtype=np.float32))
    quals = plateau - cluster[:, None] - spread * noise
    bad = rng.random((count, length), dtype=np.float32) < 0.008
    quals[bad] = rng.uniform(MIN_QUALITY, 22, int(bad.sum()))
    return np.clip(np.rint(quals), MIN_QUALITY, MAX_QUALITY).astype(np.uint8)


ERROR_OF_QUALITY = (10.0 ** (-np.arange(256) / 10)).astype(np.float32)
"""float32[256]: the error probability of each Phred quality."""


def true_cigar(places: np.ndarray) -> tuple[int, int, list[tuple[int, int]]]:
    """Alignment of a read whose bases are at `places` of the reference.

    Parameters
    ----------
    places : numpy.ndarray, int32, shape (read length,)
        0-based reference position of each base, ascending; -1 for an inserted base.

    Returns
    -------
    start, end : int
        Reference span, 0-based half-open.
    cigar : list of (int, int)
        (operation as in BAM, length) pairs. Inserted bases at either end are soft clips.
    """
    matched = np.flatnonzero(places >= 0)
    on_ref = places[matched]
    # A new block of matches begins where the read or the reference jumps.
    breaks = np.flatnonzero((np.diff(matched) > 1) | (np.diff(on_ref) > 1)) + 1
    firsts = np.concatenate(([0], breaks))
    lasts = np.concatenate((breaks, [len(matched)])) - 1
    cigar: list[tuple[int, int]] = []
    if matched[0] > 0:
        cigar.append((CIGAR_S, int(matched[0])))
    for block, (first, last) in enumerate(zip(firsts.tolist(), lasts.tolist(), strict=True)):
        if block:
            inserted = int(matched[first] - matched[first - 1]) - 1
            deleted = int(on_ref[first] - on_ref[first - 1]) - 1
            cigar += [(op, size) for op, size in ((CIGAR_I, inserted), (CIGAR_D, deleted)) if size]
        cigar.append((CIGAR_M, last - first + 1))
    tail = len(places) - 1 - int(matched[-1])
    if tail:
        cigar.append((CIGAR_S, tail))
    return int(on_ref[0]), int(on_ref[-1]) + 1, cigar
