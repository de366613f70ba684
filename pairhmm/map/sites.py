"""Sites at which samples are compared, and the reads and genotypes of each sample there, as arrays."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import offsets

MOST_RATIO = 3.0
"""The largest log10 ratio of a read: one in a thousand reads is from elsewhere, whatever its qualities."""

COUNTED_ERROR = 0.005
"""Error probability of a read that a VCF only counts (AD)."""


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """Reads of several samples at biallelic sites. Reads of a sample and site with equal ratios are one row.

    Rows are sorted by sample, then by site.
    """

    samples: tuple[str, ...]
    sites: int
    begin: NDArray[np.int64]  # the rows [begin[s], begin[s + 1]) are those of sample s
    site: NDArray[np.int32]
    # P(read | alternative allele) over P(read | reference allele), from -`MOST_RATIO` to `MOST_RATIO`
    log10_ratio: NDArray[np.float32]
    count: NDArray[np.uint16]  # reads of the row

    __repr__ = short_repr

    def rows_of_one(self, kept: slice | NDArray[np.bool_]) -> SiteEvidence:
        """Some rows, all of one sample."""
        site = self.site[kept]
        ratio, count = self.log10_ratio[kept], self.count[kept]
        return replace(self, begin=offsets([len(site)]), site=site, log10_ratio=ratio, count=count)


MOST_SITES = 80_000
"""The most sites that are compared. At a depth of 2, 3% of foreign reads need this many."""
MOST_CELLS = 4_000_000
"""The most sites times samples that are held. Cohorts of more than 50 samples are compared at fewer sites."""
MOST_SAMPLES = 3_000

COUNTED_RATIO = float(np.log10((1 - COUNTED_ERROR) / COUNTED_ERROR))
"""log10 ratio of a read that is only counted, positive where it has the alternative allele."""

_BASES = frozenset("ACGT")
# Sex chromosomes and mitochondria.
_OTHER_CONTIGS = frozenset(("X", "Y", "Z", "W", "M", "MT"))
# The slack of held sites, as a divisor, before the last ones are dropped.
_SLACK = 4
_SPREAD = 0x9E3779B1
_RANGE = 1 << 32


def site_key(chrom: str, pos: int, ref: str, alt: str) -> str:
    """The name of a site, the same with and without ``chr``; empty where samples are not compared.

    They are compared at biallelic SNVs of contigs that are not X, Y, Z, W or mitochondria.
    """
    contig = chrom.removeprefix("chr")
    if ref == alt or ref not in _BASES or alt not in _BASES or contig in _OTHER_CONTIGS:
        return ""
    return f"{contig}:{pos}:{ref}:{alt}"


def priority(key: str) -> int:
    """The lower, the sooner a site is taken: 32 bits that are the same in every file and order."""
    return zlib.crc32(key.encode()) * _SPREAD % _RANGE


def most_sites(samples: int) -> int:
    """How many sites samples are compared at, at most."""
    return max(1, min(MOST_SITES, MOST_CELLS // max(1, samples)))


class SiteChoice:
    """Chooses sites while files are read: the `most` with the lowest `priority`, whatever the order."""

    def __init__(self, most: int) -> None:
        self._most, self._below, self._cuts = most, _RANGE, 0
        self._keys: dict[str, int] = {}

    def takes(self, key: str) -> bool:
        """Whether a site may be among the chosen ones."""
        rank = priority(key)
        if rank >= self._below:
            return False
        self._keys[key] = rank
        if len(self._keys) > self._most + self._most // _SLACK + 1:
            self._cut()
        return rank < self._below

    def limit(self, most: int) -> None:
        """Choose fewer sites."""
        self._most = min(most, self._most)
        if len(self._keys) > self._most:
            self._cut()

    def chosen(self) -> dict[str, int]:
        """The chosen sites, numbered."""
        self.limit(self._most)
        return {key: number for number, key in enumerate(self._keys)}

    def is_kept(self, key: str) -> bool:
        """Whether a site that was taken has not been dropped for others."""
        return key in self._keys

    @property
    def cuts(self) -> int:
        """How often sites were dropped."""
        return self._cuts

    def _cut(self) -> None:
        kept = sorted(self._keys.items(), key=lambda item: (item[1], item[0]))[: self._most]
        self._below = kept[-1][1] + 1
        self._keys = dict(kept)
        self._cuts += 1


@dataclass(frozen=True, slots=True)
class SampleSites:
    """Data of samples at the chosen sites, from one input.

    Where there are reads, they count. The other arrays are of cells without reads.
    """

    samples: tuple[str, ...]
    evidence: SiteEvidence
    # (samples, sites, 3) likelihoods of genotypes, the best 0; 0 throughout where nothing is known
    phred: NDArray[np.uint8]
    called: NDArray[np.int8]  # genotypes; -1 where there is none
    depth: NDArray[np.float64]  # mean of reads over the sites with data; NaN where reads were not counted

    __repr__ = short_repr

    @classmethod
    def concatenate(cls, parts: Sequence[SampleSites]) -> SampleSites:
        """The samples of several inputs, one after the other."""
        if len(parts) == 1:
            return parts[0]
        rows = np.concatenate([np.diff(part.evidence.begin) for part in parts])
        samples = tuple(name for part in parts for name in part.samples)
        evidence = SiteEvidence(
            samples,
            parts[0].evidence.sites,
            offsets(rows),
            np.concatenate([part.evidence.site for part in parts]),
            np.concatenate([part.evidence.log10_ratio for part in parts]),
            np.concatenate([part.evidence.count for part in parts]),
        )
        return cls(
            samples,
            evidence,
            np.concatenate([part.phred for part in parts]),
            np.concatenate([part.called for part in parts]),
            np.concatenate([part.depth for part in parts]),
        )


def evidence_of(evidence: SiteEvidence, sample: int) -> SiteEvidence:
    """The reads of one sample."""
    rows = evidence.rows_of_one(slice(*evidence.begin[sample : sample + 2].tolist()))
    return replace(rows, samples=(evidence.samples[sample],))


def counted_evidence(samples: tuple[str, ...], counts: NDArray[np.uint16]) -> SiteEvidence:
    """Evidence of reads that are only counted, of both alleles: (samples, sites, 2)."""
    rows = np.count_nonzero(counts, axis=(1, 2))
    begin = offsets(rows)
    evidence = SiteEvidence(
        samples,
        counts.shape[1],
        begin,
        np.empty(begin[-1], dtype=np.int32),
        np.empty(begin[-1], dtype=np.float32),
        np.empty(begin[-1], dtype=np.uint16),
    )
    for of_sample, (first, end) in zip(counts, pairwise(begin.tolist()), strict=True):
        place, allele = np.nonzero(of_sample)
        evidence.site[first:end] = place
        evidence.log10_ratio[first:end] = np.where(allele, COUNTED_RATIO, -COUNTED_RATIO)
        evidence.count[first:end] = of_sample[place, allele]
    return evidence


def binned_evidence(
    samples: tuple[str, ...], sites: int, codes: NDArray[np.int64], count: NDArray[np.int64]
) -> SiteEvidence:
    """Evidence of reads with ratios in tenths, by the numbers of `evidence_codes`, ascending, and their counts."""
    cell = codes // BINS
    rows = np.bincount(cell // sites, minlength=len(samples))
    ratio = (((codes % BINS) - _MIDDLE) / _TENTHS).astype(np.float32)
    most = np.iinfo(np.uint16).max
    return SiteEvidence(
        samples, sites, offsets(rows), (cell % sites).astype(np.int32), ratio, np.minimum(count, most).astype(np.uint16)
    )


BINS = 61
"""Ratios from -3 to 3 in tenths."""
_MIDDLE, _TENTHS = BINS // 2, 10


def evidence_codes(
    sample: NDArray[np.int64], site: int, sites: int, log10_ratio: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Numbers of reads at a site, for `binned_evidence`: ``(sample * sites + site) * BINS + bin``.

    Ratios are cut to the range of `BINS`. Reads that favour no allele are left out.
    """
    tenths = np.clip(np.rint(log10_ratio * _TENTHS), -_MIDDLE, _MIDDLE).astype(np.int64)
    favours = tenths != 0
    codes: NDArray[np.int64] = (sample[favours] * sites + site) * BINS + tenths[favours] + _MIDDLE
    return codes
