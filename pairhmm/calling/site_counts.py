"""Counts genotyped sites that are worth a message: not all genotypes weighed, or many reads that fit no haplotype."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from pairhmm.calling.genotyping import Site
from pairhmm.variants.genotypes import MANY_UNFIT, MAX_GENOTYPES

log = logging.getLogger(__name__)


@dataclass(slots=True)
class SiteCounts:
    """Counts of sites.

    Attributes
    ----------
    sites : int
    limited : int
        Those of which not all genotypes were weighed.
    unfit : int
        Those over which many reads fit no haplotype (`MANY_UNFIT`).
    first_unfit : str
        The first of these, as ``chr:pos``.
    """

    sites: int = 0
    limited: int = 0
    unfit: int = 0
    first_unfit: str = ""

    def add(self, site: Site) -> None:
        """Count a site."""
        self.sites += 1
        self.limited += site.left_out > 0
        if site.statistics is not None and site.statistics.unfit >= MANY_UNFIT:
            self.unfit += 1
            self.first_unfit = self.first_unfit or f"{site.variant.chrom}:{site.variant.pos + 1}"

    def add_counts(self, other: SiteCounts) -> None:
        """Add the counts of the part of a run that follows."""
        self.sites += other.sites
        self.limited += other.limited
        self.unfit += other.unfit
        self.first_unfit = self.first_unfit or other.first_unfit

    def announce(self) -> None:
        """Warn where there are such sites."""
        if self.unfit:
            log.warning(
                "at %d of %d sites, %.0f%% of the reads or more fit no haplotype (INFO NOFIT), %s the first: an allele"
                " may be missing there, or reads belong elsewhere",
                self.unfit,
                self.sites,
                100 * MANY_UNFIT,
                self.first_unfit,
            )
        if self.limited:
            log.warning(
                "%d sites have more than %d genotypes by their alleles and ploidy: the alternative alleles with the"
                " fewest reads were not weighed there, and where they stay in a record its PL is missing",
                self.limited,
                MAX_GENOTYPES,
            )
