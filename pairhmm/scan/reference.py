"""The oracle: compares every pattern at every position, column by column. It is slow; all others agree with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.scan.base import Scanner
from pairhmm.scan.batch import HIT, Patterns, Scanned, ScanOptions, best_hits
from pairhmm.sequences.letters import ANY
from pairhmm.sequences.records import Samples


def segment_of(samples: Samples, segment: int) -> tuple[NDArray[np.uint8], NDArray[np.int64], int]:
    """A segment's letters and qualities (0 where there are none), and how many bases repeat those of the one before."""
    first, end = (int(at) for at in samples.offset[segment : segment + 2])
    qualities = np.zeros(end - first, dtype=np.int64)
    if samples.qualities is not None:
        qualities = samples.qualities[first:end].astype(np.int64)
    return samples.letters[first:end], qualities, samples.carried if segment == 0 else 0


class ReferenceScanner(Scanner):
    """Brute force in NumPy."""

    label = "reference"

    def __init__(self, patterns: Patterns, options: ScanOptions) -> None:
        self._patterns, self._options = patterns, options

    def scan(self, samples: Samples, threads: int) -> Scanned:
        found: list[tuple[int, ...]] = []
        totals = np.zeros(len(samples), dtype=np.int64)
        for segment in range(len(samples)):
            letters, qualities, carried = segment_of(samples, segment)
            totals[segment] = qualities[carried:].sum()
            # Exclusive: the sum of [a, b) is before[b] - before[a].
            before = np.concatenate(([0], np.cumsum(qualities)))
            for index in range(len(self._patterns)):
                found += self._matches(index, segment, letters, before, carried)
        hits = np.array(sorted(found), dtype=HIT)
        return Scanned(hits if self._options.every_match else best_hits(hits), totals)

    def _matches(
        self, index: int, segment: int, letters: np.ndarray, before: np.ndarray, carried: int
    ) -> list[tuple[int, ...]]:
        patterns, options = self._patterns, self._options
        pattern = patterns.letters[patterns.offset[index] : patterns.offset[index + 1]]
        places = len(letters) - len(pattern) + 1
        if places <= 0:
            return []
        mismatches = np.zeros(places, dtype=np.int64)
        informative = np.zeros(places, dtype=np.int64)
        for column, letter in enumerate(pattern):
            beside = letters[column : column + places]
            mismatches += (beside & letter) == 0
            informative += (beside != ANY) & (letter != ANY)
        totals = before[len(pattern) :] - before[:places]
        good = (mismatches <= options.max_mismatches) & (informative >= options.min_informative)
        good &= totals >= patterns.least_total[index]
        # A match that ends within the carried bases belongs to the segment before.
        good[: max(0, carried - len(pattern) + 1)] = False
        pair = (segment, int(patterns.signature[index]))
        strand = int(patterns.strand[index])
        return [
            (*pair, start, strand, int(totals[start]), 1, int(informative[start]), int(mismatches[start]), 0)
            for start in np.flatnonzero(good).tolist()
        ]


def make(patterns: Patterns, options: ScanOptions) -> Scanner:
    return ReferenceScanner(patterns, options)
