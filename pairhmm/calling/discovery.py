"""When alleles that reads show become candidates (cpu/calling/candidate_finder.hpp)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from pairhmm.native import native
from pairhmm.options import Within, check_fields
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY


@dataclass(frozen=True, slots=True)
class CandidateOptions:
    """When an allele that reads show becomes a candidate: one sample has to reach every threshold.

    Attributes
    ----------
    min_base_quality : int
        Bases of a lower Phred quality are not counted.
    min_snv_count, min_indel_count : int
        The least number of reads that show the allele.
    min_snv_fraction, min_indel_fraction : float
        The least share of the reads at the position that show the allele.
    errors : ErrorRates or None
        Of a mixture, how often reads have errors: an allele of any share is a candidate if errors do not make so many
        reads that show it. None where samples are no mixtures.
    assembly : bool
        Whether reads are assembled where they disagree with the reference. Else only alleles of alignments are found.
    """

    min_base_quality: Annotated[int, Within(0, HIGHEST_SAM_QUALITY)] = 10
    min_snv_count: Annotated[int, Within(1)] = 2
    min_indel_count: Annotated[int, Within(1)] = 2
    min_snv_fraction: Annotated[float, Within(0, 1)] = 0.12
    min_indel_fraction: Annotated[float, Within(0, 1)] = 0.08
    assembly: bool = True
    errors: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def reach(self) -> int:
        """Bases on either side of a position whose reads decide which candidates begin there, beside its own reads."""
        return native.LONGEST_WINDOW if self.assembly else 0
