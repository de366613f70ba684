"""The hits of `pairhmm scan` in a report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.hit_table import read_hits, table_label
from pairhmm.report.hits import Hits, track
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.multiqc_writer import heatmap
from pairhmm.report.parts import Column, ReportPart, Value, rounded
from pairhmm.scan.rollup import SignatureCoverage
from pairhmm.scan.tables import read_coverage
from pairhmm.sequences.signatures import Signatures, read_signatures

MOST_SIGNATURES = 50
"""The most signatures in MultiQC's heatmap. Those with the most hits are taken."""
_COLUMNS = {
    "hits": ("Scan hits", "Hits of signatures", "{:,.0f}"),
    "signatures": ("Signatures", "Signatures that occur", "{:,.0f}"),
}


@dataclass(slots=True)
class Scan(ReportPart):
    """What tables of hits say.

    Attributes
    ----------
    hits : Hits or None
        None without tables of hits.
    scanned : list of str
        Samples of the scan, those without a hit too.
    seen : list of (str, SignatureCoverage)
        Sample, and what tiles say of a signature that has reads, the most abundant of each sample first.
    signatures : Signatures or None
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
                described[name] = {"informative": int(known.informative[index])}
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
                "seen": [_seen_row(seen, samples[sample]) for sample, seen in self.seen],
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


def _seen_row(seen: SignatureCoverage, sample: int) -> list[Any]:
    """A row for `report/page/seen.js`."""
    told = seen.signature, sample, seen.call, seen.reads, seen.ambiguous, seen.tiles, seen.all_tiles
    return [*told, seen.breadth, seen.depth, seen.quality, seen.identity, seen.expected, seen.reason]


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
