"""How kernels take pairs that an invocation has each: strip by strip, in dispatches that are short and fit the memory.

No GPU library is needed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FULL = 1 << 17
"""Invocations that keep a device busy. Dispatches are cut by rows rather than to fewer invocations."""

MOST_OF_ONE = 1 << 26
"""Most cells of an invocation in a dispatch, if it can be cut. One computes less than 1 G a second, however few there
are, and operating systems abort submissions that take seconds."""


class StripDispatch(NamedTuple):
    """The strips from `first_row` to `end_row` of the pairs from `begin` to `end`.

    `border` is how many words the dispatch needs for what a strip hands to the next one.
    """

    begin: int
    end: int
    first_row: int
    end_row: int
    border: int


def strip_dispatches(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    strip: int,
    words: NDArray[np.int64],
    most_cells: int,
    most_words: int,
) -> Iterator[StripDispatch]:
    """Cut pairs into dispatches, in the order in which they must run.

    Parameters
    ----------
    rows, columns : ndarray
        Of each pair. Pairs that lie together should be of similar sizes.
    strip : int
        Rows of a strip.
    words : ndarray
        Words that a strip of each pair hands to the next one.
    most_cells : int
        Of a dispatch, if it can be cut.
    most_words : int
        Of a dispatch's border, if it can be cut.
    """
    strips = np.maximum(1, -(-rows // strip))
    words = np.where(strips > 1, words, 0)
    cells = np.maximum(1, strip * columns)  # of a strip
    before = np.concatenate([[0], np.cumsum(cells * strips)])
    begin = 0
    while begin < len(rows):
        end = int(np.searchsorted(before, before[begin] + most_cells, side="right")) - 1
        end = min(len(rows), max(end, begin + FULL))
        # All invocations have as much room on the border.
        while end > begin + 1 and int(words[begin:end].max()) * (end - begin) > most_words:
            end = begin + (end - begin) // 2
        here = int(strips[begin:end].max())
        border = int(words[begin:end].max()) * (end - begin)
        here_cells = cells[begin:end]
        at_once = max(1, min(most_cells // int(here_cells.sum()), MOST_OF_ONE // int(here_cells.max())))
        for first in range(0, here, at_once):
            yield StripDispatch(begin, end, first * strip, min(first + at_once, here) * strip, border)
        begin = end
