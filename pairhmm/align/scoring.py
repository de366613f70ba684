"""Scoring of alignments, and which of their ends are free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, TypedDict

from pairhmm.errors import OptionError
from pairhmm.options import Within, check_fields

Mode: TypeAlias = Literal["global", "semi-global", "gatk"]
Overhang: TypeAlias = Literal["softclip", "indel", "leading-indel", "ignore"]

LARGEST_SCORE = 10_000
"""The largest size of a score of one column, so that a 32-bit score can hold any pair within the lengths allowed."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The score of an alignment is the sum of its columns'. The best alignment has the highest.

    Letters match where their codes are equal; so N, and every other IUPAC code, which is read as N, matches N alone.

    Attributes
    ----------
    match, mismatch : int
        Score of a column of two letters.
    gap_open, gap_extend : int
        Score of a gap's first base, and of each further one: a gap of k bases scores
        ``gap_open + (k - 1) * gap_extend``. Where they are equal, gaps are linear.
    mode : str
        "global": all of both sequences. "semi-global": all of the query, within the target, whose ends are free.
        "gatk": both ends of both are free, by the rules of GATK's SmithWatermanAligner.
    overhang : str
        What "gatk" makes of a query's ends that the alignment leaves out, as GATK's SWOverhangStrategy.
    """

    match: Annotated[int, Within(0, LARGEST_SCORE)] = 1
    mismatch: Annotated[int, Within(-LARGEST_SCORE, 0)] = -4
    gap_open: Annotated[int, Within(-LARGEST_SCORE, 0)] = -6
    gap_extend: Annotated[int, Within(-LARGEST_SCORE, 0)] = -1
    mode: Mode = "global"
    overhang: Overhang = "softclip"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.match <= self.mismatch:
            raise OptionError("mismatch", self.mismatch, f"is not below the score of a match, {self.match}")
        if self.mode == "gatk" and self.match == 0:
            raise OptionError("match", self.match, "is not above 0, so that GATK's rules would align nothing")
        if self.gap_extend < self.gap_open:
            raise OptionError("gap_extend", self.gap_extend, f"is below a gap's first base, {self.gap_open}")

    @property
    def form(self) -> Literal["edit", "linear", "affine"]:
        """Which recurrence is enough: counted differences, gaps by their length, or gaps that open and extend."""
        if self.gap_open != self.gap_extend:
            return "affine"
        return "edit" if (self.match, self.mismatch, self.gap_open) == (0, -1, -1) else "linear"

    @property
    def is_distance(self) -> bool:
        """Whether scores are shown as distances, which are 0 for equal sequences: the preset "edit", in any mode."""
        return self.form == "edit"


class AlignKeywords(TypedDict, total=False):
    """The fields of `Scoring`."""

    match: int
    mismatch: int
    gap_open: int
    gap_extend: int
    mode: Mode
    overhang: Overhang


PRESETS: dict[str, Scoring] = {
    "edit": Scoring(0, -1, -1, -1),
    "gatk-haplotype": Scoring(200, -150, -260, -11, "gatk"),
    "gatk-read": Scoring(10, -15, -30, -5, "gatk"),
}
"""Scorings by name. The two of GATK are those of its SmithWatermanAlignmentConstants: NEW_SW_PARAMETERS, which align a
haplotype to the reference, and ALIGNMENT_TO_BEST_HAPLOTYPE_SW_PARAMETERS, which align a read to its haplotype."""
