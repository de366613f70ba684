"""Writes the outputs of a scan: the table of hits, assignment lines, summaries, and a table for MultiQC."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO

import numpy as np

from pairhmm.compiled import native
from pairhmm.errors import InputError
from pairhmm.genomics.iupac import ANY
from pairhmm.io.files.endings import MULTIQC_ENDING, TEXT_TABLE, require_ending
from pairhmm.io.files.names import decoded
from pairhmm.io.files.outputs import open_binary_output, open_output
from pairhmm.scanning.batch import HIT_FIELDS, REVERSE, Signatures
from pairhmm.scanning.collect import FoundSamples

HIT_COLUMNS = (
    *("file", "record", "number", "signature", "start", "end", "strand", "sum", "mean"),
    *("matches", "informative", "mismatches"),
)
SAMPLE_COLUMNS = ("file", "sample", "reads", "bases", "hits", "best_signature", "sum", "mean", "hash")
SIGNATURE_COLUMNS = ("signature", "length", "informative", "samples", "hits", "breadth", "depth")
HASH_MODULUS = 97


class Sink(Protocol):
    """Receives samples once they are complete, file after file."""

    def add(self, found: FoundSamples) -> None:
        """Add the next samples of a file."""


@contextmanager
def open_hit_table(destination: str | Path, signatures: Signatures) -> Iterator[Sink]:
    """Open the table of hits (TSV); ``-`` is stdout."""
    require_ending(destination, "tables of hits", TEXT_TABLE)
    with open_binary_output(destination) as out:
        yield _HitTable(out, signatures)


@contextmanager
def open_assignment_lines(destination: str | Path, signatures: Signatures) -> Iterator[Sink]:
    """Open an output of lines ``sample: signature (mean) [hash]``; ``-`` is stdout."""
    with open_output(destination) as out:
        yield _AssignmentLines(out, signatures)


def summary_paths(prefix: str) -> tuple[str, str]:
    """The paths of the summaries of samples and of signatures."""
    return f"{prefix}.samples.tsv", f"{prefix}.signatures.tsv"


@contextmanager
def open_summaries(prefix: str, signatures: Signatures) -> Iterator[Sink]:
    """Open the summaries ``PREFIX.samples.tsv`` and ``PREFIX.signatures.tsv``."""
    samples, found = summary_paths(prefix)
    with open_output(found) as by_signature, open_output(samples) as by_sample:
        coverage = _Coverage(signatures)
        yield _Summaries(by_sample, signatures, coverage)
        by_signature.write(coverage.table())


@contextmanager
def open_multiqc(destination: str | Path, signatures: Signatures, sample: str | None = None) -> Iterator[Sink]:
    """Open a MultiQC table (custom content), with one row for `sample`, or with one row for each file.

    Raises
    ------
    InputError
        Where the name does not have the ending that MultiQC looks for.
    """
    if not str(destination).endswith(MULTIQC_ENDING):
        rule = f"MultiQC finds files whose names end in {MULTIQC_ENDING}"
        raise InputError("--multiqc", str(destination), rule, "choose such a name")
    with open_output(destination) as out:
        table = _MultiqcTable(signatures, sample)
        yield table
        out.write(table.json())


def sample_hash(quality_total: int) -> int:
    """The integrity hash of a sample: the sum of all its Phred values, modulo 97."""
    return quality_total % HASH_MODULUS


def file_label(path: str) -> str:
    """The name of a file's sample: the file name without folder, ``.gz`` and the format's extension."""
    name = "stdin" if path == "-" else Path(path).name
    for ending in (".gz", ".bgz"):
        name = name.removesuffix(ending)
    return decoded(Path(name).stem or name)


class _HitTable(Sink):
    def __init__(self, out: BinaryIO, signatures: Signatures) -> None:
        self._out, self._signatures = out, signatures
        out.write(("#" + "\t".join(HIT_COLUMNS) + "\n").encode())

    def add(self, found: FoundSamples) -> None:
        lines = native.hit_lines(
            found.file,
            found.hits.view(np.int64).reshape(len(found.hits), len(HIT_FIELDS)),
            found.record,
            found.record_names.text,
            found.record_names.end,
            found.record_name,
            self._signatures.names,
            self._signatures.lengths,
            found.has_qualities,
        )
        self._out.write(lines)


class _AssignmentLines(Sink):
    def __init__(self, out: TextIO, signatures: Signatures) -> None:
        self._out, self._signatures = out, signatures

    def add(self, found: FoundSamples) -> None:
        lengths = self._signatures.lengths
        for hit in found.hits:
            sample, signature = int(hit["segment"]), int(hit["signature"])
            mean = int(hit["total"]) / int(lengths[signature])
            check = sample_hash(int(found.quality_totals[sample]))
            self._out.write(f"{found.names[sample]}: {self._signatures.names[signature]} ({mean:.3f}) [{check}]\n")


class _Coverage:
    """Records which letters of each signature hits have covered."""

    def __init__(self, signatures: Signatures) -> None:
        self._signatures = signatures
        self._shown = np.zeros(len(signatures.letters), dtype=bool)
        self._informative = np.zeros(len(signatures), dtype=np.int64)
        self._hits = np.zeros(len(signatures), dtype=np.int64)
        self._samples = np.zeros(len(signatures), dtype=np.int64)

    def add(self, found: FoundSamples) -> None:
        hits, offset = found.hits, self._signatures.offset
        np.add.at(self._informative, hits["signature"], hits["informative"])
        np.add.at(self._hits, hits["signature"], 1)
        pairs = np.unique(np.stack((hits["segment"], hits["signature"])), axis=1)
        np.add.at(self._samples, pairs[1], 1)
        for letters, signature, strand in zip(found.letters, hits["signature"], hits["strand"], strict=True):
            known = letters != ANY
            self._shown[offset[signature] : offset[signature + 1]] |= known[::-1] if strand == REVERSE else known

    def table(self) -> str:
        """The rows of the table, one for each signature."""
        signatures = self._signatures
        lines = ["#" + "\t".join(SIGNATURE_COLUMNS)]
        for index, (name, length, informative) in enumerate(
            zip(signatures.names, signatures.lengths.tolist(), signatures.informative.tolist(), strict=True)
        ):
            breadth = self._shown_of(index) / informative if informative else 0.0
            depth = int(self._informative[index]) / informative if informative else 0.0
            counts = f"{self._samples[index]}\t{self._hits[index]}"
            lines.append(f"{name}\t{length}\t{informative}\t{counts}\t{breadth:.4f}\t{depth:.4f}")
        return "\n".join(lines) + "\n"

    def _shown_of(self, index: int) -> int:
        """Number of a signature's informative letters that hits have covered."""
        begin, end = self._signatures.offset[index : index + 2]
        return int(np.count_nonzero(self._shown[begin:end] & (self._signatures.letters[begin:end] != ANY)))


