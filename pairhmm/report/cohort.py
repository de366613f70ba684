"""Figures of a cohort: counts of each sample's genotypes, and how far each two samples agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.variants.sites import ReportedSite, SampleCall

TRANSITIONS = frozenset({("A", "G"), ("G", "A"), ("C", "T"), ("T", "C")})
"""SNVs between two purines or two pyrimidines, as (REF, ALT)."""

COMPARED = 200
"""The most samples that are compared with each other. The work grows with the square of their number."""

MIN_DEPTH = 10
"""DP below which a genotype counts as one of few reads."""


@dataclass(slots=True)
class SampleFigures:
    """Counts of one sample, over the records that pass their filters.

    `depth_total` is the sum of DP over `depth_sites` records with one; `quality_total` and `quality_sites` are GQ's.
    `thin` counts the records whose DP is below the cohort's `min_depth`.
    """

    called: int = 0
    missing: int = 0
    het: int = 0
    hom_alt: int = 0
    snvs: int = 0
    indels: int = 0
    transitions: int = 0
    transversions: int = 0
    depth_total: int = 0
    depth_sites: int = 0
    thin: int = 0
    quality_total: int = 0
    quality_sites: int = 0

    @property
    def mean_depth(self) -> float | None:
        """Mean DP of the records that have one."""
        return self.depth_total / self.depth_sites if self.depth_sites else None

    @property
    def mean_quality(self) -> float | None:
        """Mean GQ of the records that have one."""
        return self.quality_total / self.quality_sites if self.quality_sites else None

    @property
    def ti_tv(self) -> float | None:
        """Ratio of transitions to transversions."""
        return self.transitions / self.transversions if self.transversions else None


class Cohort:
    """Adds up the records of a VCF.

    Parameters
    ----------
    min_depth : int
        DP below which a genotype is one of few reads.

    Attributes
    ----------
    figures : list of SampleFigures
        One for each sample.
    records, passed : int
        All records, and those that fail no filter. The figures count only the latter.
    failed : Counter of str
        Records that fail each filter. A record may fail several.
    uncalled_sites, thin_sites : int
        Records that pass, and have a sample whose genotype is missing, or with a DP below `min_depth`.
    """

    def __init__(self, samples: Sequence[str], min_depth: int = MIN_DEPTH) -> None:
        self.samples, self.min_depth = list(samples), min_depth
        self.figures = [SampleFigures() for _ in samples]
        self.records = self.passed = self.uncalled_sites = self.thin_sites = 0
        self.failed: Counter[str] = Counter()
        self._same = np.zeros((len(samples), len(samples)), dtype=np.int64)
        self._both = np.zeros_like(self._same)

    def add(self, site: ReportedSite) -> None:
        """Count a record."""
        self.records += 1
        if not site.passes:
            self.failed.update(site.filters.split(";"))
            return
        self.passed += 1
        self.uncalled_sites += any(call.is_missing for call in site.calls)
        self.thin_sites += any(self._is_thin(call) for call in site.calls)
        for figures, call in zip(self.figures, site.calls, strict=True):
            if call.depth is not None:
                figures.depth_total += call.depth
                figures.depth_sites += 1
            figures.thin += self._is_thin(call)
            figures.missing += call.is_missing
            if not call.is_called:
                continue
            figures.called += 1
            if call.quality is not None:
                figures.quality_total += call.quality
                figures.quality_sites += 1
            carried = set(call.alleles)
            figures.het += len(carried) > 1
            figures.hom_alt += len(carried) == 1 and 0 not in carried
            self._count_alleles(figures, site, [allele for allele in carried if allele])
        if self.is_compared:
            self._compare(site)

    def _is_thin(self, call: SampleCall) -> bool:
        return call.depth is not None and call.depth < self.min_depth

    @property
    def is_compared(self) -> bool:
        """Whether samples are compared, so that `concordance` has figures."""
        return 1 < len(self.samples) <= COMPARED

    def concordance(self) -> NDArray[np.float64]:
        """For each two samples, the share of equal genotypes among the sites where both are called; NaN without any."""
        shares = np.full(self._same.shape, np.nan)
        np.divide(self._same, self._both, out=shares, where=self._both > 0)
        return shares

    def _count_alleles(self, figures: SampleFigures, site: ReportedSite, carried: Sequence[int]) -> None:
        for allele in carried:
            alt = site.alts[allele - 1]
            if len(alt) == len(site.ref) == 1:
                figures.snvs += 1
                is_transition = (site.ref, alt) in TRANSITIONS
                figures.transitions += is_transition
                figures.transversions += not is_transition
            elif len(alt) != len(site.ref):
                figures.indels += 1

    def _compare(self, site: ReportedSite) -> None:
        called = np.array([call.is_called for call in site.calls], dtype=bool)
        numbers: dict[tuple[int | None, ...], int] = {}
        keys = [tuple(sorted(call.alleles, key=str)) for call in site.calls]
        codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
        both = called[:, None] & called[None, :]
        self._both += both
        self._same += both & (codes[:, None] == codes[None, :])
