"""What reads say of the alleles at biallelic sites, as compressed rows of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.objects import short_repr

MOST_RATIO = 3.0
"""The largest log10 ratio of a read: one in a thousand reads is from elsewhere, whatever its qualities."""

COUNTED_ERROR = 0.005
"""Error probability of a read that a VCF only counts (AD)."""


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """Reads of several samples at biallelic sites. Reads of a sample and site with equal ratios are one row.

    Rows are sorted by sample, then by site.

    Attributes
    ----------
    samples : tuple of str
    sites : int
        How many there are.
    begin : int64 (samples + 1,)
        The rows [begin[s], begin[s + 1]) are those of sample s.
    site : int32 (rows,)
    log10_ratio : float32 (rows,)
        log10 P(read | alternative allele) - log10 P(read | reference allele), from -`MOST_RATIO` to `MOST_RATIO`.
    count : uint16 (rows,)
        Reads of the row.
    """

    samples: tuple[str, ...]
    sites: int
    begin: NDArray[np.int64]
    site: NDArray[np.int32]
    log10_ratio: NDArray[np.float32]
    count: NDArray[np.uint16]

    __repr__ = short_repr
