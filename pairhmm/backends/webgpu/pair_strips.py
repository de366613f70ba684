"""How kernels take pairs that an invocation has each: strip by strip, in dispatches that are short and fit the memory.

No GPU library is needed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu.declarations import Field

FULL = 1 << 17
"""Invocations that keep a device busy. Dispatches are cut by rows rather than to fewer invocations."""

MOST_OF_ONE = 1 << 26
"""Most cells of an invocation in a dispatch, if it can be cut. One computes less than 1 G a second, however few there
are, and operating systems abort submissions that take seconds."""


DISPATCH_FIELDS = (
    Field("first_pair", "u32", "of the dispatch"),
    Field("items", "u32", "invocations that have pairs"),
    Field("stride", "u32", "items that have room in the border"),
    Field("first_row", "u32", "of the dispatch: of a strip"),
    Field("end_row", "u32", "likewise, or one behind all rows"),
)
"""The first fields of the uniform block of a dispatch, for all kernels."""


class StripDispatch(NamedTuple):
    """The strips from `first_row` to `end_row` of the pairs from `begin` to `end`.

    `border` is how many words the dispatch needs for what a strip hands to the next one.
    """

    begin: int
    end: int
    first_row: int
    end_row: int
    border: int

    def params(self, first_pair: int) -> dict[str, int]:
        """The values of `DISPATCH_FIELDS`, where the pairs begin at `first_pair` of a table."""
        items = self.end - self.begin
        rows = {"first_row": self.first_row, "end_row": self.end_row}
        return {"first_pair": first_pair + self.begin, "items": items, "stride": items, **rows}


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
