"""The oracle: compares every pattern, or tile, at every position, column by column. All scanners agree with it."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from pairhmm.scan.base import HIT, REVERSE, RUN, Patterns, Scanned, Scanner, ScanOptions, Tiling, best_hits
from pairhmm.sequences.letters import ANY, reverse_complement
from pairhmm.sequences.records import Samples

_Match = tuple[int, int]
"""Where a match begins in its segment, and in its pattern."""


class ReferenceScanner(Scanner):
    """Brute force in NumPy. Without a tiling, each pattern is one tile."""

    label = "reference"

    def __init__(self, patterns: Patterns, options: ScanOptions, tiling: Tiling | None = None) -> None:
        self._patterns, self._options, self._tiling = patterns, options, tiling

    def scan(self, samples: Samples, threads: int) -> Scanned:
        hits: list[tuple[int, ...]] = []
        runs: list[tuple[int, ...]] = []
        totals = np.zeros(len(samples), dtype=np.int64)
        for segment in range(len(samples)):
            first, end = (int(at) for at in samples.offset[segment : segment + 2])
            letters, carried = samples.letters[first:end], samples.carried if segment == 0 else 0
            qualities = np.zeros(end - first, dtype=np.int64)
            if samples.qualities is not None:
                qualities = samples.qualities[first:end].astype(np.int64)
            totals[segment] = qualities[carried:].sum()
            for pattern in range(len(self._patterns)):
                matches = self._matches(pattern, letters, qualities, carried)
                size = self._size(pattern)
                hits += [self._hit(segment, pattern, match, letters, qualities, size) for match in matches]
                if self._tiling is not None:
                    runs += self._runs(segment, pattern, matches, letters, qualities, self._tiling)
        rows = np.array(hits, dtype=HIT)
        rows = rows[np.argsort(rows, order=("segment", "signature", "start", "strand", "place"), kind="stable")]
        runs.sort(key=lambda run: run[:3])  # the runs of a pattern are in order already
        every = self._options.every_match
        return Scanned(rows if every else best_hits(rows), totals, np.array(runs, dtype=RUN))

    def _size(self, pattern: int) -> int:
        """Letters of a tile."""
        return len(self._letters(pattern)) if self._tiling is None else self._tiling.length

    def _matches(
        self, pattern: int, letters: NDArray[np.uint8], qualities: NDArray[np.int64], carried: int
    ) -> list[_Match]:
        size, options, whole = self._size(pattern), self._options, self._letters(pattern)
        places = len(letters) - size + 1
        if places <= 0:
            return []
        offsets = self._offsets(pattern)
        mismatches = np.zeros((len(offsets), places), dtype=np.int64)
        informative = np.zeros_like(mismatches)
        for column in range(size):
            beside, letter = letters[column : column + places], whole[offsets + column][:, None]
            mismatches += (beside & letter) == 0
            informative += (beside != ANY) & (letter != ANY)
        # Exclusive: the sum of [a, b) is before[b] - before[a].
        before = np.concatenate(([0], np.cumsum(qualities)))
        good = (mismatches <= options.max_mismatches) & (informative >= options.min_informative)
        good &= before[size:] - before[:places] >= self._patterns.least_total[pattern]
        if self._tiling is not None and self._tiling.mask:
            good[[is_low_complexity(whole[offset : offset + size]) for offset in offsets]] = False
        # A match that ends within the carried bases belongs to the segment before.
        good[:, : max(0, carried - size + 1)] = False
        return [(int(start), int(offsets[tile])) for tile, start in np.argwhere(good)]

    def _offsets(self, pattern: int) -> NDArray[np.int64]:
        """Where the tiles of a pattern begin. Palindromes are left out of reverse ones."""
        if self._tiling is None:
            return np.zeros(1, dtype=np.int64)
        whole, size = self._letters(pattern), self._tiling.length
        offsets: NDArray[np.int64] = np.arange(len(whole) - size + 1, dtype=np.int64)
        if self._patterns.strand[pattern] != REVERSE:
            chosen: NDArray[np.int64] = offsets[offsets % self._tiling.step == 0]
            return chosen
        offsets = offsets[(len(whole) - size - offsets) % self._tiling.step == 0]
        tiles = [whole[offset : offset + size] for offset in offsets]
        is_palindrome = [np.array_equal(reverse_complement(tile), tile) for tile in tiles]
        others: NDArray[np.int64] = offsets[~np.array(is_palindrome, dtype=bool)]
        return others

    def _letters(self, pattern: int) -> NDArray[np.uint8]:
        begin, end = self._patterns.offset[pattern : pattern + 2]
        return self._patterns.letters[begin:end]

    def _hit(
        self,
        segment: int,
        pattern: int,
        match: _Match,
        letters: NDArray[np.uint8],
        qualities: NDArray[np.int64],
        length: int,
    ) -> tuple[int, ...]:
        """The fields of a hit."""
        (start, offset), whole = match, self._letters(pattern)
        here, there = letters[start : start + length], whole[offset : offset + length]
        strand = int(self._patterns.strand[pattern])
        informative, mismatches = int(((here != ANY) & (there != ANY)).sum()), int(((here & there) == 0).sum())
        place = len(whole) - length - offset if strand == REVERSE else offset
        total = int(qualities[start : start + length].sum())
        return segment, int(self._patterns.signature[pattern]), start, strand, total, 1, informative, mismatches, place

    def _runs(
        self,
        segment: int,
        pattern: int,
        matches: list[_Match],
        letters: NDArray[np.uint8],
        qualities: NDArray[np.int64],
        tiling: Tiling,
    ) -> list[tuple[int, ...]]:
        """The runs of a pattern's matches."""
        by_diagonal: dict[int, list[int]] = defaultdict(list)
        for start, offset in matches:
            by_diagonal[offset - start].append(start)
        step, size = tiling.step, tiling.length
        runs: list[tuple[int, ...]] = []
        for diagonal in sorted(by_diagonal):
            starts = sorted(by_diagonal[diagonal])
            firsts = [start for start in starts if step > size or start - step not in starts]
            for first in firsts:
                tiles = 1
                while step <= size and first + tiles * step in starts:
                    tiles += 1
                length = (tiles - 1) * step + size
                _, signature, start, strand, total, _, informative, mismatches, place = self._hit(
                    segment, pattern, (first, first + diagonal), letters, qualities, length
                )
                runs.append((segment, signature, strand, start, length, place, tiles, total, informative, mismatches))
        return runs


def is_low_complexity(tile: NDArray[np.uint8]) -> bool:
    """Whether more than 14% of all pairs of a tile's words are equal: of three letters that are one base each."""
    words = [tuple(tile[at : at + 3].tolist()) for at in range(len(tile) - 2)]
    counts = Counter(word for word in words if all(letter.bit_count() == 1 for letter in word))
    equal = sum(count * (count - 1) // 2 for count in counts.values())
    return 100 * equal > 14 * (len(words) * (len(words) - 1) // 2)


def make(patterns: Patterns, options: ScanOptions) -> Scanner:
    return ReferenceScanner(patterns, options)
