"""Kernels of `cuda/align/`: the pairs that each aligns, and its constants and arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pairhmm.align.scoring import Scoring
from pairhmm.backends.cuda import sources

ROWS_ARE = {"shorter": 0, "query": 1, "target": 2}
"""Which sequence of a pair the rows are (`PairClasses::Rows` of cpu/packing/pair_tasks.hpp)."""

TRACERS = ("align_trace", "align_gather")
"""The kernels that make alignments of what align_score has written."""

TRACE_WASTE = 1.5
"""About how many bytes of traces there are for each that a cell needs."""

THREADS = 128
"""Threads of a block."""

WARP = 32

WORD_ROWS = 32
"""Rows that a word has as bits (edit.cu)."""

EDIT_WORDS = (*range(1, 17), 20, 24, 28, 32)
"""Words of a thread that computes an edit distance. More rows are left to score.cu."""

MOST_OF_HALF, MOST_OF_WORD = 0xFFFF, 0x7FFFFFFF
"""The highest score that half a word and a word hold, as the kernels keep it."""

TRACED_TIMES = 4
"""How much larger scores are whose low bits say where they come from."""

MOST_OF_BYTE = 127
"""The highest score of a column that halves.cuh holds."""


@dataclass(frozen=True, slots=True)
class AlignKernel:
    """A kernel, and the pairs that it takes."""

    name: str  # the kernel's name in `cuda/align/`
    # Lanes of a group, and rows of a lane.
    lanes: int
    rows_each: int
    blocks: int  # Blocks of a multiprocessor. As many leave a lane the registers that its rows need.
    halves: bool = True  # whether a word has two alignments
    # Whether gaps open, and whether the ends of the rows' sequence are free.
    affine: bool = False
    free: bool = False
    strips: bool = False  # whether it takes more rows than its lanes have, in strips
    traced: bool = False  # whether it writes where each cell's score comes from

    @property
    def rows(self) -> int:
        """Rows of its lanes together."""
        return self.lanes * self.rows_each

    @property
    def pairs_of_task(self) -> int:
        """Pairs of a warp."""
        return WARP // self.lanes * (2 if self.halves and self.name == "align_score" else 1)

    @property
    def with_low_strips(self) -> AlignKernel:
        """The same with fewer rows in a strip."""
        return replace(self, rows_each=16, blocks=4)

    @property
    def trace_bytes(self) -> int:
        """Bytes of a lane and a column of what it writes (`kTraceWords` of cuda/align/trace.cuh)."""
        return 4 * -(-self.rows_each // (8 if self.halves else 16)) * (1 + self.affine)

    def source(self) -> str:
        if self.name == "align_edit":
            return sources.source({"W": self.rows_each // WORD_ROWS}, "align/types.cuh", "align/edit.cu")
        return self._source("score")

    def trace_source(self) -> str:
        """The kernels that make alignments of what this one has written."""
        return self._source("trace")

    def _source(self, name: str) -> str:
        constants = {
            "G": self.lanes,
            "K": self.rows_each,
            "AFFINE": int(self.affine),
            "FREE": int(self.free),
            "STRIPS": int(self.strips),
            "TRACE": int(self.traced),
            "BLOCKS": self.blocks,
        }
        cells = "halves" if self.halves else "words"
        names = (f"align/{file}" for file in ("types.cuh", f"{cells}.cuh", "trace.cuh", f"{name}.cu"))
        return sources.source(constants, *names)


def kernels(form: str, free: bool, halves: bool, traced: bool) -> list[AlignKernel]:
    """The kernels for a form of scoring, lowest first; the last one takes any number of rows."""
    affine = form == "affine"
    few_registers = not affine and not free and not traced
    ladder = [
        AlignKernel(
            "align_score", lanes, rows, _blocks(rows, few_registers, halves), halves, affine, free, traced=traced
        )
        for lanes, rows in _shapes(few_registers, halves, traced)
    ]
    ladder.append(replace(ladder[-1], strips=True))
    if form == "edit" and few_registers and halves:
        edit = [AlignKernel("align_edit", 1, WORD_ROWS * words, 0) for words in EDIT_WORDS]
        ladder = edit + [kernel for kernel in ladder if kernel.rows > edit[-1].rows]
    return ladder


def _shapes(few_registers: bool, halves: bool, traced: bool) -> list[tuple[int, int]]:
    """(lanes, rows of a lane)."""
    if not halves:
        return [(lanes, 16) for lanes in (2, 4, 8, 16, 32)]
    low = [(2, 16), (2, 24), (2, 32)]
    if traced:
        return low + [(lanes, rows) for lanes in (4, 8, 16, 32) for rows in (24, 32)]
    if few_registers:
        low += [(4, rows) for rows in (20, 24, 28, 32)]
        return low + [(lanes, rows) for lanes in (4, 8, 16, 32) for rows in (40, 48, 56, 64)]
    return low + [(lanes, rows) for lanes in (4, 8, 16, 32) for rows in (20, 24, 28, 32)]


def _blocks(rows: int, few_registers: bool, halves: bool) -> int:
    if not halves:
        return 4
    if few_registers:
        return 6 if rows <= 16 else 5 if rows <= 24 else 4 if rows <= 40 else 3
    return 5 if rows <= 16 else 4 if rows <= 24 else 3


class ScoreParameters(NamedTuple):
    """Parameters of score.cu, whose first lines explain the scores."""

    # `mismatch` may be below 0.
    match: int
    mismatch: int
    opening: int
    bias: int
    extension: int

    @classmethod
    def of(cls, scoring: Scoring, traced: bool = False) -> ScoreParameters:
        extension, opening = -scoring.gap_extend, scoring.gap_extend - scoring.gap_open
        shift = 2 * extension + opening
        # Two gaps of one letter do what a mismatch does.
        is_outdone = scoring.mismatch < 2 * scoring.gap_open
        mismatch = max(scoring.mismatch, 2 * scoring.gap_open)
        plain = cls(scoring.match + shift, mismatch + shift, opening, 4 * opening, extension)
        return plain._traced(scoring, is_outdone) if traced else plain

    def _traced(self, scoring: Scoring, is_outdone: bool) -> ScoreParameters:
        """Four times as large, with the codes of trace.cuh. An outdone mismatch is below two gaps, or one of them."""
        match, mismatch, opening, bias, extension = (TRACED_TIMES * value for value in self)
        if opening:
            return ScoreParameters(match, mismatch - TRACED_TIMES * is_outdone, opening, bias + TRACED_TIMES, extension)
        code = 3 - (1 if scoring.mode == "semi-global" else 2)
        return ScoreParameters(match + code, 0 if is_outdone else mismatch + code, opening, bias, extension)

    @property
    def fit_halves(self) -> bool:
        """Whether halves.cuh holds the scores of columns."""
        return self.mismatch >= 0 and self.match <= MOST_OF_BYTE and self.bias <= MOST_OF_HALF

    def fits(self, halves: bool, free: bool) -> tuple[int, int, int]:
        """What a letter of the shorter sequence and a row add to the highest score at most, and the most of both."""
        most = MOST_OF_HALF if halves else MOST_OF_WORD
        return self.match - self.opening, self.extension if free else 0, most - self.bias - TRACED_TIMES


@dataclass(frozen=True)
class PairPass:
    """A pass over the pairs of a call."""

    scoring: Scoring
    # Whether two alignments share a word. Sequences with N then are left out, as are scores that do not fit.
    halves: bool
    traced: bool  # whether alignments are wanted, or scores alone

    @property
    def free(self) -> bool:
        return self.scoring.mode == "semi-global"

    @cached_property
    def parameters(self) -> ScoreParameters:
        return ScoreParameters.of(self.scoring, self.traced)

    @property
    def rows_are(self) -> int:
        return ROWS_ARE["target" if self.free else "query" if self.traced else "shorter"]

    @cached_property
    def kernels(self) -> list[AlignKernel]:
        return kernels(self.scoring.form, self.free, self.halves, self.traced)

    def cells_of(self, trace_bytes: int) -> int:
        """The approximate number of cells whose traces take this many bytes."""
        return int(trace_bytes * (2 if self.scoring.form == "affine" else 4) / TRACE_WASTE)


def passes_of(scoring: Scoring, traced: bool) -> list[PairPass]:
    """The passes to try in turn: 16-bit halves, if they hold the scores of columns, then 32-bit words."""
    in_words = PairPass(scoring, False, traced)
    in_halves = PairPass(scoring, True, traced)
    return [in_halves, in_words] if in_halves.parameters.fit_halves else [in_words]
