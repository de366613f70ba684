"""Fields of the sample columns of VCF records as arrays, many columns at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MISSING = -1
_TAB, _COLON, _COMMA, _SLASH, _BAR, _ZERO = b"\t:,/|0"
_MOST_DIGITS = 9

Spans = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]


class SampleFields:
    """The sample columns of records that have the same FORMAT.

    Parameters
    ----------
    text : bytes
        Columns separated by tabs.

    Attributes
    ----------
    columns : int
        How many there are.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._letters = np.frombuffer(text, dtype=np.uint8)
        ends = np.flatnonzero((self._letters == _TAB) | (self._letters == _COLON))
        self._starts = np.concatenate([[0], ends + 1])
        self._ends = np.concatenate([ends, [len(text)]])
        self._first = np.flatnonzero(np.concatenate([[True], self._letters[ends] == _TAB]))
        self._fields = np.diff(np.concatenate([self._first, [len(self._starts)]]))
        self._commas = np.flatnonzero(self._letters == _COMMA)
        self.columns = len(self._first)

    def _spans(self, field: int) -> Spans:
        """Whether each column has a field, and where it begins and ends."""
        has = self._fields > field
        at = np.where(has, self._first + field, 0)
        return has, self._starts[at], self._ends[at]

    def numbers(self, field: int, count: int) -> NDArray[np.int64]:
        """A field of whole numbers: int64 (columns, count), `MISSING` throughout a row that has not so many numbers.

        Parameters
        ----------
        field : int
            Its place in FORMAT.
        count : int
            How many numbers it has.
        """
        has, start, end = self._spans(field)
        comma = np.searchsorted(self._commas, start)
        has = has & (np.searchsorted(self._commas, end) - comma == count - 1)
        result = np.empty((self.columns, count), dtype=np.int64)
        commas = np.append(self._commas, np.full(count, len(self._text)))
        for number in range(count):
            begin = start if number == 0 else commas[comma + number - 1] + 1
            stop = end if number == count - 1 else commas[comma + number]
            result[:, number] = self._whole(has, begin, stop)
        result[(result == MISSING).any(axis=1)] = MISSING
        return result

    def _whole(self, has: NDArray[np.bool_], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
        width = np.where(has, end - begin, 0)
        good = (width > 0) & (width <= _MOST_DIGITS)
        value = np.zeros(self.columns, dtype=np.int64)
        for place in range(int(width[good].max(initial=0))):
            inside = good & (place < width)
            digit = self._letters[np.where(inside, begin + place, 0)].astype(np.int64) - _ZERO
            good &= ~inside | ((digit >= 0) & (digit <= 9))
            value = np.where(inside, value * 10 + digit, value)
        return np.where(good, value, MISSING)

    def logs(self, field: int, count: int) -> NDArray[np.float64]:
        """A field of numbers with fractions: float64 (columns, count), NaN throughout a row that can't be read."""
        result = np.full((self.columns, count), np.nan)
        for row, (has, start, end) in enumerate(zip(*(part.tolist() for part in self._spans(field)), strict=True)):
            parts = self._text[start:end].split(b",") if has else []
            if len(parts) == count:
                try:
                    result[row] = [float(part) for part in parts]
                except ValueError:
                    continue
        return result

    def genotypes(self, field: int) -> NDArray[np.int8]:
        """Diploid genotypes of two alleles: int8 (columns,), copies of the second one; `MISSING` for any other text."""
        has, start, end = self._spans(field)
        has = has & (end - start == 3)
        first, between, second = (self._letters[np.where(has, start + place, 0)].astype(np.int64) for place in range(3))
        one, other = first - _ZERO, second - _ZERO
        good = has & ((between == _SLASH) | (between == _BAR)) & ((one | other) >> 1 == 0)
        return np.where(good, one + other, MISSING).astype(np.int8)
