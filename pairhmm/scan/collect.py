"""Collects the hits in blocks of records into complete samples. A sample is a record, or a whole file.

A record that is longer than a block comes in several segments. Its hits are held until its last segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pairhmm.scan.base import HIT, Scanned, best_of_pairs, with_match_counts
from pairhmm.sequences.arrays import Names
from pairhmm.sequences.records import RecordBlock

Letters = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class SampleHits:
    """Samples of one file and their hits."""

    file: str
    names: Names  # names of the samples
    # [samples]: how many records and bases each sample has.
    records: NDArray[np.int64]
    bases: NDArray[np.int64]
    quality_totals: NDArray[np.int64]  # [samples]
    has_qualities: bool
    hits: NDArray[np.void]  # [hits]: `segment` is the index of the sample. `start` counts from the start of the record.
    record: NDArray[np.int64]  # [hits]: number of each hit's record in the file, from 0
    record_names: Names
    record_name: NDArray[np.int64]  # [hits]: index into `record_names`
    letters: list[Letters]  # the letters under each hit; empty unless `HitRules.with_letters`


@dataclass(frozen=True, slots=True)
class HitRules:
    """Which hits of a sample are kept, and whether with their letters."""

    lengths: NDArray[np.int64]  # [signatures]
    every_match: bool  # Keep all hits. Otherwise the best hit of each signature is kept.
    with_letters: bool  # keep the letters under each hit


@dataclass(slots=True)
class _OpenSample:
    """A sample that is not complete yet. In its hits, `segment` is the number of the record in the file."""

    name: str
    records: int = 0
    bases: int = 0
    quality_total: int = 0
    has_qualities: bool = True
    hits: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, dtype=HIT))
    record_names: list[bytes] = field(default_factory=list)
    letters: list[Letters] = field(default_factory=list)

    def add_segments(self, block: RecordBlock, scanned: Scanned, segments: slice, rules: HitRules) -> None:
        """Add consecutive segments of a block."""
        self.bases += int(_bases(block)[segments].sum())
        self.quality_total += int(scanned.quality_totals[segments].sum())
        self.has_qualities &= block.samples.qualities is not None or not len(block.samples.letters)
        first, end, _ = segments.indices(len(block.names))
        begin, stop = np.searchsorted(scanned.hits["segment"], (first, end))
        hits = scanned.hits[begin:stop]
        names = [block.names.raw(segment) for segment in hits["segment"].tolist()]
        under = _letters_under(block, hits, rules)
        in_record = _in_records(block, hits)
        in_record["segment"] += block.first_record
        self._add(in_record, names, under, rules.every_match)

    def _add(self, hits: NDArray[np.void], names: list[bytes], under: list[Letters], every_match: bool) -> None:
        joined = np.concatenate((self.hits, hits))
        names, under = self.record_names + names, self.letters + under
        if every_match:
            self.hits, self.record_names, self.letters = joined, names, under
            return
        pairs = joined.copy()
        pairs["segment"] = 0
        chosen, matches = best_of_pairs(pairs)
        self.hits = joined[chosen]
        self.hits["matches"] = matches
        self.record_names = [names[index] for index in chosen.tolist()]
        self.letters = [under[index] for index in chosen.tolist()] if under else []

    def found(self, file: str, rules: HitRules) -> SampleHits:
        """The sample, complete."""
        hits = self.hits.copy()
        hits["segment"] = 0
        if rules.every_match:
            hits = with_match_counts(hits)
        single = np.ones(1, dtype=np.int64)
        return SampleHits(
            file=file,
            names=Names.of([self.name.encode()]),
            records=single * self.records,
            bases=single * self.bases,
            quality_totals=single * self.quality_total,
            has_qualities=self.has_qualities,
            hits=hits,
            record=self.hits["segment"].copy(),
            record_names=Names.of(self.record_names),
            record_name=np.arange(len(hits)),
            letters=self.letters,
        )


class RecordCollector:
    """Every record is a sample. It takes the blocks of one file in order."""

    def __init__(self, file: str, rules: HitRules) -> None:
        self._file, self._rules = file, rules
        self._held: _OpenSample | None = None

    def add(self, block: RecordBlock, scanned: Scanned) -> Iterator[SampleHits]:
        last = len(block.names) - 1
        whole = np.ones(len(block.names), dtype=bool)
        if self._held is not None:
            whole[0] = False
            self._hold(block, scanned, 0)
            if not (block.unfinished and last == 0):
                yield from self.finish()
        if block.unfinished and whole[last]:
            whole[last] = False
            self._hold(block, scanned, last)
        if whole.any():
            yield self._whole_records(block, scanned, whole)

    def finish(self) -> Iterator[SampleHits]:
        if self._held is not None:
            sample, self._held = self._held, None
            # Hits of a segment are in order of signature and place, and segments follow each other.
            order = np.argsort(sample.hits["signature"], kind="stable")
            sample.hits = sample.hits[order]
            sample.letters = [sample.letters[index] for index in order.tolist()] if sample.letters else []
            yield sample.found(self._file, self._rules)

    def _hold(self, block: RecordBlock, scanned: Scanned, segment: int) -> None:
        if self._held is None:
            self._held = _OpenSample(block.names[segment], records=1)
        self._held.add_segments(block, scanned, slice(segment, segment + 1), self._rules)

    def _whole_records(self, block: RecordBlock, scanned: Scanned, whole: NDArray[np.bool_]) -> SampleHits:
        """The samples of the segments that are whole records: all, or all but the first and the last."""
        hits = scanned.hits[whole[scanned.hits["segment"]]]
        letters = _letters_under(block, hits, self._rules)
        in_records = _in_records(block, hits)
        if self._rules.every_match:
            in_records = with_match_counts(in_records)
        segment = in_records["segment"].copy()
        first, end = int(whole.argmax()), len(whole) - int(whole[::-1].argmax())
        in_records["segment"] -= first
        return SampleHits(
            file=self._file,
            names=block.names.take(first, end),
            records=np.ones(end - first, dtype=np.int64),
            bases=_bases(block)[first:end],
            quality_totals=scanned.quality_totals[first:end],
            has_qualities=block.samples.qualities is not None,
            hits=in_records,
            record=segment + block.first_record,
            record_names=block.names,
            record_name=segment,
            letters=letters,
        )


class FileCollector:
    """All records of a file are one sample. The best hit of each signature is kept."""

    def __init__(self, file: str, name: str, rules: HitRules) -> None:
        self._file, self._rules = file, rules
        self._held = _OpenSample(name)

    def add(self, block: RecordBlock, scanned: Scanned) -> Iterator[SampleHits]:
        self._held.add_segments(block, scanned, slice(None), self._rules)
        self._held.records += len(block.names) - block.unfinished
        return iter(())

    def finish(self) -> Iterator[SampleHits]:
        yield self._held.found(self._file, self._rules)


Collector = RecordCollector | FileCollector


def _bases(block: RecordBlock) -> NDArray[np.int64]:
    """Bases of each segment, without those carried over from the block before: int64[segments]."""
    bases = np.diff(block.samples.offset)
    bases[:1] -= block.samples.carried
    return bases


def _in_records(block: RecordBlock, hits: NDArray[np.void]) -> NDArray[np.void]:
    """A copy of hits in which `start` counts from the start of the record."""
    in_records = hits.copy()
    in_records["start"][in_records["segment"] == 0] += block.first_position
    return in_records


def _letters_under(block: RecordBlock, hits: NDArray[np.void], rules: HitRules) -> list[Letters]:
    """The letters under each hit of a block, if the rules ask for them."""
    if not rules.with_letters:
        return []
    begins = block.samples.offset[hits["segment"]] + hits["start"]
    ends = begins + rules.lengths[hits["signature"]]
    return [block.samples.letters[begin:end].copy() for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
