"""When alleles that reads show become candidates, and the alleles of candidates that reads carry.

Candidates are found by native code (cpu/calling/candidate_finder.cpp). Coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.native import native
from pairhmm.options import Within, check_fields
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY, encode
from pairhmm.variants.haplotypes import UNKNOWN
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import Variant, shift_left, trim_allele


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
    assembly : bool
        Whether reads are assembled where they disagree with the reference. Else only alleles of alignments are found.
    """

    min_base_quality: Annotated[int, Within(0, HIGHEST_SAM_QUALITY)] = 10
    min_snv_count: Annotated[int, Within(1)] = 2
    min_indel_count: Annotated[int, Within(1)] = 2
    min_snv_fraction: Annotated[float, Within(0, 1)] = 0.12
    min_indel_fraction: Annotated[float, Within(0, 1)] = 0.08
    assembly: bool = True

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def reach(self) -> int:
        """Bases on either side of a position whose reads decide which candidates begin there, beside its own reads."""
        return native.LONGEST_WINDOW if self.assembly else 0


def carried_alleles(block: ReadBlock, reads: NDArray[np.int64], region: Region, reference: str) -> NDArray[np.int16]:
    """The allele of each candidate that each read carries, according to the read's alignment.

    Parameters
    ----------
    reads : int64 (reads,)
        Indices into the block.
    reference : str
        Reference bases of ``[region.haplotype_start, region.haplotype_end)``.

    Returns
    -------
    int16 (reads, candidates)
        `UNKNOWN` where a read does not span the candidate or shows none of its alleles.
    """
    offset = region.haplotype_start
    variants = region.variants
    keys = [_allele_key(variant, alt, reference, offset) for variant in variants for alt in variant.alts]
    indels = [key.indel or _NO_INDEL for key in keys]
    changes = [change for key in keys for change in key.changes]
    shown = np.empty(len(reads) * len(variants), dtype=np.int16)
    block.native.carried_alleles(
        reads,
        block.end[reads],
        offset,
        encode(reference),
        np.array([variant.pos for variant in variants], dtype=np.int64),
        np.array([variant.end for variant in variants], dtype=np.int64),
        offsets([len(variant.alts) for variant in variants]),
        np.array([anchor for anchor, _, _ in indels], dtype=np.int64),
        np.array([deleted for _, deleted, _ in indels], dtype=np.int64),
        offsets([len(inserted) for _, _, inserted in indels]),
        np.frombuffer(b"".join(inserted for _, _, inserted in indels), dtype=np.uint8),
        offsets([len(key.changes) for key in keys]),
        np.array([position for position, _, _ in changes], dtype=np.int64),
        np.array([was for _, was, _ in changes], dtype=np.uint8),
        np.array([now for _, _, now in changes], dtype=np.uint8),
        UNKNOWN,
        shown,
    )
    return shown.reshape(len(reads), len(variants))


class _AlleleKey(NamedTuple):
    """An allele as one left-aligned indel (anchor, bases deleted, letters inserted), or as changes of single letters.

    A change is (position, letter of the reference, letter of the allele).
    """

    indel: tuple[int, int, bytes] | None
    changes: Sequence[tuple[int, int, int]] = ()


_NO_INDEL = np.iinfo(np.int64).min, 0, b""


def _allele_key(variant: Variant, alt: str, reference: str, offset: int) -> _AlleleKey:
    head, old, new = trim_allele(variant.ref, alt)
    start = variant.pos + head
    if len(old) == len(new):
        pairs = zip(encode(old).tolist(), encode(new).tolist(), strict=True)
        return _AlleleKey(None, [(start + i, was, now) for i, (was, now) in enumerate(pairs) if was != now])
    local, old, new = shift_left(reference, start - offset, old, new)
    return _AlleleKey((offset + local - 1, len(old), encode(new).tobytes()))
