"""The reads around a position, which of them are used, and alleles there.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import DUPLICATE, QC_FAIL, SECONDARY, SUPPLEMENTARY
from pairhmm.alignments.selection import LOW_MAPQ, OTHER_FLAG, LeftOut, ReadSelection
from pairhmm.calling.circles import run_blocks
from pairhmm.calling.opening import OpenFiles
from pairhmm.calling.run_options import RunOptions
from pairhmm.explain.facts import AltAllele
from pairhmm.native import native
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.variant import MAX_SHIFT, Variant, shift_left, trim_allele

# In the order in which a read that has several is counted (cpu/formats/alignments.hpp).
_FLAGS = {SECONDARY: "secondary", QC_FAIL: "QC-fail", DUPLICATE: "duplicate", SUPPLEMENTARY: "supplementary"}
SPANNED = "*"
"""The allele of a chromosome on which a deletion takes the site away."""
_EVERY_READ: dict[str, Any] = {"excluded_flags": 0, "min_mapq": 0, "default_base_quality": 0}


@dataclass(slots=True)
class LocalReads:
    """The reads of an interval, those that are left out among them, with the reason of each; empty where it is used."""

    block: ReadBlock
    reasons: list[str]
    samples: Sequence[str]

    @property
    def used(self) -> ReadBlock:
        """Those that are used."""
        return self.block.take(np.flatnonzero([not reason for reason in self.reasons]))


def local_reads(files: OpenFiles, options: RunOptions, place: Interval) -> LocalReads:
    """All reads over an interval, as `call` reads them."""
    blocks = run_blocks(
        files.genome,
        files.reader.sources,
        list(files.contigs),
        replace(options.reads, **_EVERY_READ),
        options.chunk_size,
        [place],
        LeftOut(),
        trims_ends=options.model.trims_ends,
    )
    together = ReadBlock.concatenate([*blocks, ReadBlock.empty(place.chrom)])
    block = ReadBlock.of_columns(place.chrom, together.aligned.split_at_introns())
    return LocalReads(block, _reasons(block.flag, block.mapq, options.reads), files.reader.samples)


def _reasons(flag: NDArray[np.uint16], mapq: NDArray[np.uint8], selection: ReadSelection) -> list[str]:
    return [
        _reason(flags & selection.excluded_flags, quality < selection.min_mapq)
        for flags, quality in zip(flag.tolist(), mapq.tolist(), strict=True)
    ]


def _reason(excluded: int, is_low: bool) -> str:
    if excluded:
        return next((name for flag, name in _FLAGS.items() if excluded & flag), OTHER_FLAG)
    return LOW_MAPQ if is_low else ""


def alleles_of(variant: Variant) -> list[AltAllele]:
    """The alternative alleles of a candidate, each with no more reference bases than it needs."""
    return [_single(variant.pos, variant.ref, alt) for alt in variant.alts]


def _single(pos: int, ref: str, alt: str) -> AltAllele:
    while len(ref) > 1 and len(alt) > 1 and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
    while len(ref) > 1 and len(alt) > 1 and ref[0] == alt[0]:
        pos, ref, alt = pos + 1, ref[1:], alt[1:]
    return AltAllele(pos + 1, ref, alt)


def leftmost_alleles_of(variant: Variant, reference: native.ReferenceBases) -> list[AltAllele]:
    """The alternative alleles of a record, with insertions and deletions as far left as discovery has them."""
    return [_leftmost(allele, variant.chrom, reference) for allele in alleles_of(variant)]


def _leftmost(allele: AltAllele, chrom: str, reference: native.ReferenceBases) -> AltAllele:
    head, old, new = trim_allele(allele.ref, allele.alt)
    if allele.alt == SPANNED or (old and new):
        return allele
    start = allele.position - 1 + head
    begin = max(0, start - MAX_SHIFT)
    bases = reference.fetch(chrom, begin, start + len(old))
    at, old, new = shift_left(bases, start - begin, old, new)
    return AltAllele(begin + at, bases[at - 1] + old, bases[at - 1] + new)


def is_here(allele: AltAllele, place: Interval, reference: native.ReferenceBases) -> bool:
    """Whether a position lies in the extent of an allele, or behind that of an insertion."""
    alts = () if allele.alt == SPANNED else (allele.alt,)
    start, end = native.variant_extent(Variant(place.chrom, allele.position - 1, allele.ref, alts), reference)
    return start <= place.start < end + (len(allele.alt) > len(allele.ref))
