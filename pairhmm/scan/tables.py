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
COVERAGE_COLUMNS = (
    *("file", "signature", "call", "reads", "ambiguous", "tiles", "all_tiles", "breadth", "depth"),
    *("quality", "identity", "expected", "length", "reason"),
)
LAST_COLUMNS = "masked", "depths", "informative", "hits"
"""The last columns of a summary of signatures, which older tables lack."""
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
        """End a file with what tiles say of each signature; nothing of whole ones. Most sinks don't need it."""
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
        table = _SignatureTable(searched)
        yield _Summaries(by_sample, searched, table)
        by_signature.write(table.table())


def sample_hash(quality_total: int) -> int:
    """The integrity hash of a sample: the sum of all its Phred values, modulo 97."""
    return quality_total % HASH_MODULUS


class _HitTable(Sink):
    def __init__(self, out: BinaryIO, searched: Searched) -> None:
        self._out, self._searched = out, searched
        out.write(("#" + "\t".join((*HIT_COLUMNS, PLACE)) + "\n").encode())

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


class _SignatureTable:
    """One row for each file and signature: of tiles the most abundant first, else in the order of the signatures."""

    def __init__(self, searched: Searched) -> None:
        self._signatures, self._is_tiled = searched.signatures, searched.is_tiled
        self._number = {name: number for number, name in enumerate(self._signatures.names)}
        self._lines = ["#" + "\t".join((*COVERAGE_COLUMNS, *LAST_COLUMNS))]
        self._forget()

    def _forget(self) -> None:
        """Begin a file."""
        count = len(self._signatures)
        self._shown = np.zeros(0 if self._is_tiled else len(self._signatures.letters), dtype=bool)
        self._hits, self._columns, self._samples = (np.zeros(count, dtype=np.int64) for _ in range(3))

    def add(self, sample_hits: SampleHits) -> None:
        """Count hits, and the letters of whole signatures that they show."""
        hits, offset = sample_hits.hits, self._signatures.offset
        np.add.at(self._hits, hits["signature"], 1)
        if self._is_tiled:
            return
        np.add.at(self._columns, hits["signature"], hits["informative"])
        pairs = np.unique(np.stack((hits["segment"], hits["signature"])), axis=1)
        np.add.at(self._samples, pairs[1], 1)
        for letters, signature, strand in zip(sample_hits.letters, hits["signature"], hits["strand"], strict=True):
            known = letters != ANY
            self._shown[offset[signature] : offset[signature + 1]] |= known[::-1] if strand == REVERSE else known

    def add_coverage(self, file: str, coverages: Sequence[SignatureCoverage]) -> None:
        """Write the rows of a file."""
        if self._is_tiled:
            rows = {coverage.signature: _of_tiles(coverage) for coverage in coverages}
        else:
            rows = {name: self._of_whole(number) for name, number in self._number.items()}
        for name, row in rows.items():
            number = self._number[name]
            last = self._signatures.informative[number], self._hits[number]
            self._lines.append("\t".join(map(str, (file, name, *row, *last))))
        self._forget()

    def _of_whole(self, number: int) -> tuple[object, ...]:
        """The columns from `call` to `depths` of a whole signature. It has no call, and no tiles."""
        informative = int(self._signatures.informative[number])
        breadth = self._shown_of(number) / informative if informative else 0.0
        depth = int(self._columns[number]) / informative if informative else 0.0
        shares = _decimals(breadth, 4), _decimals(depth, 4)
        empty = ("",) * 3
        return "", self._samples[number], *empty, *shares, *empty, self._signatures.lengths[number], *empty

    def _shown_of(self, index: int) -> int:
        """Number of a signature's informative letters that hits have covered."""
        begin, end = self._signatures.offset[index : index + 2]
        return int(np.count_nonzero(self._shown[begin:end] & (self._signatures.letters[begin:end] != ANY)))

    def table(self) -> str:
        """All rows."""
        return "\n".join(self._lines) + "\n"


def _of_tiles(coverage: SignatureCoverage) -> tuple[object, ...]:
    """The columns from `call` to `depths` of a signature that was cut into tiles."""
    return (
        *(coverage.call, coverage.reads, _decimals(coverage.ambiguous, 4)),
        *(coverage.tiles, coverage.all_tiles, _decimals(coverage.breadth, 4), _decimals(coverage.depth, 4)),
        *(_decimals(coverage.quality, 2), _decimals(coverage.identity, 4), f"{coverage.expected:.3g}"),
        *(coverage.length, coverage.reason, coverage.masked),
        ",".join(f"{depth:.4g}" for depth in coverage.depths),
    )


def _decimals(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


class _Summaries(Sink):
    def __init__(self, by_sample: TextIO, searched: Searched, by_signature: _SignatureTable) -> None:
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
    """The sample and the rest of each row of a summary ``PREFIX.signatures.tsv``, but for those of whole signatures.

    A sample that is given is that of all rows; otherwise they are named by the files that were scanned. Raises
    InputError for a file that is not such a table; names the line.
    """
    rows = read_rows(path, COVERAGE_COLUMNS, "pairhmm scan --summary", optional=LAST_COLUMNS)
    for number, row in enumerate(rows, start=2):
        file, signature, call, reads, ambiguous, tiles, all_tiles, breadth, depth, *more = row
        quality, identity, expected, length, reason, *last = more
        if not call:
            continue
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
            cure = "give a table that pairhmm scan --summary wrote"
            raise InputError(path, f"line {number}", "not a signature", cure) from None
        yield sample or file_label(file), seen
