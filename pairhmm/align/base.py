"""The data of an alignment, the protocol of aligners, and the choice of them.

Sequences are flat arrays with offsets. Aligners that share the pairs of a call are a pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.scoring import Scoring
from pairhmm.engine.pair_pool import PairPool
from pairhmm.engine.pairs import Pairs
from pairhmm.engine.tools import Tool
from pairhmm.sequences.arrays import joined, offsets

LONGEST = 100_000
"""The most letters of a sequence. 32 bits then hold every score (`pairhmm.align.scoring.LARGEST_SCORE`)."""


@dataclass(frozen=True, slots=True)
class Sequences:
    """Sequences end to end."""

    codes: NDArray[np.uint8]  # [letters]: a C G T N as 0 to 4 (`pairhmm.sequences.letters`)
    offsets: NDArray[np.int64]  # [sequences + 1]: where each begins in `codes`; the last is where the last one ends

    @classmethod
    def of(cls, sequences: Sequence[NDArray[np.uint8]]) -> Sequences:
        """Put arrays of codes end to end."""
        return cls(joined(sequences), offsets([len(one) for one in sequences]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.uint8]:
        return self.codes[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def part(self, begin: int, end: int) -> Sequences:
        """The sequences from `begin` to `end`. Their letters are not copied."""
        first, last = self.offsets[begin], self.offsets[end]
        return Sequences(self.codes[first:last], self.offsets[begin : end + 1] - first)


class SequencePairs(Pairs[Sequences]):
    """Which query is aligned to which target."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Alignments:
    """The best alignment of each pair.

    Among alignments of one score all aligners take the same one. In mode "gatk" it is GATK's. Otherwise it ends at the
    leftmost base of the target; and, from its end backwards, a column of two letters goes before a deletion, a deletion
    before an insertion, and a gap that ends before one that goes on.
    """

    scores: NDArray[np.int32]  # [pairs]
    # [pairs]: the part of the target that is aligned (0-based half-open). With GATK's overhang "ignore", it may begin
    # before the target's first base, and end behind its last.
    target_starts: NDArray[np.int32]
    target_ends: NDArray[np.int32]
    # [operations]: all CIGARs, one after the other, as BAM has them: ``length << 4 | operation``, with the operations M
    # (0), I (1), D (2) and S (4). An insertion is of bases that the query has and the target has not.
    cigars: NDArray[np.uint32]
    # [pairs + 1]: where the CIGAR of each begins in `cigars`. That of two empty sequences is empty.
    offsets: NDArray[np.int64]

    @classmethod
    def concatenate(cls, parts: Sequence[Alignments]) -> Alignments:
        """The alignments of several, one after the other."""
        if len(parts) == 1:
            return parts[0]
        lengths = joined([np.diff(part.offsets) for part in parts], np.int64)
        return cls(
            joined([part.scores for part in parts], np.int32),
            joined([part.target_starts for part in parts], np.int32),
            joined([part.target_ends for part in parts], np.int32),
            joined([part.cigars for part in parts], np.uint32),
            offsets(lengths),
        )

    def __len__(self) -> int:
        return len(self.scores)

    def part(self, begin: int, end: int) -> Alignments:
        """The alignments from `begin` to `end`."""
        first, last = self.offsets[begin], self.offsets[end]
        within = slice(begin, end)
        starts, ends = self.target_starts[within], self.target_ends[within]
        return Alignments(
            self.scores[within], starts, ends, self.cigars[first:last], self.offsets[begin : end + 1] - first
        )


class Aligner(Protocol):
    """Aligns pairs of sequences. All aligners give the same scores and the same alignments.

    A module of this folder has ``make() -> Aligner``, or ``make(device: int) -> Aligner`` if its backend has devices.
    """

    label: str  # its name in messages

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32), on `threads` CPU threads."""
        ...

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, on `threads` CPU threads."""
        ...


ALIGNERS = Tool[Aligner]("pairhmm.align", "align")

WORTH_A_DEVICE = {"edit": 200_000_000_000, "linear": 50_000_000_000, "affine": 30_000_000_000}
"""Cells for each CPU thread, by the form of the scoring, from which "auto" starts a GPU. A thread with AVX-512 computes
about as many in the second that the start takes: 141, 46 and 28 GCUPS were measured for pairs of 250 bases, and 682, 56
and 32 for 1,000."""

CIGAR_FACTOR = 2
"""Cells take the CPU this much longer with a traceback (2.3 to 3.2 were measured)."""


class AlignerPool(PairPool[Aligner, SequencePairs], Aligner):
    """Aligners that share the pairs of each call."""

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32), on `threads` CPU threads."""
        return joined(self.run(pairs, lambda aligner, chunk: aligner.scores(chunk, scoring, threads)), np.int32)

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, on `threads` CPU threads."""
        return Alignments.concatenate(
            self.run(pairs, lambda aligner, chunk: aligner.alignments(chunk, scoring, threads))
        )


def choose(
    backend: str,
    devices: Sequence[int] | None,
    scoring: Scoring,
    cells: int,
    threads: int,
    with_cigars: bool,
) -> AlignerPool:
    """The aligners of that name; for "auto", of the backend that is expected to finish first, which a message names.

    `cells` is the approximate number of cells of the whole work. The others are as for `Tool.choose`.
    """
    worth = WORTH_A_DEVICE[scoring.form] * threads // (CIGAR_FACTOR if with_cigars else 1)
    return AlignerPool(ALIGNERS.choose(backend, devices, cells >= worth), ALIGNERS.on_the_cpu)
