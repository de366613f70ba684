"""Finds candidate variants in the reads: mismatches, and the insertions and deletions of their CIGARs.

The counting is native (cpu/calling/candidates.cpp). Coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.native import native
from pairhmm.options import Within, check_fields
from pairhmm.sequences.arrays import joined, offsets
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY, READ_LETTERS, encode
from pairhmm.variants.haplotypes import UNKNOWN
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import FetchBases, Variant, shift_left, trim_allele

_LETTER_OF_CODE = READ_LETTERS.encode().ljust(256, b"N")


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


class CandidateFinder:
    """Finds candidates in blocks of reads, in order of position.

    The candidates do not depend on how the reads are divided into blocks.

    Parameters
    ----------
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases.
    n_samples : int
    options : CandidateOptions
    """

    def __init__(self, fetch: FetchBases, n_samples: int, options: CandidateOptions | None = None) -> None:
        options = options or CandidateOptions()
        self._fetch = fetch
        self._discovery = native.Discovery(
            n_samples,
            options.min_base_quality,
            options.min_snv_count,
            options.min_indel_count,
            options.min_snv_fraction,
            options.min_indel_fraction,
            options.assembly,
        )
        self._found = 0
        self._chrom = ""

    @property
    def settled(self) -> int:
        """The position before which all candidates of the contig were given."""
        return self._discovery.settled

    def scan(self, block: ReadBlock, places: Sequence[tuple[int, int]] | None = None) -> list[Variant]:
        """Count the reads of the next block. Returns the candidates that no later read can change.

        Parameters
        ----------
        block : ReadBlock
        places : sequence of (int, int), optional
            Intervals in which candidates are sought, in order, which do not overlap: all those behind `settled` that
            the reads may reach. By default they are sought everywhere.
        """
        if block.chrom != self._chrom:
            self._discovery.reset()
            self._chrom = block.chrom
        if places is not None:
            self._discovery.limit_to(places)
        # Only parts of the reference are held: reads may lie far apart (targeted sequencing) or have introns.
        windows = block.native.covered()
        if windows:
            self._discovery.add(block.native, *self._reference(windows))
        return self._variants(block, int(block.start[-1]) if len(block) else 0)

    def finish(self) -> list[Variant]:
        """The last candidates of a contig, once all its reads were counted."""
        return self._variants(ReadBlock.empty(self._chrom), np.iinfo(np.int64).max // 2)

    def _reference(
        self, windows: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        """The reference in some windows: where each begins, where its letters begin, and all letters."""
        letters = [encode(self._fetch(self._chrom, start, end)) for start, end in windows]
        starts = np.array([start for start, _ in windows], dtype=np.int64)
        return starts, offsets(list(map(len, letters))), joined(letters)

    def _variants(self, block: ReadBlock, frontier: int) -> list[Variant]:
        windows = self._discovery.windows(frontier)
        self._discovery.assemble(block.native, *self._reference(windows))
        variants = []
        for (position, is_indel), group in groupby(self._discovery.take(), key=itemgetter(0, 2)):
            _, lengths, _, codes, joined_until = zip(*group, strict=True)
            ref = self._fetch(self._chrom, position, position + 1 + (max(lengths) if is_indel else 0))
            alts = tuple([one.translate(_LETTER_OF_CODE).decode() for one in codes])
            if is_indel:
                # The indels behind one anchor base are alleles of one record, whose REF spans the longest deletion.
                alts = tuple([ref[0] + alt + ref[1 + length :] for length, alt in zip(lengths, alts, strict=True)])
            variants.append(Variant(self._chrom, position, ref, alts, "", self._found, joined_until=max(joined_until)))
            self._found += 1
        return variants


def carried_alleles(block: ReadBlock, reads: NDArray[np.int64], region: Region, reference: str) -> NDArray[np.int16]:
    """The allele of each candidate that each read carries, according to the read's alignment.

    Parameters
    ----------
    block : ReadBlock
    reads : int64 (reads,)
        Indices into the block.
    region : Region
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
