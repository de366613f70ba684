"""What scanners on devices share: samples in parts that fit, hits put in order, the CPU where a device fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.scanning import cpu
from pairhmm.scanning.base import Scanner
from pairhmm.scanning.batch import HIT, Patterns, Samples, Scanned, ScanOptions, best_hits

log = logging.getLogger(__name__)

FOUND_WORDS = 8
"""Of a match as devices write it: segment, start, pattern, mismatches, informative, low and high word of the sum, 0."""

LEAST_BASES = 1 << 16
"""A device whose memory does not hold parts of this size is of no use."""

Found = NDArray[np.uint32]


class Finder(Protocol):
    """Finds patterns on a device.

    Attributes
    ----------
    label : str
        What messages call it.
    most_bases : int
        Of the samples of a call.
    """

    label: str
    most_bases: int

    def find(self, samples: Samples) -> tuple[Found, NDArray[np.int64]]:
        """The matches of samples.

        Returns
        -------
        uint32[matches, FOUND_WORDS]
            In any order, and any number of times; `start` is in the samples. No threshold on qualities is heeded.
        int64[segments]
            Sums of their qualities, without carried bases.

        Raises
        ------
        OutOfDeviceMemory, DeviceLost
        """


@dataclass(frozen=True, slots=True)
class Part:
    """Samples that are a part of others.

    Attributes
    ----------
    samples : Samples
    first_segment : int
        What its first segment is in all.
    first_position : int
        Where its first segment begins in that one.
    """

    samples: Samples
    first_segment: int
    first_position: int


def parts(samples: Samples, most_bases: int, overlap: int) -> Iterator[Part]:
    """Samples in parts of at most so many bases (more than `overlap`), at the ends of segments if they can.

    A part that begins inside a segment begins with the last `overlap` bases of the part before, as carried ones.
    """
    offset, total = samples.offset, int(samples.offset[-1])
    if total <= most_bases:
        yield Part(samples, 0, 0)
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
        yield Part(Samples(samples.letters[begin:end], qualities, within, carried), first, begin - int(offset[first]))
        begin = done = end
        if end != boundary:
            begin = max(int(offset[last - 1]), end - overlap)


class DeviceScanner(Scanner):
    """Scans on a device, and on the CPU what the device can not.

    Parameters
    ----------
    finder : Finder
    patterns : Patterns
    options : ScanOptions
    """

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
                self._leave(f"lost ({error.cause})")
            except OutOfDeviceMemory:
                self._leave("out of memory, however small the parts")
        assert self._cpu is not None
        return self._cpu.scan(samples, threads)

    def _leave(self, reason: str) -> None:
        log.warning("%s: %s; the CPU goes on", self.label, reason)
        self._cpu = cpu.make(self._patterns, self._options)

    def _scan(self, samples: Samples) -> Scanned:
        """All parts; from the start again with smaller ones where one does not fit."""
        while True:
            totals = np.zeros(len(samples), dtype=np.int64)
            hits = []
            try:
                for part in parts(samples, self._most, self._overlap):
                    found, sums = self._finder.find(part.samples)
                    hits.append(self._hits(found, part))
                    totals[part.first_segment : part.first_segment + len(sums)] += sums
            except OutOfDeviceMemory:
                smaller = min(self._most, len(samples.letters)) // 2
                if smaller < max(LEAST_BASES, 2 * self._overlap):
                    raise
                self._most = smaller
                log.warning("%s: out of memory; parts of %s bases now", self.label, f"{smaller:,}")
                continue
            return Scanned(self._in_order(np.concatenate(hits)), totals)

    def _hits(self, found: Found, part: Part) -> NDArray[np.void]:
        """What a device found in a part, as hits of all samples."""
        segment, start, pattern, mismatches, informative, low, high = found.astype(np.int64).T[: FOUND_WORDS - 1]
        hits = np.ones(len(found), dtype=HIT)
        hits["segment"] = segment + part.first_segment
        hits["start"] = start - part.samples.offset[segment] + np.where(segment == 0, part.first_position, 0)
        hits["signature"], hits["strand"] = self._patterns.signature[pattern], self._patterns.strand[pattern]
        hits["mismatches"], hits["informative"] = mismatches, informative
        hits["total"] = low + (high << 32)
        good: NDArray[np.bool_] = hits["total"] >= self._patterns.least_total[pattern]
        return hits[good]

    def _in_order(self, hits: NDArray[np.void]) -> NDArray[np.void]:
        """Each hit once, in order, and where not all are asked for the best of each pair."""
        place = [hits[name] for name in ("strand", "start", "signature", "segment")]
        hits = hits[np.lexsort(place)]
        again = np.zeros(len(hits), dtype=bool)
        again[1:] = hits[1:] == hits[:-1]
        hits = hits[~again]
        return hits if self._options.every_match else best_hits(hits)
