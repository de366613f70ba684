"""Sequencing errors drawn from the profile model: insertions, deletions and emissions along a haplotype."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.profile import ProfileModel

INSERTED = -1


@dataclass(frozen=True, slots=True)
class ProfileErrors:
    """The distributions that reads are drawn from.

    Attributes
    ----------
    match : float64[4, 4]
        P(read letter a beside haplotype letter h); columns sum to 1.
    insertion : float64[4]
        P(read letter a), inserted.
    from_match : float64[3]
        Transitions MM MI MD.
    extension : float64[2]
        II and DD.
    """

    match: NDArray[np.float64]
    insertion: NDArray[np.float64]
    from_match: NDArray[np.float64]
    extension: NDArray[np.float64]

    @classmethod
    def of(cls, model: ProfileModel) -> ProfileErrors:
        """Those of a model, whatever the copies of a repeat."""
        opening, extension = (
            [model.transitions[name] for name in names] for names in (("MM", "MI", "MD"), ("II", "DD"))
        )
        return cls(model.match[:, :4], model.insertion, np.array(opening), np.array(extension))


def draw_places(
    rng: np.random.Generator, errors: ProfileErrors, begin: NDArray[np.int64], length: int, end: int
) -> NDArray[np.int64]:
    """Haplotype position of every base of reads, drawn from the transitions; a read begins with a match.

    Parameters
    ----------
    begin : int64[reads]
        Where each read begins; one whose deletions lead past `end` begins so much earlier, and has no gaps where the
        haplotype is too short for them.
    length : int
        Bases a read.
    end : int
        Letters of the haplotype.

    Returns
    -------
    int64[reads, length]
        `INSERTED` for inserted bases.
    """
    reads = len(begin)
    _, open_insertion, open_deletion = errors.from_match
    extend_insertion, extend_deletion = errors.extension
    steps = np.ones((reads, length), dtype=np.int64)
    steps[:, 0] = 0
    inserted = np.zeros((reads, length), dtype=bool)
    inserting = np.zeros(reads, dtype=bool)
    for base in range(1, length):
        draw = rng.random(reads)
        inserting = draw < np.where(inserting, extend_insertion, open_insertion)
        # Out of a match alone: nothing leads from an insertion to a deletion.
        deleting = ~inserting & ~inserted[:, base - 1] & (draw < open_insertion + open_deletion)
        which = np.flatnonzero(deleting)
        steps[which, base] += rng.geometric(1 - extend_deletion, len(which))
        inserted[:, base] = inserting
        steps[inserting, base] = 0
    places = np.cumsum(steps, axis=1) + begin[:, None]
    places -= np.maximum(0, places[:, -1:] - (end - 1))
    places[inserted] = INSERTED
    without_gaps(places, places[:, 0] < 0, begin)
    return places


def without_gaps(places: NDArray[np.int64], which: NDArray[np.bool_], begin: NDArray[np.int64]) -> None:
    """Let these reads (bool[reads]) lie from `begin` (int64[reads]) on without gaps."""
    places[which] = begin[which, None] + np.arange(places.shape[1])


def draw_letters(
    rng: np.random.Generator, errors: ProfileErrors, haplotype: NDArray[np.uint8], places: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Letters uint8[reads, length] that the model emits or inserts, before errors of calling."""
    letters = haplotype[places]
    draw = rng.random(places.shape, dtype=np.float32)
    drawn = np.empty(places.shape, dtype=np.uint8)
    for h in range(4):
        beside = letters == h
        drawn[beside] = _letter(errors.match[:, h], draw[beside])
    inserted = places == INSERTED
    drawn[inserted] = _letter(errors.insertion, draw[inserted])
    return drawn


def _letter(probabilities: NDArray[np.float64], draw: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.minimum(np.searchsorted(np.cumsum(probabilities), draw, side="right"), 3).astype(np.uint8)