class _Summaries(Sink):
    def __init__(self, by_sample: TextIO, signatures: Signatures, coverage: _Coverage) -> None:
        self._out, self._signatures, self._coverage = by_sample, signatures, coverage
        by_sample.write("#" + "\t".join(SAMPLE_COLUMNS) + "\n")

    def add(self, found: FoundSamples) -> None:
        self._coverage.add(found)
        hits = np.bincount(found.hits["segment"], minlength=len(found.names)).tolist()
        best = _best_of_samples(found)
        totals = found.quality_totals.tolist()
        counted = zip(found.names, found.records.tolist(), found.bases.tolist(), hits, strict=True)
        for sample, (name, records, bases, count) in enumerate(counted):
            check = str(sample_hash(totals[sample])) if found.has_qualities else ""
            row = (found.file, name, records, bases, count, *self._best(best.get(sample), found.has_qualities), check)
            self._out.write("\t".join(map(str, row)) + "\n")

    def _best(self, hit: Any, has_qualities: bool) -> tuple[str, str, str]:
        if hit is None:
            return "", "", ""
        name, total = self._signatures.names[hit["signature"]], int(hit["total"])
        if not has_qualities:
            return name, "", ""
        return name, str(total), f"{total / int(self._signatures.lengths[hit['signature']]):.3f}"


def _best_of_samples(found: FoundSamples) -> dict[int, Any]:
    """The hit with the largest sum in each sample; among equals, the one of the first signature."""
    best: dict[int, Any] = {}
    for hit in found.hits:
        sample = int(hit["segment"])
        if sample not in best or hit["total"] > best[sample]["total"]:
            best[sample] = hit
    return best


@dataclass(slots=True)
class _RowCounts:
    signatures: set[int]
    reads: int = 0
    bases: int = 0
    samples_hit: int = 0
    hits: int = 0
    quality_total: int = 0


_MULTIQC_HEADERS = {
    "reads": ("Reads", "Records of the file", "{:,.0f}"),
    "bases": ("Bases", "Letters of all records", "{:,.0f}"),
    "samples_hit": ("Samples hit", "Samples in which a signature occurs", "{:,.0f}"),
    "hits": ("Hits", "Hits in all samples", "{:,.0f}"),
    "signatures": ("Signatures", "Signatures that occur", "{:,.0f}"),
    "hash": ("Hash", "Sum of all Phred values modulo 97", "{:,.0f}"),
}


class _MultiqcTable(Sink):
    def __init__(self, signatures: Signatures, sample: str | None) -> None:
        self._signatures = signatures
        self._sample = sample
        self._rows: dict[str, _RowCounts] = {}

    def add(self, found: FoundSamples) -> None:
        counts = self._rows.setdefault(self._sample or found.file, _RowCounts(set()))
        counts.reads += int(found.records.sum())
        counts.bases += int(found.bases.sum())
        counts.quality_total += int(found.quality_totals.sum())
        counts.samples_hit += len(np.unique(found.hits["segment"]))
        counts.hits += len(found.hits)
        counts.signatures.update(np.unique(found.hits["signature"]).tolist())

    def json(self) -> str:
        """The whole table, as JSON."""
        # A given sample name is used as it is. Files with equal names are told apart by their paths.
        labels = [row if self._sample else file_label(row) for row in self._rows]
        data = {
            label if labels.count(label) == 1 else row: {
                "reads": counts.reads,
                "bases": counts.bases,
                "samples_hit": counts.samples_hit,
                "hits": counts.hits,
                "signatures": len(counts.signatures),
                "hash": sample_hash(counts.quality_total),
            }
            for label, (row, counts) in zip(labels, self._rows.items(), strict=True)
        }
        headers = {
            key: {"title": title, "description": description, "format": form}
            for key, (title, description, form) in _MULTIQC_HEADERS.items()
        }
        table = {
            "id": "pairhmm_scan",
            "section_name": "pairhmm scan",
            "description": f"Occurrences of {len(self._signatures)} signatures.",
            "plot_type": "table",
            "pconfig": {"id": "pairhmm_scan_table", "title": "pairhmm scan: signatures in samples"},
            "headers": headers,
            "data": data,
        }
        return json.dumps(table, indent=1) + "\n"
