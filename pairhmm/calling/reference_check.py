"""Checks that reads were aligned to this reference, by their bases and by the checksums in their header.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.errors import InputError
from pairhmm.native import native
from pairhmm.variants.variant import FetchBases

log = logging.getLogger(__name__)

# Reads of a contig that are compared: this many at first, and then one in so many.
_FIRST_READS, _ONE_IN = 64, 256
# Approximate limit on the bases of a block that are compared. Of long reads, fewer are compared.
_MOST_BASES = 1_000_000
# A read with a larger share of mismatches was not aligned to this reference. Unrelated ones differ in 3 of 4 bases.
_WRONG_SHARE = 0.4
# The fewest comparable bases of a read that counts, and the fewest such reads for a verdict.
_FEWEST_BASES, _FEWEST_READS = 30, 10
# Reads that span more than this many times their length are not compared: fetching an intron costs too much.
_LONGEST_SPAN = 20
# Checksums are computed for contigs of at most this many bases in all (0.05 s). Beyond, only if reads disagree.
_SUMMED_UNASKED = 10_000_000
_AT_ONCE = 1 << 24


class ReferenceCheck:
    """Watches blocks of reads, and stops a run whose reads disagree with the reference.

    `path` names the reference in messages. `checksums` are MD5 of contigs, in hexadecimal, from the reads' header
    (SAM's M5).
    """

    def __init__(self, path: str, fetch: FetchBases, contigs: Mapping[str, int], checksums: Mapping[str, str]) -> None:
        self._path, self._fetch, self._contigs, self._checksums = path, fetch, contigs, checksums
        self._reference = native.ReferenceBases(fetch)
        self._left_to_sum = _SUMMED_UNASKED
        self._chrom = ""
        self._is_settled = False
        self._seen = self._looked_at = self._judged = self._wrong = 0

    def watch(self, blocks: Iterable[ReadBlock]) -> Iterator[ReadBlock]:
        """Pass the blocks on, unchanged. Most reads of a contig that disagree with it are an InputError."""
        for block in blocks:
            if block.chrom != self._chrom:
                self._begin(block.chrom)
            if not self._is_settled:
                self._look_at(block)
            yield block

    def _begin(self, chrom: str) -> None:
        self._chrom = chrom
        self._seen = self._looked_at = self._judged = self._wrong = 0
        self._is_settled = False
        if chrom in self._checksums and self._contigs[chrom] <= self._left_to_sum:
            self._left_to_sum -= self._contigs[chrom]
            self._is_settled = self._sums_agree()
            if not self._is_settled:
                log.warning("%s: contig %s is not the one that the reads' header names (M5)", self._path, chrom)

    def _sums_agree(self) -> bool:
        import hashlib

        length = self._contigs[self._chrom]
        total = hashlib.md5(usedforsecurity=False)
        for start in range(0, length, _AT_ONCE):
            total.update(self._fetch(self._chrom, start, min(start + _AT_ONCE, length)).encode())
        return total.hexdigest() == self._checksums[self._chrom].lower()

    def _look_at(self, block: ReadBlock) -> None:
        self._seen += len(block)
        count = min(len(block), _FIRST_READS + self._seen // _ONE_IN - self._looked_at)
        if count <= 0:
            return
        self._looked_at += count
        reads = np.arange(count) * (len(block) - 1) // max(count - 1, 1)
        lengths = block.base_offset[reads + 1] - block.base_offset[reads]
        spans = block.end[reads] - block.start[reads]
        few = np.cumsum(lengths) - lengths < _MOST_BASES
        chosen = reads[few & (spans <= _LONGEST_SPAN * lengths)]
        compared, differing = native.reference_differences(block.native, block.chrom, chosen, self._reference)
        is_judged = compared >= _FEWEST_BASES
        self._judged += int(is_judged.sum())
        self._wrong += int((differing > _WRONG_SHARE * compared)[is_judged].sum())
        if self._judged >= _FEWEST_READS and 2 * self._wrong > self._judged:
            self._stop()

    def _stop(self) -> None:
        """Raise an error, because most reads disagree. If the checksum confirms the reference, only warn."""
        rule = f"{self._wrong / self._judged:.0%} of the reads that were looked at disagree with it"
        if self._chrom in self._checksums and self._sums_agree():
            log.warning("%s: contig %s: %s, although it is the one they were aligned to", self._path, self._chrom, rule)
            self._is_settled = True
            return
        raise InputError(self._path, f"contig {self._chrom}", rule, "use the reference that the reads were aligned to")
