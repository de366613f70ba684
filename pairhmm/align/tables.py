"""Writes alignments as tables (TSV) and as PAF."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.batch import Alignments
from pairhmm.align.columns import count_columns
from pairhmm.align.sequence_blocks import PairBlock
from pairhmm.alignments.sam import SOFT_CLIP, cigar_texts
from pairhmm.files.bgzip import BgzipText
from pairhmm.files.outputs import TextSink, open_output, output_errors, whole_files

COLUMNS = ("query", "target", "score")
ALIGNMENT_COLUMNS = ("cigar", "target_start", "target_end")
UNKNOWN_QUALITY = 255
"""The mapping quality of an alignment that was not compared with others (SAM and PAF specifications)."""


class AlignmentSink(Protocol):
    """Receives pairs, block after block."""

    def add(self, block: PairBlock, scores: NDArray[np.int32], found: Alignments | None) -> None:
        """Append pairs with their scores (int32), and with their alignments where these are written."""


@contextmanager
def open_table(destination: str | Path, with_cigars: bool, is_distance: bool) -> Iterator[AlignmentSink]:
    """Open a table: ``.tsv``, or bgzipped for ``.tsv.gz``; ``-`` is stdout.

    Parameters
    ----------
    destination : path
    with_cigars : bool
        Whether the table has the columns `ALIGNMENT_COLUMNS`.
    is_distance : bool
        Whether scores are written as distances, which are 0 for equal sequences.
    """
    with _text(destination) as out:
        out.write("#" + "\t".join((*COLUMNS, *(ALIGNMENT_COLUMNS if with_cigars else ()))) + "\n")
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

    def add(self, block: PairBlock, scores: NDArray[np.int32], found: Alignments | None) -> None:
        columns = [*block.names(), (self._sign * scores).tolist()]
        if found is None:
            lines = [f"{query}\t{target}\t{score}\n" for query, target, score in zip(*columns, strict=True)]
        else:
            cigars = cigar_texts(found.cigars, found.offsets)
            columns += [cigars, found.target_starts.tolist(), found.target_ends.tolist()]
            lines = [
                f"{query}\t{target}\t{score}\t{cigar}\t{start}\t{end}\n"
                for query, target, score, cigar, start, end in zip(*columns, strict=True)
            ]
        self._out.write("".join(lines))


class _Paf(AlignmentSink):
    def __init__(self, out: TextSink) -> None:
        self._out = out

    def add(self, block: PairBlock, scores: NDArray[np.int32], found: Alignments | None) -> None:
        assert found is not None
        pairs = block.pairs
        counts = count_columns(pairs, found)
        aligned = counts.matches + counts.mismatches + counts.inserted + counts.deleted
        first, last = clips_of(found)
        queries = pairs.queries.lengths[pairs.query_index]
        columns = [
            *block.names(),
            queries.tolist(),
            first.tolist(),
            (queries - last).tolist(),
            pairs.targets.lengths[pairs.target_index].tolist(),
            found.target_starts.tolist(),
            found.target_ends.tolist(),
            counts.matches.tolist(),
            aligned.tolist(),
            (aligned - counts.matches).tolist(),
            scores.tolist(),
            cigar_texts(*without_clips(found)),
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


def clips_of(found: Alignments) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The clipped letters at the beginning and at the end of each query. A query that is all clipped begins with it."""
    is_empty = np.diff(found.offsets) == 0
    words = np.append(found.cigars, 0)
    first = np.where(is_empty, 0, words[np.minimum(found.offsets[:-1], len(words) - 1)])
    last = np.where(np.diff(found.offsets) < 2, 0, words[found.offsets[1:] - 1])
    return tuple(np.where(word & 15 == SOFT_CLIP, word >> 4, 0).astype(np.int64) for word in (first, last))  # type: ignore[return-value]


def without_clips(found: Alignments) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """All CIGARs without their clips, and the offsets of each."""
    kept = found.cigars & 15 != SOFT_CLIP
    before = np.concatenate(([0], np.cumsum(kept)))
    return found.cigars[kept], before[found.offsets]
