"""Hits of a scan, added up by signature and sample."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.files.hit_table import ReportedHit
from pairhmm.sequences.letters import ANY, decode_sets

HITS_SHOWN = 25
"""The most hits of a signature in a sample that a report lists: those with the largest sums of qualities."""
TRACK_BINS = 240
"""Bins that a long signature is drawn in; a shorter one is drawn letter by letter."""
QUALITY_BINS, QUALITY_BIN = 12, 5
"""The histogram of mean qualities has this many bins, each this many Phred wide."""


@dataclass(slots=True)
class _Pair:
    """Hits of one signature in one sample."""

    hits: int = 0
    reverse: int = 0
    qualities: list[int] = field(default_factory=lambda: [0] * QUALITY_BINS)
    means: float = 0.0
    with_quality: int = 0
    best_mean: float | None = None
    shown: list[tuple[float, int, ReportedHit]] = field(default_factory=list)

    def add(self, hit: ReportedHit) -> None:
        self.hits += 1
        self.reverse += hit.strand == "-"
        if hit.mean is not None:
            self.means += hit.mean
            self.with_quality += 1
            self.best_mean = hit.mean if self.best_mean is None else max(self.best_mean, hit.mean)
            self.qualities[min(QUALITY_BINS - 1, int(hit.mean // QUALITY_BIN))] += 1
        # Of equal hits, the earlier one stays.
        entry = (-1.0 if hit.total is None else float(hit.total), -self.hits, hit)
        if len(self.shown) < HITS_SHOWN:
            heapq.heappush(self.shown, entry)
        else:
            heapq.heappushpop(self.shown, entry)

    def best_first(self) -> list[ReportedHit]:
        """The hits that are shown, the best first."""
        return [hit for _, _, hit in sorted(self.shown, key=lambda entry: (-entry[0], -entry[1]))]


class Hits:
    """Adds up hits, one after the other. Memory grows with the pairs of signature and sample, not with the hits."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str], _Pair] = {}
        self._lengths: dict[str, int] = {}
        self.count = 0

    def add(self, hit: ReportedHit) -> None:
        """Count a hit."""
        self.count += 1
        # Of tiles, what they reach of the signature.
        length = hit.end - hit.start + (hit.place or 0)
        self._lengths[hit.signature] = max(length, self._lengths.get(hit.signature, 0))
        self._pairs.setdefault((hit.signature, hit.sample), _Pair()).add(hit)

    @property
    def signatures(self) -> dict[str, int]:
        """Names and lengths of the signatures that were hit, in order of their first hit."""
        return self._lengths

    def of_sample(self, sample: str) -> tuple[int, int]:
        """How many hits a sample has, and of how many signatures."""
        counts = [pair.hits for (_, name), pair in self._pairs.items() if name == sample]
        return sum(counts), len(counts)

    def best_means(self) -> dict[tuple[str, str], float | None]:
        """The best mean quality of each (signature, sample)."""
        return {key: pair.best_mean for key, pair in self._pairs.items()}

    def for_page(self, samples: Mapping[str, int], signatures: Mapping[str, int]) -> list[list[Any]]:
        """Rows for `report/page/scan.js`: one for each (signature, sample), in order of the given numbers."""
        rows = []
        for (signature, sample), pair in self._pairs.items():
            shown = [_hit_row(hit) for hit in pair.best_first()]
            mean = round(pair.means / pair.with_quality, 2) if pair.with_quality else None
            best = None if pair.best_mean is None else round(pair.best_mean, 2)
            place = [signatures[signature], samples[sample]]
            rows.append([*place, pair.hits, pair.reverse, mean, best, pair.qualities, shown])
        return sorted(rows, key=lambda row: row[:2])


def _hit_row(hit: ReportedHit) -> list[Any]:
    mean = None if hit.mean is None else round(hit.mean, 2)
    place = [hit.record, hit.number, hit.start, hit.end, hit.strand]
    return [*place, hit.total, mean, hit.matches, hit.informative, hit.mismatches, hit.place]


def track(letters: NDArray[np.uint8]) -> str | list[int]:
    """A signature to draw: its letters, or for a long one the percentage of letters other than N in each bin.

    Parameters
    ----------
    letters : uint8
        Sets of bases (`pairhmm.sequences.letters`).
    """
    if len(letters) <= TRACK_BINS:
        return decode_sets(letters)
    bins = np.array_split(letters != ANY, TRACK_BINS)
    return [round(100 * float(known.mean())) for known in bins]
