"""GPU scanners: cut samples into chunks that fit, sort the hits, and fall back to the CPU if a device fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.scan import cpu
from pairhmm.scan.base import HIT, Patterns, Scanned, Scanner, ScanOptions, best_hits
from pairhmm.sequences.records import Samples

log = logging.getLogger(__name__)

FOUND_WORDS = 8
"""Words of a match as devices write it: segment, start, pattern, mismatches, informative, sum (low, high), unused."""

LEAST_BASES = 1 << 16
"""Bases of the smallest chunk. A device without the memory for it is not used."""

RawMatches = NDArray[np.uint32]


class Finder(Protocol):
    """Finds patterns on a device."""

    label: str  # name of the device in messages
    most_bases: int  # the most bases of one call

    def find(self, samples: Samples) -> tuple[RawMatches, NDArray[np.int64]]:
        """The matches of samples, uint32 (matches, FOUND_WORDS), and the sum of each segment's qualities.

        These sums are without carried bases. Matches are in any order; some may be repeated. `start` counts from the
        first base of `samples`. Thresholds on qualities are not applied yet. Raises OutOfDeviceMemory, DeviceLost.
        """


@dataclass(frozen=True, slots=True)
class SampleChunk:
    """Consecutive bases of samples, as samples of their own."""

    samples: Samples
    first_segment: int  # index of its first segment in the whole samples
    first_position: int  # position in that segment at which the chunk begins


def cut(samples: Samples, most_bases: int, overlap: int) -> Iterator[SampleChunk]:
    """Cut samples into chunks of at most `most_bases` bases, which exceeds `overlap`; between segments if possible.

    A chunk that begins inside a segment repeats the last `overlap` bases of the chunk before, as carried bases.
    """
    offset, total = samples.offset, int(samples.offset[-1])
    if total <= most_bases:
        yield SampleChunk(samples, 0, 0)
        return
    begin, done = 0, 0
    while done < total:
        reach = min(begin + most_bases, total)
        boundary = int(offset[np.searchsorted(offset, reach, side="right") - 1])
        end = boundary if boundary > done else reach
        first = int(np.searchsorted(offset, begin, side="right")) - 1
        last = int(np.searchsorted(offset, end))
        carried = max(done - begin, min(samples.carried, end) - begin if first == 0 else 0)
        qualities = None if samples.qualities is None else samples.qualities[begin:end]
        within = np.clip(offset[first : last + 1], begin, end) - begin
        taken = Samples(samples.letters[begin:end], qualities, within, carried)
        yield SampleChunk(taken, first, begin - int(offset[first]))
        begin = done = end
        if end != boundary:
            begin = max(int(offset[last - 1]), end - overlap)


class DeviceScanner(Scanner):
    """Scans on a device, and on the CPU once the device fails."""

    def __init__(self, finder: Finder, patterns: Patterns, options: ScanOptions) -> None:
        self.label = finder.label
        self._finder, self._patterns, self._options = finder, patterns, options
        self._overlap = int(np.diff(patterns.offset).max(initial=1)) - 1
        self._most = finder.most_bases
        self._cpu: Scanner | None = None

    def scan(self, samples: Samples, threads: int) -> Scanned:
        if self._cpu is None:
            try:
                return self._scan(samples)
            except DeviceLost as error:
                self._fall_back(f"lost ({error.cause})")
            except OutOfDeviceMemory:
                self._fall_back("out of memory, however small the chunks")
        assert self._cpu is not None
        return self._cpu.scan(samples, threads)

    def _fall_back(self, reason: str) -> None:
        log.warning("%s: %s; the CPU goes on", self.label, reason)
        self._cpu = cpu.make(self._patterns, self._options)

    def _scan(self, samples: Samples) -> Scanned:
        """Scan chunk after chunk. If one does not fit, start again with smaller chunks."""
        while True:
            totals = np.zeros(len(samples), dtype=np.int64)
            hits = []
            try:
                for chunk in cut(samples, self._most, self._overlap):
                    matches, sums = self._finder.find(chunk.samples)
                    hits.append(self._hits(matches, chunk))
                    totals[chunk.first_segment : chunk.first_segment + len(sums)] += sums
            except OutOfDeviceMemory:
                smaller = min(self._most, len(samples.letters)) // 2
                if smaller < max(LEAST_BASES, 2 * self._overlap):
                    raise
                self._most = smaller
                log.warning("%s: out of memory; chunks of %s bases now", self.label, f"{smaller:,}")
                continue
            return Scanned(self._in_order(np.concatenate(hits)), totals)

    def _hits(self, matches: RawMatches, chunk: SampleChunk) -> NDArray[np.void]:
        """The matches of a chunk, as hits of the whole samples."""
        segment, start, pattern, mismatches, informative, low, high = matches.astype(np.int64).T[: FOUND_WORDS - 1]
        hits = np.ones(len(matches), dtype=HIT)
        hits["segment"] = segment + chunk.first_segment
        hits["start"] = start - chunk.samples.offset[segment] + np.where(segment == 0, chunk.first_position, 0)
        hits["signature"], hits["strand"] = self._patterns.signature[pattern], self._patterns.strand[pattern]
        hits["mismatches"], hits["informative"] = mismatches, informative
        hits["total"], hits["place"] = low + (high << 32), 0
        good: NDArray[np.bool_] = hits["total"] >= self._patterns.least_total[pattern]
        return hits[good]

    def _in_order(self, hits: NDArray[np.void]) -> NDArray[np.void]:
        """Each hit once, in order: all of them, or the best of each (segment, signature)."""
        place = [hits[name] for name in ("strand", "start", "signature", "segment")]
        hits = hits[np.lexsort(place)]
        again = np.zeros(len(hits), dtype=bool)
        again[1:] = hits[1:] == hits[:-1]
        hits = hits[~again]
        return hits if self._options.every_match else best_hits(hits)
