"""Whole reads as the profile model takes them, with mates and families joined. All coordinates are 0-based."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.evidence.inputs import RunInputs, RunOptions
from pairhmm.interface.display import short_repr


@dataclass(frozen=True, slots=True)
class MadeProfile:
    """A profile that was made of one read or of several.

    Attributes
    ----------
    name : str
        The first of its reads' names, in alphabetical order. Mates and the two ends of a family share it.
    sample : str
    chrom : str
    position : int
        0-based position of the first aligned base. Soft-clipped bases lie before it.
    reads : int
        The number of reads that it was made of.
    mate : int
        1 or 2 for the first or second read of a pair; 0 for a read without a mate, and for mates that were joined.
    probabilities : float64[m, 4]
        Probabilities of A C G T. Each row sums to 1.
    """

    name: str
    sample: str
    chrom: str
    position: int
    reads: int
    mate: int
    probabilities: NDArray[np.float64]

    __repr__ = short_repr


def made_profiles(inputs: RunInputs, options: RunOptions) -> Iterator[MadeProfile]:
    """The profiles of all reads of the files, or of those that overlap the regions, in order of their positions.

    Reads are whole: they are not cut to the regions of candidates. Their base qualities are prepared as for scoring
    (``options.model``), and mates and families are joined as ``options.molecules`` says. Memory grows with the depth
    and not with the size of the files.

    Parameters
    ----------
    inputs : RunInputs
        Alignments, reference, and regions if only a part is asked for. Candidates and haplotypes are not used.
    options : RunOptions
        `profile` is not used: it may be None unless reads are joined.

    Raises
    ------
    InputError
        For files that can't be used, and for families by MI where no read has the tag.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reads alignments.
    """
    raise NotImplementedError
