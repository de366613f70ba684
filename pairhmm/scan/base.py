"""The data of a scan, the protocol of scanners, and the choice of one.

Samples and signatures are flat arrays with offsets. Letters are sets of bases (`pairhmm.sequences.letters`). All
coordinates are 0-based half-open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.engine.tools import Tool
from pairhmm.objects import short_repr
from pairhmm.options import Within, check_fields
from pairhmm.sequences.arrays import joined, offsets
from pairhmm.sequences.letters import ANY, reverse_complement
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures

FORWARD, REVERSE = 0, 1

HIT_FIELDS = ("segment", "signature", "start", "strand", "total", "matches", "informative", "mismatches", "place")
HIT = np.dtype([(name, np.int64) for name in HIT_FIELDS])
"""A hit.

Its fields are: index of its segment; index of its signature; start in the segment; strand, which is `FORWARD` or
`REVERSE`; sum of the Phred qualities under it (0 without qualities); number of matches of this (segment, signature);
columns where neither side is N; columns that differ; where it
begins in its signature, forward, which is 0 but for a tile.
"""

RUN_FIELDS = (
    *("segment", "signature", "strand", "start", "length", "place"),
    *("tiles", "total", "informative", "mismatches"),
)
RUN = np.dtype([(name, np.int64) for name in RUN_FIELDS])
"""Consecutive tiles of a signature that match beside each other.

