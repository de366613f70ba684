"""The index of patterns for GPU scanners: the anchor index of the compiled part, and letters packed into words.

A 32-bit word holds eight letters, the first one in the lowest bits. A pattern's last word is filled with N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.native import native
from pairhmm.scan.base import Patterns
from pairhmm.sequences.letters import ANY

PER_WORD = 8
"""Letters of a word."""

COLUMNS = 16
"""Letters of a handle. They are compared first, before the rest of the pattern."""

Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Index:
    """Tables of patterns."""

    bases: int  # letters of an anchor
    # [5**bases / 32, rounded up]: One bit for each sequence of `bases` letters: whether it is an anchor. The index of
    # the bit is the sequence as a base-5 number, with the first letter as the highest digit; A C G T are 0 to 3, all
    # other letters 4.
    known: Words
    first: Words  # [5**bases + 1]: where each sequence's entries begin in `anchor`
    anchor: Words  # [entries]: indices of handles
    anchors: int  # How many handles belong to anchors. The handles after them are for patterns without an anchor.
    # [handles, 4]: Two words with 16 letters of a pattern, the index of the pattern, and the position in it of the
    # anchor. The letters are those after the anchor. For a pattern without an anchor, they are at an informative place,
    # and the position is theirs.
    handles: Words
    patterns: Words  # [patterns, 2]: index of the first word of its letters, and its length
    words: Words  # [...]: letters of all patterns

    @classmethod
    def of(cls, patterns: Patterns, max_mismatches: int) -> Index:
        """The index for matches with at most `max_mismatches` mismatches."""
        bases, anchors, places, *tables = native.scan_index(patterns.letters, patterns.offset, max_mismatches)
        known, first, anchor = (table.reshape(-1) for table in tables)
        lengths = np.diff(patterns.offset)
        first_word = np.concatenate(([0], np.cumsum(-(-lengths // PER_WORD))))
        letters = np.full(PER_WORD * (int(first_word[-1]) + 1), ANY, dtype=np.uint8)
        for begin, end, word in zip(patterns.offset[:-1], patterns.offset[1:], first_word[:-1], strict=True):
            letters[PER_WORD * word : PER_WORD * word + end - begin] = patterns.letters[begin:end]
        handles = np.empty((len(places), 4), dtype=np.uint32)
        handles[:, 2:] = places
        behind = places[:, 1] + np.where(np.arange(len(places)) < anchors, bases, 0)
        handles[:, :2] = _letters_of(letters, PER_WORD * first_word[places[:, 0]], behind, lengths[places[:, 0]])
        told = np.stack([first_word[:-1], lengths], axis=1).astype(np.uint32)
        return cls(bases, known, first, anchor, anchors, handles, told, pack_letters(letters))


def _letters_of(
    letters: NDArray[np.uint8], begin: NDArray[np.int64], column: NDArray[np.int64], length: NDArray[np.int64]
) -> Words:
    """uint32[n, 2]: COLUMNS letters of each pattern from a given column on, with N after its end."""
    columns = column[:, None] + np.arange(COLUMNS)
    inside = columns < length[:, None]
    taken = np.where(inside, letters[np.where(inside, begin[:, None] + columns, 0)], ANY).astype(np.uint8)
    return pack_letters(taken.reshape(-1)).reshape(-1, COLUMNS // PER_WORD)


def pack_letters(letters: NDArray[np.uint8]) -> Words:
    """Pack letters into words. Their number must be a multiple of eight."""
    pairs = letters[0::2] | letters[1::2] << 4
    return pairs.view("<u4")
