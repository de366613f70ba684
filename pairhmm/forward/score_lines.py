"""Formats the lines of the table that `forward` writes, in compiled code or in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pairhmm.models.batch import PRECISIONS, PairBatch, Scores
from pairhmm.native import is_compiled, native

HEADER = b"#group\tread\thaplotype\tlog10_likelihood\tprecision\n"

PAIRS_AT_ONCE = 1 << 18
"""Pairs whose lines are made at once: about ten megabytes of text."""


def score_lines(
    batch: PairBatch,
    scores: Scores,
    first_group: int = 0,
    read_names: list[str] | None = None,
    haplotype_names: list[str] | None = None,
    threads: int = 1,
) -> Iterator[bytes]:
    """Lines `group read haplotype log10_likelihood precision`, one for each pair, many at once.

    Without names, reads and haplotypes are numbered from 0 in each group. `first_group` is the number of the first
    group.
    """
    if not is_compiled():
        yield from _python_lines(batch, scores, first_group, read_names, haplotype_names)
        return
    groups = (first_group, batch.group_read, batch.group_haplotype, batch.group_pair)
    values = (np.ascontiguousarray(scores.log10), np.ascontiguousarray(scores.precision), list(PRECISIONS))
    for first in range(0, batch.pairs, PAIRS_AT_ONCE):
        end = min(first + PAIRS_AT_ONCE, batch.pairs)
        yield from native.score_lines(*groups, read_names, haplotype_names, *values, first, end, threads)


def _python_lines(
    batch: PairBatch,
    scores: Scores,
    first_group: int,
    read_names: Sequence[str] | None,
    haplotype_names: Sequence[str] | None,
) -> Iterator[bytes]:
    for group in range(batch.groups):
        reads = _names(read_names, *batch.group_read[group : group + 2].tolist())
        haplotypes = _names(haplotype_names, *batch.group_haplotype[group : group + 2].tolist())
        pairs = slice(*batch.group_pair[group : group + 2].tolist())
        names = ((read, haplotype) for read in reads for haplotype in haplotypes)
        values = zip(names, scores.log10[pairs].tolist(), scores.precision[pairs].tolist(), strict=True)
        lines = (
            f"{first_group + group}\t{read}\t{haplotype}\t{score:.6f}\t{PRECISIONS[precision]}\n"
            for (read, haplotype), score, precision in values
        )
        yield "".join(lines).encode()


def _names(names: Sequence[str] | None, first: int, end: int) -> Sequence[object]:
    return range(end - first) if names is None else names[first:end]
