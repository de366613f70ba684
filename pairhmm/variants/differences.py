"""Differences of an aligned sequence from the reference, as records of VCF name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pairhmm.alignments.sam import DELETION, MATCH
from pairhmm.variants.variant import shift_left

Difference: TypeAlias = tuple[int, str, str]
"""Position (0-based), reference bases and the sequence's bases. An insertion or deletion includes its anchor base."""


def differences_of(
    reference: str, sequence: str, operations: Iterable[tuple[int, int]], first: int = 0
) -> set[Difference]:
    """The differences of a sequence from the reference, normalised as by ``bcftools norm``.

    Letters that differ are differences of their own. An insertion or deletion is shifted left as far as it spells the
    same sequence. Where both stand side by side, they are one difference without bases that both share, or letters
    of their own if they are equally long.

    Parameters
    ----------
    operations : iterable of (int, int)
        Operations of its alignment to ``reference[first:]``, all of both, with their lengths: M, I and D.
    first : int
        Bases of the reference before the alignment, into which an insertion or deletion may be shifted.

    Returns
    -------
    set of (int, str, str)
        Positions are counted from the first base of `reference`.
    """
    found: set[Difference] = set()
    for start, old, new in _changes(reference, sequence, operations, first):
        start, old, new = _trimmed(start, old, new)
        if len(old) == len(new):
            letters = zip(range(start, start + len(old)), old, new, strict=True)
            found |= {(at, one, other) for at, one, other in letters if one != other}
        else:
            found.add(_anchored(reference, start, old, new))
    return found


def _changes(reference: str, sequence: str, operations: Iterable[tuple[int, int]], first: int) -> Iterator[Difference]:
    """The gaps between columns of two letters, and these columns, without anchor bases."""
    place, at = first, 0
    gap_place, gap_at = first, 0
    for kind, length in operations:
        if kind != MATCH:
            place, at = (place + length, at) if kind == DELETION else (place, at + length)
            continue
        yield gap_place, reference[gap_place:place], sequence[gap_at:at]
        yield place, reference[place : place + length], sequence[at : at + length]
        place, at = place + length, at + length
        gap_place, gap_at = place, at
    yield gap_place, reference[gap_place:place], sequence[gap_at:at]


def _trimmed(start: int, old: str, new: str) -> Difference:
    """A change without the bases that both share at its end and at its beginning; letters of columns stay in place."""
    if len(old) == len(new):
        return start, old, new
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    while old and new and old[0] == new[0]:
        start, old, new = start + 1, old[1:], new[1:]
    return start, old, new


def _anchored(reference: str, start: int, old: str, new: str) -> Difference:
    if old and new:
        return start, old, new
    start, old, new = shift_left(reference, start, old, new)
    if start == 0:
        # No base precedes the indel, so the base after it is the anchor (VCF 4.3, section 1.6.1).
        anchor = reference[len(old)] if len(old) < len(reference) else "N"
        return 0, old + anchor, new + anchor
    return start - 1, reference[start - 1] + old, reference[start - 1] + new
