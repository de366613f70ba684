"""The hits of `pairhmm scan` in a report, added up by signature and sample."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.hit_table import ReportedHit, read_hits, table_label
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import Column, ReportPart, Value, heatmap, rounded
from pairhmm.scan.rollup import SignatureCoverage
from pairhmm.scan.tables import read_coverage
from pairhmm.sequences.letters import ANY, decode_sets
from pairhmm.sequences.signatures import Signatures, read_signatures

HITS_SHOWN = 25
"""The most hits of a signature in a sample that a report lists: those with the largest sums of qualities."""
TRACK_BINS = 240
"""Bins that a long signature is drawn in; a shorter one is drawn letter by letter."""
QUALITY_BINS, QUALITY_BIN = 12, 5
"""The histogram of mean qualities has this many bins, each this many Phred wide."""
MOST_SIGNATURES = 50
"""The most signatures in MultiQC's heatmap. Those with the most hits are taken."""
_COLUMNS = {
    "hits": ("Scan hits", "Hits of signatures", "{:,.0f}"),
    "signatures": ("Signatures", "Signatures that occur", "{:,.0f}"),
}


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
        # For tiles, the part of the signature that they cover.
        length = hit.end - hit.start + hit.place
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


@dataclass(slots=True)
class Scan(ReportPart):
    """The tables of hits.

    Attributes
    ----------
    hits : Hits or None
        None without tables of hits.
    scanned : list of str
        Samples of the scan, those without a hit too.
    seen : list of (str, SignatureCoverage)
        Sample, and what tiles say of a signature that has reads, the most abundant of each sample first.
    """

    hits: Hits | None = None
    scanned: list[str] = field(default_factory=list)
    seen: list[tuple[str, SignatureCoverage]] = field(default_factory=list)
    signatures: Signatures | None = None

    @property
    def samples(self) -> Sequence[str]:
        return self.scanned

    @property
    def columns(self) -> Mapping[str, Column]:
        return {} if self.hits is None else _COLUMNS

    @property
    def counts(self) -> Mapping[str, int]:
        return {"hits": 0 if self.hits is None else self.hits.count}

    def figures(self, sample: str) -> Mapping[str, Value]:
        if self.hits is None or sample not in self.scanned:
            return {}
        return dict(zip(_COLUMNS, self.hits.of_sample(sample), strict=True))

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        if self.hits is None:
            return {"scan": None}
        lengths = dict(self.hits.signatures)
        described: dict[str, dict[str, Any]] = {}
        if self.signatures is not None:
            known = self.signatures
            for index, (name, length) in enumerate(zip(known.names, known.lengths.tolist(), strict=True)):
                described[name] = {"informative": int(known.informative[index]), "title": known.title(index)}
                if name in lengths:
                    described[name]["track"] = track(known.sequence(index))
                lengths[name] = length
        numbers = {name: number for number, name in enumerate(lengths)}
        signatures = [{"name": name, "length": length} | described.get(name, {}) for name, length in lengths.items()]
        return {
            "scan": {
                "signatures": signatures,
                "samples": [samples[name] for name in self.scanned],
                "rows": self.hits.for_page(samples, numbers),
                "hits": self.hits.count,
                "seen": [asdict(seen) | {"sample": samples[sample]} for sample, seen in self.seen],
            }
        }

    def multiqc(self) -> dict[str, dict[str, Any]]:
        if self.hits is None or not self.hits.count:
            return {}
        best = self.hits.best_means()
        has_qualities = any(mean is not None for mean in best.values())
        values = best if has_qualities else dict.fromkeys(best, 1.0)
        times = {name: sum(signature == name for signature, _ in best) for name in self.hits.signatures}
        shown = sorted(times, key=lambda name: -times[name])[:MOST_SIGNATURES]
        what = "Best mean base quality (Phred) of each signature's hits" if has_qualities else "Signatures that occur"
        of = f"; the {len(shown)} signatures in most samples of {len(times)}" if len(shown) < len(times) else ""
        rows = [[rounded(values.get((signature, sample))) for signature in shown] for sample in self.scanned]
        content = heatmap("pairhmm_hits", "Signature hits", f"{what}{of}.", shown, self.scanned, rows)
        return {"pairhmm_hits": content}


def read_scan(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> Scan:
    """Read the tables of hits, and what goes with them. `known` are the samples of the rest of the run."""
    scan = Scan()
    if not inputs.hits:
        return scan
    hits = scan.hits = Hits()

    def name_by_files(file: str, table: str) -> str:
        is_tables = table in known and file not in known
        return table if is_tables or file.startswith(table) else file

    scanned: dict[str, None] = {}
    names: Sequence[str | None] = inputs.hits_samples or [None] * len(inputs.hits)
    for path, name in zip(inputs.hits, names, strict=True):
        has_hit = False
        for hit in read_hits(path, name_by_files if name is None else lambda *_, name=name: name):
            hits.add(hit)
            scanned[hit.sample] = None
            has_hit = True
        if not has_hit:
            scanned[name or table_label(path)] = None
    for path, name in zip(inputs.scan_summaries, names, strict=False):  # as many, or none
        rows = [(sample, seen) for sample, seen in read_coverage(path, name) if seen.reads]
        scan.seen += rows
        scanned |= dict.fromkeys(sample for sample, _ in rows)
    scan.scanned = list(scanned)
    if inputs.signatures is not None:
        scan.signatures = read_signatures(inputs.signatures)
        others = [name for name in hits.signatures if name not in set(scan.signatures.names)]
        if others:
            rule = f"has no signature {others[0]}, of which there are hits"
            raise InputError(inputs.signatures, "", rule, "give the signatures that were scanned for")
    return scan