Its fields are: index of the segment; index of the signature; strand; start and length of the letters in the segment;
where the first of these letters lies in the signature, forward; number of tiles; sum of the Phred qualities of the
letters; columns where neither side is N; columns that differ.
"""


SHORTEST_TILE, LONGEST_TILE = 8, 1000


@dataclass(frozen=True, slots=True)
class Tiling:
    """How signatures are cut into tiles."""

    length: Annotated[int, Within(SHORTEST_TILE, LONGEST_TILE)]  # letters of a tile
    step: Annotated[int, Within(1)] = 1  # a tile begins at every `step`-th letter
    mask: bool = True  # tiles of low complexity are not searched for (`pairhmm.scan.tiles`)

    def __post_init__(self) -> None:
        check_fields(self)

    def tiles(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many tiles signatures of these lengths have."""
        return np.maximum(0, (lengths - self.length) // self.step + 1)


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Rules for matches, and which matches are reported.

    Attributes
    ----------
    both_strands : bool
        Search for the reverse complement of each signature too. A signature that is its own reverse complement is
        searched for once.
    max_mismatches : int
        The most columns of a match whose letters have no base in common.
    min_informative : int
        The least columns of a match where neither side is N.
    min_score, min_mean : float
        The least sum, and the least mean over the columns, of the Phred qualities under a match.
    every_match : bool
        Report every match as a hit. Otherwise only the best match of each (segment, signature) is reported: the one
        with the largest sum of qualities, then the leftmost, then the forward one.
    """

    both_strands: bool = True
    max_mismatches: Annotated[int, Within(0)] = 0
    min_informative: Annotated[int, Within(0)] = 12
    min_score: Annotated[float, Within(0)] = 0.0
    min_mean: Annotated[float, Within(0, 1000)] = 0.0
    every_match: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def needs_qualities(self) -> bool:
        """Whether a threshold on qualities is set."""
        return self.min_score > 0 or self.min_mean > 0


@dataclass(frozen=True, slots=True)
class Patterns:
    """The sequences to search for: each signature that can match, then their reverse complements."""

    letters: NDArray[np.uint8]  # [sum of lengths]
    offset: NDArray[np.int64]  # [patterns + 1]
    signature: NDArray[np.int64]  # [patterns]
    strand: NDArray[np.int64]  # [patterns]: `FORWARD` or `REVERSE`
    least_total: NDArray[np.int64]  # [patterns]: the smallest sum of qualities that meets both thresholds

    __repr__ = short_repr

    @classmethod
    def of(cls, signatures: Signatures, options: ScanOptions, tiling: Tiling | None = None) -> Patterns:
        """The patterns of signatures. Signatures with fewer informative letters than a match needs are left out.

        With a tiling, a match is one of a tile, and signatures that are shorter than a tile are left out.
        """
        able = np.flatnonzero(
            (signatures.informative >= options.min_informative)
            & (signatures.lengths >= (tiling.length if tiling is not None else 0))
        ).tolist()
        letters = np.empty(2 * len(signatures.letters), dtype=np.uint8)
        signature, strand, lengths, end = [], [], [], 0
        for direction in (FORWARD, REVERSE) if options.both_strands else (FORWARD,):
            for index in able:
                sequence = forward = signatures.sequence(index)
                if direction == REVERSE:
                    sequence = reverse_complement(forward)
                    if tiling is None and np.array_equal(sequence, forward):
                        continue
                letters[end : end + len(sequence)] = sequence
                end += len(sequence)
                signature.append(index)
                strand.append(direction)
                lengths.append(len(sequence))
        matched = lengths if tiling is None else [tiling.length] * len(lengths)
        least = [max(math.ceil(options.min_score), _least_sum(options.min_mean, length)) for length in matched]
        return cls(
            letters[:end],
            offsets(lengths),
            np.array(signature, dtype=np.int64),
            np.array(strand, dtype=np.int64),
            np.array(least, dtype=np.int64),
        )

    def take(self, chosen: NDArray[np.int64]) -> Patterns:
        """Some of the patterns, by their indices."""
        sequences = [self.letters[self.offset[index] : self.offset[index + 1]] for index in chosen.tolist()]
        lengths = [len(sequence) for sequence in sequences]
        told = self.signature[chosen], self.strand[chosen], self.least_total[chosen]
        return Patterns(joined(sequences), offsets(lengths), *told)

    def holding(self, signatures: Signatures) -> Signatures:
        """The same signatures. If each has a pattern, their letters are a view of the patterns' letters."""
        count = len(signatures)
        if not np.array_equal(self.signature[:count], np.arange(count)):
            return signatures
        return replace(signatures, letters=self.letters[: len(signatures.letters)])

    def __len__(self) -> int:
        return len(self.signature)


def _least_sum(mean: float, length: int) -> int:
    """The smallest sum of `length` qualities whose reported mean is at least `mean`."""
    least = math.ceil(mean * length)
    # The product may be off by a rounding: 0.07 * 100 is more than 7.
    while (least - 1) / length >= mean:
        least -= 1
    while least / length < mean:
        least += 1
    return least


@dataclass(frozen=True, slots=True)
class Scanned:
    """The hits of samples."""

    hits: NDArray[np.void]  # [hits]: in order of segment, signature, start, strand, place
    # [segments]: sum of the Phred qualities of each segment, without carried bases; 0 without qualities.
    quality_totals: NDArray[np.int64]
    # [runs]: of a scanner of tiles, in order of segment, signature, strand, diagonal and start.
    runs: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, dtype=RUN))

    __repr__ = short_repr

    @classmethod
    def joined(cls, parts: Sequence[Scanned]) -> Scanned:
        """Join the results of consecutive segments, part after part."""
        if len(parts) == 1:
            return parts[0]
        firsts = np.cumsum([0, *(len(part.quality_totals) for part in parts)])
        hits, runs = [part.hits.copy() for part in parts], [part.runs.copy() for part in parts]
        for first, *shifted in zip(firsts.tolist(), hits, runs, strict=False):
            for records in shifted:
                records["segment"] += first
        totals = np.concatenate([part.quality_totals for part in parts])
        return cls(np.concatenate(hits), totals, np.concatenate(runs))


