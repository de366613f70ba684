"""Which kernel of `cuda/align/` aligns which pairs, and what each is compiled with and started with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pairhmm.aligning.scoring import Scoring
from pairhmm.backends.cuda import sources

THREADS = 128
"""Threads of a block."""

WARP = 32

WORD_ROWS = 32
"""Rows that a word has as bits (edit.cu)."""

EDIT_WORDS = (*range(1, 17), 20, 24, 28, 32)
"""Words of a thread that computes an edit distance. More rows are left to score.cu."""

MOST_OF_HALF, MOST_OF_WORD = 0xFFFF, 0x7FFFFFFF
"""The highest score that half a word and a word hold, as the kernels keep it."""

MOST_OF_BYTE = 127
"""The highest score of a column that halves.cuh holds."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel, and the pairs that it takes.

    Attributes
    ----------
    name : str
        The kernel's name in `cuda/align/`.
    lanes, rows_each : int
        Lanes of a group, and rows of a lane.
    blocks : int
        Blocks of a multiprocessor. As many leave a lane the registers that its rows need.
    halves : bool
        Whether a word has two alignments.
    affine, free : bool
        Whether gaps open, and whether the ends of the rows' sequence are free.
    strips : bool
        Whether it takes more rows than its lanes have, in strips.
    """

    name: str
    lanes: int
    rows_each: int
    blocks: int
    halves: bool = True
    affine: bool = False
    free: bool = False
    strips: bool = False

    @property
    def rows(self) -> int:
        """Rows of its lanes together."""
        return self.lanes * self.rows_each

    @property
    def pairs_of_task(self) -> int:
        """Pairs of a warp."""
        return WARP // self.lanes * (2 if self.halves and self.name == "align_score" else 1)

    @property
    def source(self) -> str:
        if self.name == "align_edit":
            return sources.source({"W": self.rows_each // WORD_ROWS}, "align/types.cuh", "align/edit.cu")
        constants = {
            "G": self.lanes,
            "K": self.rows_each,
            "AFFINE": int(self.affine),
            "FREE": int(self.free),
            "STRIPS": int(self.strips),
            "BLOCKS": self.blocks,
        }
        cells = "halves" if self.halves else "words"
        return sources.source(constants, "align/types.cuh", f"align/{cells}.cuh", "align/score.cu")


def kernels(form: str, free: bool, halves: bool) -> list[Kernel]:
    """The kernels for a form of scoring, lowest first; the last one takes any number of rows."""
    affine = form == "affine"
    if not halves:
        shapes = [(lanes, 16) for lanes in (2, 4, 8, 16, 32)]
    elif affine or free:
        shapes = [(2, 16), (2, 24), (2, 32)]
        shapes += [(lanes, rows) for lanes in (4, 8, 16, 32) for rows in (20, 24, 28, 32)]
    else:
        shapes = [(2, 16), (2, 24), (2, 32), (4, 20), (4, 24), (4, 28), (4, 32)]
        shapes += [(lanes, rows) for lanes in (4, 8, 16, 32) for rows in (40, 48, 56, 64)]
    made = [
        Kernel("align_score", lanes, rows, _blocks(rows, affine or free, halves), halves, affine, free)
        for lanes, rows in shapes
    ]
    tallest = made[-1]
    made.append(Kernel("align_score", WARP, tallest.rows_each, tallest.blocks, halves, affine, free, strips=True))
    if form == "edit" and not free and halves:
        edit = [Kernel("align_edit", 1, WORD_ROWS * words, 0) for words in EDIT_WORDS]
        made = edit + [kernel for kernel in made if kernel.rows > edit[-1].rows]
    return made


def _blocks(rows: int, is_large: bool, halves: bool) -> int:
    if not halves:
        return 4
    if is_large:
        return 5 if rows <= 16 else 4 if rows <= 24 else 3
    return 6 if rows <= 16 else 5 if rows <= 24 else 4 if rows <= 40 else 3


class Parameters(NamedTuple):
    """What score.cu is started with; its first lines say what the scores are.

    Attributes
    ----------
    match, mismatch, opening, bias, extension : int
        `mismatch` may be below 0.
    """

    match: int
    mismatch: int
    opening: int
    bias: int
    extension: int

    @classmethod
    def of(cls, scoring: Scoring) -> Parameters:
        extension, opening = -scoring.gap_extend, scoring.gap_extend - scoring.gap_open
        shift = 2 * extension + opening
        # Two gaps of one letter do what a mismatch does.
        mismatch = max(scoring.mismatch, 2 * scoring.gap_open)
        return cls(scoring.match + shift, mismatch + shift, opening, 4 * opening, extension)

    @property
    def fit_halves(self) -> bool:
        """Whether halves.cuh holds the scores of columns."""
        return self.mismatch >= 0 and self.match <= MOST_OF_BYTE and self.bias <= MOST_OF_HALF

    def fits(self, halves: bool, free: bool) -> tuple[int, int, int]:
        """What a letter of the shorter sequence and a row add to the highest score at most, and the most of both."""
        most = MOST_OF_HALF if halves else MOST_OF_WORD
        return self.match - self.opening, self.extension if free else 0, most - self.bias
