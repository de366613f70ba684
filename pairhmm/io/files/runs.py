"""Columns whose values repeat, without a value for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairhmm.compiled import native
from pairhmm.genomics.arrays import offsets
from pairhmm.genomics.names import Names

Values = Names | NDArray[Any]
"""The different values of a column: texts, or whole numbers."""
Sums = tuple[tuple[int, int], ...]
"""CRC-32 and number of the bytes of a column's values, and where these are text, of their lengths as int32."""


@dataclass(frozen=True, slots=True)
class Runs:
    """A column of runs of equal values.

    Attributes
    ----------
    values : Names or array of whole numbers
    code : int32 (runs,)
        Index into `values`.
    count : int64 (runs,)
        The rows of each run.
    """

    values: Values
    code: NDArray[np.int32]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, values: Values, count: NDArray[np.int64], code: NDArray[np.integer] | None = None) -> Self:
        """A run of each value, or of the value that each code stands for. Runs without rows are left out."""
        codes = np.arange(len(values)) if code is None else code
        is_first = np.ones(len(codes), dtype=bool)
        np.not_equal(codes[1:], codes[:-1], out=is_first[1:])
        first = np.flatnonzero(is_first)
        rows = np.add.reduceat(count, first) if len(first) else count
        has_rows = rows > 0
        return cls(values, codes[first[has_rows]].astype(np.int32), rows[has_rows])

    def encoded(self, width: int) -> bytes:
        """The codes as Parquet has them, in so many bits each."""
        return native.encoded_runs(self.code, self.count, width)

    def sums(self) -> Sums:
        """The checksums of all rows."""
        if isinstance(self.values, Names):
            texts = self.values.at(self.code.astype(np.int64))
            lengths = np.diff(texts.offset)
            of_text = native.runs_crc32(np.frombuffer(texts.text, dtype=np.uint8), texts.end, self.count)
            of_lengths = Runs.of(np.arange(int(lengths.max(initial=0)) + 1, dtype=np.int32), self.count, lengths)
            return (of_text, int(lengths @ self.count)), *of_lengths.sums()
        values = np.ascontiguousarray(self.values[self.code])
        size = values.dtype.itemsize
        ends = np.arange(1, len(values) + 1, dtype=np.int64) * size
        return ((native.runs_crc32(values.view(np.uint8), ends, self.count), int(self.count.sum()) * size),)


@dataclass(frozen=True, slots=True)
class Cycles:
    """A column of texts that come again and again: part after part, each so many times.

    Attributes
    ----------
    values : Names
    code : int32
        Index into `values`, part after part.
    end, count : int64 (parts,)
        Where the codes of each part end, and how many times they come.
    """

    values: Names
    code: NDArray[np.int32]
    end: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str], sizes: NDArray[np.int64], count: NDArray[np.int64]) -> Self:
        """Texts of parts, in their order."""
        known: dict[str, int] = {}
        has_rows = np.repeat(count > 0, sizes)
        code = [known.setdefault(texts[index], len(known)) for index in np.flatnonzero(has_rows).tolist()]
        end = offsets(sizes[count > 0])[1:]
        return cls(Names.of(list(known)), np.array(code, dtype=np.int32), end, count[count > 0])

    def encoded(self, width: int) -> bytes:
        """The codes as Parquet has them, in so many bits each."""
        return native.packed_cycles(self.code, self.end, self.count, width)

    def sums(self) -> Sums:
        """The checksums of all rows."""
        texts = self.values.at(self.code.astype(np.int64))
        ends = texts.offset[self.end]
        lengths = np.diff(texts.offset).astype(np.int32)
        sizes = np.diff(ends, prepend=0), np.diff(self.end, prepend=0) * lengths.itemsize
        of_text = native.runs_crc32(np.frombuffer(texts.text, dtype=np.uint8), ends, self.count)
        of_lengths = native.runs_crc32(lengths.view(np.uint8), self.end * lengths.itemsize, self.count)
        return (of_text, int(sizes[0] @ self.count)), (of_lengths, int(sizes[1] @ self.count))