def best_of_pairs(hits: NDArray[np.void]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index of the best hit of each (segment, signature), in their order, and how many matches each of them has.

    Among hits of one (segment, signature) with equal sums, the earliest is the best.
    """
    order = np.lexsort((-hits["total"], hits["signature"], hits["segment"]))
    segment, signature = hits["segment"][order], hits["signature"][order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (segment[1:] != segment[:-1]) | (signature[1:] != signature[:-1])
    starts = np.flatnonzero(first)
    matches = np.add.reduceat(hits["matches"][order], starts) if len(starts) else np.zeros(0, dtype=np.int64)
    return order[starts], matches


def best_hits(hits: NDArray[np.void]) -> NDArray[np.void]:
    """The best hit of each (segment, signature), with the number of its matches; `hits` as in `best_of_pairs`."""
    chosen, matches = best_of_pairs(hits)
    best = hits[chosen]
    best["matches"] = matches
    return best


def with_match_counts(hits: NDArray[np.void]) -> NDArray[np.void]:
    """Hits with `matches` set to the number of hits of their (segment, signature). They are in order of these."""
    _, pair, counts = np.unique(hits[["segment", "signature"]], return_inverse=True, return_counts=True)
    counted = hits.copy()
    counted["matches"] = counts[pair]
    return counted


class Scanner(Protocol):
    """Finds signatures in samples. All scanners give the same hits, in the same order.

    A module of this folder has ``make(patterns: Patterns, options: ScanOptions) -> Scanner``. It prepares, once,
    whatever depends on the signatures alone: an index, or a device's copy of them.
    """

    label: str  # its name in messages

    def scan(self, samples: Samples, threads: int) -> Scanned:
        """Find the hits in each segment of the samples."""
        parts = []
        while True:
            part = self.scan_some(samples, threads)
            parts.append(part)
            if len(part.quality_totals) == len(samples):
                return Scanned.joined(parts)
            samples = samples.take(len(part.quality_totals), len(samples))

    def scan_some(self, samples: Samples, threads: int) -> Scanned:
        """As `scan`, of as many of the first segments as memory is meant for: at least one.

        A read of a repeat matches every signature that has the repeat, at every place of it. So what is found grows by
        the reads times the signatures, and is given in parts. By default, it is given at once.
        """
        return self.scan(samples, threads)


SCANNERS = Tool[Scanner]("pairhmm.scan", "scan")

READING_NS = 10.0
"""Approximate nanoseconds to read a base. Matching that is faster than this waits for the reader."""

STARTING_SECONDS = 1.5
"""Approximate seconds until a device begins to scan. CUDA took 1.0 on an H200, and then 0.07 ns a base."""

ANCHOR_BASES, LOOK_UP_NS, LISTED_NS = 10, 2.3, 12.0
"""Letters of an anchor; nanoseconds of a look-up; nanoseconds of each anchor that a look-up finds.

Both times were measured on the host of an H200. They make 2.6 ns a base for the 1,000 signatures of the reference
workload.
"""


def matching_ns(patterns: Patterns, options: ScanOptions) -> float:
    """Approximate nanoseconds a base on one CPU thread. Samples are assumed to have the signatures' share of Ns."""
    n_ratio = np.count_nonzero(patterns.letters == ANY) / max(1, len(patterns.letters))
    anchors = len(patterns) * (options.max_mismatches + 1)
    return float(LOOK_UP_NS + LISTED_NS * anchors * (0.25 + 0.75 * n_ratio) ** ANCHOR_BASES)


def choose(
    backend: str, device: int | None, patterns: Patterns, options: ScanOptions, bases: int, threads: int
) -> Scanner:
    """The scanner of that name; for "auto", the one that is expected to finish first.

    `bases` is the approximate number of bases of the samples, 0 if unknown. Others are as for `Tool.choose`.
    """
    is_worth_a_device = False
    if backend == "auto":
        needed = matching_ns(patterns, options) / threads
        is_worth_a_device = (needed - READING_NS) * 1e-9 * bases >= STARTING_SECONDS
    name = SCANNERS.chosen(backend, None if device is None else [device], is_worth_a_device)
    return SCANNERS.load(name, patterns, options, device=device)
