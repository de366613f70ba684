"""Tables of a scan: hits, assignment lines, and summaries of samples and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.hit_table import HIT_COLUMNS, PLACE, count_of, file_label, number_of
from pairhmm.files.outputs import named_after, open_binary_output, open_output, tell_of_left_out
from pairhmm.files.text_lines import read_rows
from pairhmm.native import native
from pairhmm.scan.base import HIT_FIELDS, REVERSE
from pairhmm.scan.collect import SampleHits
from pairhmm.scan.rollup import SignatureCoverage, TaxonReads
from pairhmm.sequences.letters import ANY
from pairhmm.sequences.signatures import Signatures

SAMPLE_COLUMNS = ("file", "sample", "reads", "bases", "hits", "best_signature", "sum", "mean")
SIGNATURE_COLUMNS = ("signature", "length", "informative", "samples", "hits", "breadth", "depth")
COVERAGE_COLUMNS = (
    *("file", "signature", "call", "reads", "ambiguous", "tiles", "all_tiles", "breadth", "depth"),
    *("quality", "identity", "expected", "length", "reason"),
)
LAST_COLUMNS = "masked", "depths"
"""The last columns of a summary of tiles: how many of a signature's are not searched for, and the depth along it."""
HASH_MODULUS = 97
_SUMMARIES = ".samples.tsv", ".signatures.tsv", ".kreport"


@dataclass(frozen=True, slots=True)
class Searched:
    """The search that made a table."""

    signatures: Signatures
    lengths: NDArray[np.int64]  # [signatures]: letters of a match: of the whole signature, or of a tile
    is_tiled: bool  # whether signatures were cut into tiles


class Sink(Protocol):
    """Receives samples once they are complete, file after file."""

    def add(self, sample_hits: SampleHits) -> None:
        """Add the next samples of a file."""

    def add_coverage(self, file: str, coverages: Sequence[SignatureCoverage]) -> None:
        """Add what the tiles of a whole file say of each signature. Most sinks don't need it."""
        return

    def add_taxa(self, reads: TaxonReads) -> None:
        """Add the reads of each taxon in a whole file."""
        return


def check_hit_table(destination: str | Path) -> None:
    """Require a name of a table of hits."""
    require_ending(destination, "tables of hits", TEXT_TABLE)


@contextmanager
def open_hit_table(destination: str | Path, searched: Searched) -> Iterator[Sink]:
    """Open the table of hits (TSV), whose name `check_hit_table` takes; ``-`` is stdout."""
    check_hit_table(destination)
    with open_binary_output(destination) as out:
        yield _HitTable(out, searched)


@contextmanager
def open_assignment_lines(destination: str | Path, searched: Searched) -> Iterator[Sink]:
    """Open an output of lines ``sample: signature (mean) [hash]``; ``-`` is stdout."""
    with open_output(destination) as out:
        yield _AssignmentLines(out, searched)


def summary_paths(prefix: str) -> tuple[str, ...]:
    """The paths of the summaries of samples, of signatures, and of taxa."""
    return named_after(prefix, *_SUMMARIES)


@contextmanager
def open_summaries(prefix: str, searched: Searched) -> Iterator[Sink]:
    """Open the summaries ``PREFIX.samples.tsv`` and ``PREFIX.signatures.tsv``."""
    samples, signatures, _ = summary_paths(prefix)
    tell_of_left_out(prefix, *_SUMMARIES[1 : 3 if searched.is_tiled else 2])
    with open_output(signatures) as by_signature, open_output(samples) as by_sample:
        table: _Coverage | _CoverageTable = _CoverageTable() if searched.is_tiled else _Coverage(searched.signatures)
        yield _Summaries(by_sample, searched, table)
        by_signature.write(table.table())


def sample_hash(quality_total: int) -> int:
    """The integrity hash of a sample: the sum of all its Phred values, modulo 97."""
    return quality_total % HASH_MODULUS


class _HitTable(Sink):
    def __init__(self, out: BinaryIO, searched: Searched) -> None:
        self._out, self._searched = out, searched
        columns = (*HIT_COLUMNS, PLACE) if searched.is_tiled else HIT_COLUMNS
        out.write(("#" + "\t".join(columns) + "\n").encode())

    def add(self, sample_hits: SampleHits) -> None:
        lines = native.hit_lines(
            sample_hits.file,
            sample_hits.hits.view(np.int64).reshape(len(sample_hits.hits), len(HIT_FIELDS)),
            sample_hits.record,
            sample_hits.record_names.text,
            sample_hits.record_names.end,
            sample_hits.record_name,
            self._searched.signatures.names,
            self._searched.lengths,
            sample_hits.has_qualities,
            self._searched.is_tiled,
        )
        self._out.write(lines)


class _AssignmentLines(Sink):
    def __init__(self, out: TextIO, searched: Searched) -> None:
        self._out, self._searched = out, searched

    def add(self, sample_hits: SampleHits) -> None:
        for hit in sample_hits.hits:
            sample, signature = int(hit["segment"]), int(hit["signature"])
            mean = int(hit["total"]) / int(self._searched.lengths[signature])
            check = sample_hash(int(sample_hits.quality_totals[sample]))
            name = self._searched.signatures.names[signature]
            self._out.write(f"{sample_hits.names[sample]}: {name} ({mean:.3f}) [{check}]\n")


