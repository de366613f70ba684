"""Write alignments as tables (TSV) and as PAF, and count their columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import Alignments, SequencePairs
from pairhmm.align.sequence_blocks import PairBlock
from pairhmm.alignments.sam import (
    CONSUMES_QUERY,
    CONSUMES_REFERENCE,
    DELETION,
    INSERTION,
    MATCH,
    SOFT_CLIP,
    cigar_texts,
)
from pairhmm.files.bgzip import BgzipText
from pairhmm.files.outputs import TextSink, open_output, output_errors, whole_files
from pairhmm.sequences.arrays import joined

_AT_ONCE = 1 << 22
"""Columns that are looked at together. Each takes some tens of bytes of memory meanwhile."""


@dataclass(frozen=True, slots=True)
class ColumnCounts:
    """The columns of each alignment: int64[pairs] each."""

    # Columns of two letters. N matches N.
    matches: NDArray[np.int64]
    mismatches: NDArray[np.int64]
    # Letters of the query alone, and of the target alone.
    inserted: NDArray[np.int64]
    deleted: NDArray[np.int64]


def count_columns(pairs: SequencePairs, alignments: Alignments) -> ColumnCounts:
    """The columns of the alignments of pairs, none of which reaches beyond its target."""
    before = np.cumsum(pairs.queries.lengths[pairs.query_index])
    inner = np.searchsorted(before, np.arange(_AT_ONCE, int(before[-1]) if len(before) else 0, _AT_ONCE))
    borders = np.unique([0, *(inner + 1).tolist(), len(pairs)])
    matches = [
        _matches(pairs.part(begin, end), alignments.part(begin, end))
        for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
    ]
    equal = joined(matches, np.int64)
    aligned, inserted, deleted = (_letters_of(alignments, kind) for kind in (MATCH, INSERTION, DELETION))
    return ColumnCounts(equal, aligned - equal, inserted, deleted)


def _letters_of(alignments: Alignments, kind: int) -> NDArray[np.int64]:
    """The letters of one operation in each alignment."""
    return _sums(np.where(alignments.cigars & 15 == kind, alignments.cigars >> 4, 0), alignments.offsets)


def _sums(values: NDArray[np.generic], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    before = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=before[1:])
    return np.diff(before[offsets])


def _matches(pairs: SequencePairs, alignments: Alignments) -> NDArray[np.int64]:
    kinds, lengths = alignments.cigars & 15, (alignments.cigars >> 4).astype(np.int64)
    owner = np.repeat(np.arange(len(alignments)), np.diff(alignments.offsets))
    query = pairs.queries.offsets[pairs.query_index[owner]] + _before(
        lengths * CONSUMES_QUERY[kinds], alignments, owner
    )
    target = pairs.targets.offsets[pairs.target_index[owner]] + alignments.target_starts[owner]
    target += _before(lengths * CONSUMES_REFERENCE[kinds], alignments, owner)
    is_match = kinds == MATCH
    sizes = lengths[is_match]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = (np.repeat(start[is_match], sizes) + within for start in (query, target))
    one, other = (codes[place] for codes, place in zip((pairs.queries.codes, pairs.targets.codes), places, strict=True))
    return _sums(one == other, np.concatenate(([0], np.cumsum(_letters_of(alignments, MATCH)))))


def _before(used: NDArray[np.int64], alignments: Alignments, owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """The letters that come before each operation in its alignment."""
    before: NDArray[np.int64] = np.cumsum(used) - used
    begins: NDArray[np.int64] = before[alignments.offsets[owner]]
    return before - begins


COLUMNS = ("query", "target", "score", "cigar", "target_start", "target_end")
UNKNOWN_QUALITY = 255
"""The mapping quality of an alignment that was not compared with others (SAM and PAF specifications)."""


class AlignmentSink(Protocol):
    """Receives pairs, block after block."""

    def add(self, block: PairBlock, scores: NDArray[np.int32], alignments: Alignments | None) -> None:
        """Append pairs with their scores (int32), and with their alignments where these are written."""


@contextmanager
def open_table(destination: str | Path, is_distance: bool) -> Iterator[AlignmentSink]:
    """Open a table: ``.tsv``, or bgzipped for ``.tsv.gz``; ``-`` is stdout.

    Scores may be written as distances, which are 0 for equal sequences.
    """
    with _text(destination) as out:
        out.write("#" + "\t".join(COLUMNS) + "\n")
        yield _Table(out, -1 if is_distance else 1)


@contextmanager
def open_paf(destination: str | Path) -> Iterator[AlignmentSink]:
    """Open a PAF file (Pairwise mApping Format, as minimap2 writes it), bgzipped for ``.paf.gz``."""
    with _text(destination) as out:
        yield _Paf(out)


@contextmanager
def _text(destination: str | Path) -> Iterator[TextSink]:
    if str(destination).endswith(".gz"):
        with whole_files(destination) as scratch, output_errors(destination), BgzipText(scratch) as out:
            yield out
    else:
        with open_output(destination) as plain:
            yield plain


class _Table(AlignmentSink):
    def __init__(self, out: TextSink, sign: int) -> None:
        self._out, self._sign = out, sign

    def add(self, block: PairBlock, scores: NDArray[np.int32], alignments: Alignments | None) -> None:
        columns = [*block.names(), (self._sign * scores).tolist()]
        if alignments is None:
            lines = [f"{query}\t{target}\t{score}\t.\t.\t.\n" for query, target, score in zip(*columns, strict=True)]
        else:
            columns += [
                cigar_texts(alignments.cigars, alignments.offsets),
                alignments.target_starts.tolist(),
                alignments.target_ends.tolist(),
            ]
            lines = [
                f"{query}\t{target}\t{score}\t{cigar}\t{start}\t{end}\n"
                for query, target, score, cigar, start, end in zip(*columns, strict=True)
            ]
        self._out.write("".join(lines))


class _Paf(AlignmentSink):
    def __init__(self, out: TextSink) -> None:
        self._out = out

    def add(self, block: PairBlock, scores: NDArray[np.int32], alignments: Alignments | None) -> None:
        assert alignments is not None
        pairs = block.pairs
        counts = count_columns(pairs, alignments)
        aligned = counts.matches + counts.mismatches + counts.inserted + counts.deleted
        first, last = clips_of(alignments)
        queries = pairs.queries.lengths[pairs.query_index]
        columns = [
            *block.names(),
            queries.tolist(),
            first.tolist(),
            (queries - last).tolist(),
            pairs.targets.lengths[pairs.target_index].tolist(),
            alignments.target_starts.tolist(),
            alignments.target_ends.tolist(),
            counts.matches.tolist(),
            aligned.tolist(),
            (aligned - counts.matches).tolist(),
            scores.tolist(),
            cigar_texts(*without_clips(alignments)),
        ]
        lines = [
            f"{query}\t{size}\t{begin}\t{end}\t+\t{target}\t{of}\t{start}\t{stop}\t{equal}\t{long}\t{UNKNOWN_QUALITY}\t"
            f"NM:i:{other}\tAS:i:{score}\tcg:Z:{cigar}\n"
            if long
            # As minimap2 writes a query that is found nowhere.
            else f"{query}\t{size}\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n"
            for query, target, size, begin, end, of, start, stop, equal, long, other, score, cigar in zip(
                *columns, strict=True
            )
        ]
        self._out.write("".join(lines))


def clips_of(alignments: Alignments) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The clipped letters at the beginning and at the end of each query. A query that is all clipped begins with it."""
    is_empty = np.diff(alignments.offsets) == 0
    words = np.append(alignments.cigars, 0)
    first = np.where(is_empty, 0, words[np.minimum(alignments.offsets[:-1], len(words) - 1)])
    last = np.where(np.diff(alignments.offsets) < 2, 0, words[alignments.offsets[1:] - 1])
    return tuple(np.where(word & 15 == SOFT_CLIP, word >> 4, 0).astype(np.int64) for word in (first, last))  # type: ignore[return-value]


def without_clips(alignments: Alignments) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """All CIGARs without their clips, and the offsets of each."""
    kept = alignments.cigars & 15 != SOFT_CLIP
    before = np.concatenate(([0], np.cumsum(kept)))
    return alignments.cigars[kept], before[alignments.offsets]
