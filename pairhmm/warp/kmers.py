"""Expected levels: the current that each k-mer in a nanopore gives; and their tables, as of nanopolish and f5c.

In a table, lines that begin with ``#`` come first. A header names the columns. Read are kmer, level_mean, level_stdv.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.outputs import TextSink
from pairhmm.files.text_lines import read_lines
from pairhmm.warp.chemistry import pore_of_table

LONGEST_K = 10
"""A table of longer k-mers would have more than a million rows."""

_N = 4
_CODE_OF_SET = np.full(16, _N, dtype=np.int64)
_CODE_OF_SET[[1, 2, 4, 8]] = range(4)


@dataclass(frozen=True, slots=True)
class KmerTable:
    """The expected level of each k-mer."""

    k: int  # from 1 to `LONGEST_K`
    # [4**k]: the mean level of each k-mer, in pA, in the order of the alphabet: AA, AC, AG, AT, CA ...
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]  # [4**k]: the standard deviation of each k-mer's level
    pore: str = ""  # ``R9`` or ``R10``, where the table says so

    def levels(self, letters: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean level, and its standard deviation, of each k-mer of a sequence of sets of bases.

        A letter that is more than one base counts as N, and a k-mer with N has the mean of what the k-mers have that it
        may be.
        """
        if len(letters) < self.k:
            return np.zeros(0), np.zeros(0)
        codes = _CODE_OF_SET[letters]
        if _N not in codes:
            indices = self._indices(codes, 4)
            return self.means[indices], self.deviations[indices]
        indices = self._indices(codes, 5)
        return self._with_n(self.means)[indices], self._with_n(self.deviations)[indices]

    def _indices(self, codes: NDArray[np.int64], base: int) -> NDArray[np.int64]:
        return sliding_window_view(codes, self.k) @ base ** np.arange(self.k)[::-1]

    def _with_n(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of the k-mers of the letters A, C, G, T and N: float64[5**k]."""
        values = values.reshape((4,) * self.k)
        for axis in range(self.k):
            values = np.concatenate((values, values.mean(axis=axis, keepdims=True)), axis=axis)
        return values.ravel()


_COLUMNS = ("kmer", "level_mean", "level_stdv")
_BASES = "ACGT"
_CURE = "give a table with the columns kmer, level_mean and level_stdv, and a row for each k-mer"
_NOT_LETTERS = str.maketrans("", "", _BASES)
_DIGITS = str.maketrans(_BASES, "0123")


def read_kmer_table(path: str) -> KmerTable:
    """Read a table of expected levels.

    Raises InputError for k-mers that are missing, occur twice, differ in length or have other letters than A, C, G and
    T, and for levels that are not numbers, with the line; and for a table of direct RNA.
    """
    comments: list[str] = []
    lines = _rows_of(path, comments)
    at, header = next(lines, (1, ""))
    pore = pore_of_table(path, comments)
    names = header.split("\t")
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        raise InputError(path, f"line {at}", f"the header has no column {missing[0]}", _CURE)
    columns = [names.index(name) for name in _COLUMNS]
    k, levels = 0, {}
    for at, line in lines:
        kmer, mean, deviation = _row(path, at, line, columns)
        k = k or len(kmer)
        _check_kmer(path, at, kmer, k)
        if kmer in levels:
            raise InputError(path, f"line {at}", f"{kmer} occurs a second time", "remove one of the rows")
        levels[kmer] = mean, deviation
    if not levels:
        raise InputError(path, "", "no k-mer in it", _CURE)
    if len(levels) < 4**k:
        gap = next(kmer for kmer in kmers(k) if kmer not in levels)
        rule = f"{4**k - len(levels):,} of {4**k:,} {k}-mers are missing: {gap} is the first"
        raise InputError(path, "", rule, "give a whole table")
    values = np.empty((2, 4**k))
    values[:, [int(kmer.translate(_DIGITS), 4) for kmer in levels]] = np.array(list(levels.values())).T
    return KmerTable(k, values[0], values[1], pore)


def write_kmer_table(out: TextSink, table: KmerTable) -> None:
    """Write a table of expected levels."""
    out.write(f"#k\t{table.k}\n" + "\t".join(_COLUMNS) + "\n")
    for kmer, mean, deviation in zip(kmers(table.k), table.means.tolist(), table.deviations.tolist(), strict=True):
        out.write(f"{kmer}\t{mean:.6f}\t{deviation:.6f}\n")


def kmers(k: int) -> Iterator[str]:
    """Every k-mer, in the order of the alphabet."""
    for index in range(4**k):
        yield "".join(_BASES[index >> 2 * place & 3] for place in reversed(range(k)))


def _rows_of(path: str, comments: list[str]) -> Iterator[tuple[int, str]]:
    """The lines that are no comments, with their numbers. The comments among them are added to `comments`."""
    for at, line in enumerate(read_lines(path), start=1):
        if line.startswith("#"):
            comments.append(line)
        elif line:
            yield at, line


def _row(path: str, at: int, line: str, columns: list[int]) -> tuple[str, float, float]:
    fields = line.split("\t")
    if len(fields) <= max(columns):
        raise InputError(path, f"line {at}", f"{len(fields)} fields, fewer than the header has", "it may be cut off")
    kmer, *values = (fields[column] for column in columns)
    try:
        mean, deviation = map(float, values)
    except ValueError as error:
        what = str(error).removeprefix("could not convert string to float: ")
        raise InputError(path, f"line {at} ({kmer})", f"{what} is not a number", "repair the line") from error
    if not (np.isfinite(mean) and np.isfinite(deviation) and deviation >= 0):
        raise InputError(path, f"line {at} ({kmer})", "a level that is not finite, or a deviation below 0", _CURE)
    return kmer.upper().replace("U", "T"), mean, deviation


def _check_kmer(path: str, at: int, kmer: str, k: int) -> None:
    strange = kmer.translate(_NOT_LETTERS)
    if strange:
        rule = f"letter {strange[0]!r} in {kmer}: k-mers are of A, C, G and T"
        raise InputError(path, f"line {at}", rule, "give a table without modified bases")
    if len(kmer) != k:
        rule = f"{kmer or 'nothing'} is no {k}-mer, as the rows before it have"
        raise InputError(path, f"line {at}", rule, "give a table of one length")
    if not 1 <= k <= LONGEST_K:
        raise InputError(path, f"line {at}", f"a {k}-mer: k is from 1 to {LONGEST_K}", _CURE)
