"""Writes what a scan found as a table for MultiQC (custom content)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pairhmm.errors import InputError
from pairhmm.files.formats import MULTIQC_ENDING
from pairhmm.files.hit_table import file_label
from pairhmm.files.outputs import open_output
from pairhmm.scan.collect import SampleHits
from pairhmm.scan.rollup import PRESENT, SignatureCoverage
from pairhmm.scan.tables import Searched, Sink

MOST_SIGNATURES = 20
"""The most signatures that have a column of reads. Those with the most reads are taken."""


@contextmanager
def open_multiqc(
    destination: str | Path, searched: Searched, sample: str | None = None, rule: str = ""
) -> Iterator[Sink]:
    """Open a MultiQC table, with one row for `sample`, or with one row for each file. `rule` says what a call is.

    Raises InputError where the name does not have the ending that MultiQC looks for.
    """
    if not str(destination).endswith(MULTIQC_ENDING):
        cause = f"MultiQC finds files whose names end in {MULTIQC_ENDING}"
        raise InputError("--multiqc", str(destination), cause, "choose such a name")
    with open_output(destination) as out:
        table = _MultiqcTable(searched, sample, rule)
        yield table
        out.write(table.json())


@dataclass(slots=True)
class _RowCounts:
    signatures: set[int] = field(default_factory=set)
    present: set[str] = field(default_factory=set)
    reads_of: dict[str, int] = field(default_factory=dict)
    reads: int = 0
    bases: int = 0
    samples_hit: int = 0
    hits: int = 0


_HEADERS = {
    "reads": ("Reads", "Records of the file", "{:,.0f}"),
    "bases": ("Bases", "Letters of all records", "{:,.0f}"),
    "samples_hit": ("Samples hit", "Samples in which a signature occurs", "{:,.0f}"),
    "hits": ("Hits", "Hits in all samples", "{:,.0f}"),
    "signatures": ("Signatures", "Signatures that occur", "{:,.0f}"),
}


class _MultiqcTable(Sink):
    def __init__(self, searched: Searched, sample: str | None, rule: str) -> None:
        self._searched, self._sample, self._rule = searched, sample, rule
        self._rows: dict[str, _RowCounts] = {}

    def _row(self, file: str) -> _RowCounts:
        return self._rows.setdefault(self._sample or file, _RowCounts())

    def add(self, sample_hits: SampleHits) -> None:
        counts = self._row(sample_hits.file)
        counts.reads += int(sample_hits.records.sum())
        counts.bases += int(sample_hits.bases.sum())
        counts.samples_hit += len(np.unique(sample_hits.hits["segment"]))
        counts.hits += len(sample_hits.hits)
        counts.signatures.update(np.unique(sample_hits.hits["signature"]).tolist())

    def add_coverage(self, file: str, coverages: Sequence[SignatureCoverage]) -> None:
        counts = self._row(file)
        for coverage in coverages:
            counts.reads_of[coverage.signature] = counts.reads_of.get(coverage.signature, 0) + coverage.reads
            if coverage.call == PRESENT:
                counts.present.add(coverage.signature)

    def json(self) -> str:
        """The whole table, as JSON."""
        # A given sample name is used as it is. Files with equal names are told apart by their paths.
        labels = [row if self._sample else file_label(row) for row in self._rows]
        abundant = self._abundant() if self._searched.is_tiled else []
        data = {
            label if labels.count(label) == 1 else row: self._cells(counts, abundant)
            for label, (row, counts) in zip(labels, self._rows.items(), strict=True)
        }
        names = self._searched.signatures.names
        description = f"Occurrences of {len(names)} signatures."
        if self._searched.is_tiled:
            description += f" {self._rule[0].upper()}{self._rule[1:]}."
        table = {
            "id": "pairhmm_scan",
            "section_name": "pairhmm scan",
            "description": description,
            "plot_type": "table",
            "pconfig": {"id": "pairhmm_scan_table", "title": "pairhmm scan: signatures in samples"},
            "headers": self._headers(abundant),
            "data": data,
        }
        return json.dumps(table, indent=1) + "\n"

    def _abundant(self) -> list[str]:
        """The signatures with reads, the most abundant first."""
        reads: dict[str, int] = {}
        for counts in self._rows.values():
            for signature, count in counts.reads_of.items():
                reads[signature] = reads.get(signature, 0) + count
        return sorted(filter(reads.__getitem__, reads), key=lambda signature: -reads[signature])[:MOST_SIGNATURES]

    def _headers(self, abundant: Sequence[str]) -> dict[str, dict[str, str]]:
        headers = dict(_HEADERS)
        if self._searched.is_tiled:
            headers["present"] = ("Present", "Signatures that are called present, the most abundant first", "{}")
        for name in abundant:
            headers[f"reads_{name}"] = (name, f"Reads that match {name}", "{:,.0f}")
        return {
            key: {"title": title, "description": description, "format": form}
            for key, (title, description, form) in headers.items()
        }

    def _cells(self, counts: _RowCounts, abundant: Sequence[str]) -> dict[str, Any]:
        cells: dict[str, Any] = {
            "reads": counts.reads,
            "bases": counts.bases,
            "samples_hit": counts.samples_hit,
            "hits": counts.hits,
            "signatures": len(counts.signatures),
        }
        if self._searched.is_tiled:
            present = sorted(counts.present, key=lambda signature: -counts.reads_of[signature])
            cells["present"] = ", ".join(present)
        return cells | {f"reads_{name}": counts.reads_of.get(name, 0) for name in abundant}