class _CoverageTable:
    """One row for each file and signature, the most abundant first."""

    def __init__(self) -> None:
        self._lines = ["#" + "\t".join((*COVERAGE_COLUMNS, *LAST_COLUMNS))]

    def add(self, sample_hits: SampleHits) -> None:
        """Hits add nothing to what `add_coverage` gets."""

    def add_coverage(self, file: str, coverages: Sequence[SignatureCoverage]) -> None:
        for coverage in coverages:
            row = (
                *(file, coverage.signature, coverage.call, coverage.reads, _decimals(coverage.ambiguous, 4)),
                *(coverage.tiles, coverage.all_tiles, _decimals(coverage.breadth, 4), _decimals(coverage.depth, 4)),
                *(_decimals(coverage.quality, 2), _decimals(coverage.identity, 4), f"{coverage.expected:.3g}"),
                *(coverage.length, coverage.reason, coverage.masked),
                ",".join(f"{depth:.4g}" for depth in coverage.depths),
            )
            self._lines.append("\t".join(map(str, row)))

    def table(self) -> str:
        return "\n".join(self._lines) + "\n"


def _decimals(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


class _Coverage:
    """Records which letters of each signature hits have covered."""

    def __init__(self, signatures: Signatures) -> None:
        self._signatures = signatures
        self._shown = np.zeros(len(signatures.letters), dtype=bool)
        self._informative = np.zeros(len(signatures), dtype=np.int64)
        self._hits = np.zeros(len(signatures), dtype=np.int64)
        self._samples = np.zeros(len(signatures), dtype=np.int64)

    def add(self, sample_hits: SampleHits) -> None:
        hits, offset = sample_hits.hits, self._signatures.offset
        np.add.at(self._informative, hits["signature"], hits["informative"])
        np.add.at(self._hits, hits["signature"], 1)
        pairs = np.unique(np.stack((hits["segment"], hits["signature"])), axis=1)
        np.add.at(self._samples, pairs[1], 1)
        for letters, signature, strand in zip(sample_hits.letters, hits["signature"], hits["strand"], strict=True):
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
    def __init__(self, by_sample: TextIO, searched: Searched, by_signature: _Coverage | _CoverageTable) -> None:
        self._out, self._searched, self._by_signature = by_sample, searched, by_signature
        by_sample.write("#" + "\t".join(SAMPLE_COLUMNS) + "\n")

    def add(self, sample_hits: SampleHits) -> None:
        self._by_signature.add(sample_hits)
        hits = np.bincount(sample_hits.hits["segment"], minlength=len(sample_hits.names)).tolist()
        best = _best_of_samples(sample_hits)
        counted = zip(sample_hits.names, sample_hits.records.tolist(), sample_hits.bases.tolist(), hits, strict=True)
        for sample, (name, records, bases, count) in enumerate(counted):
            row = (
                sample_hits.file,
                name,
                records,
                bases,
                count,
                *self._best(best.get(sample), sample_hits.has_qualities),
            )
            self._out.write("\t".join(map(str, row)) + "\n")

    def add_coverage(self, file: str, coverages: Sequence[SignatureCoverage]) -> None:
        if isinstance(self._by_signature, _CoverageTable):
            self._by_signature.add_coverage(file, coverages)

    def _best(self, hit: Any, has_qualities: bool) -> tuple[str, str, str]:
        if hit is None:
            return "", "", ""
        name, total = self._searched.signatures.names[hit["signature"]], int(hit["total"])
        if not has_qualities:
            return name, "", ""
        return name, str(total), f"{total / int(self._searched.lengths[hit['signature']]):.3f}"


def _best_of_samples(sample_hits: SampleHits) -> dict[int, Any]:
    """The hit with the largest sum in each sample; among equals, the one of the first signature."""
    best: dict[int, Any] = {}
    for hit in sample_hits.hits:
        sample = int(hit["segment"])
        if sample not in best or hit["total"] > best[sample]["total"]:
            best[sample] = hit
    return best


def read_coverage(path: str, sample: str | None) -> Iterator[tuple[str, SignatureCoverage]]:
    """The sample and the rest of each row of a summary ``PREFIX.signatures.tsv`` of a scan of tiles.

    A sample that is given is that of all rows; otherwise they are named by the files that were scanned. Raises
    InputError for a file that is not such a table; names the line.
    """
    rows = read_rows(path, COVERAGE_COLUMNS, "pairhmm scan --tile --summary", optional=LAST_COLUMNS)
    for number, row in enumerate(rows, start=2):
        file, signature, call, reads, ambiguous, tiles, all_tiles, breadth, depth, *more = row
        quality, identity, expected, length, reason, *last = more
        try:
            seen = SignatureCoverage(
                signature=signature,
                length=count_of(length),
                reads=count_of(reads),
                ambiguous=number_of(ambiguous) if ambiguous else None,
                tiles=count_of(tiles),
                all_tiles=count_of(all_tiles),
                breadth=number_of(breadth),
                depth=number_of(depth),
                quality=number_of(quality) if quality else None,
                identity=number_of(identity) if identity else None,
                expected=number_of(expected),
                call=call,
                reason=reason,
                masked=count_of(last[0]) if last else 0,
                depths=tuple(map(number_of, filter(None, last[1].split(",")))) if len(last) > 1 else (),
            )
        except ValueError:
            cure = "give a table that pairhmm scan --tile wrote"
            raise InputError(path, f"line {number}", "not a signature", cure) from None
        yield sample or file_label(file), seen
