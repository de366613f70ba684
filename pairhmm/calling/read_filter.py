"""Messages about reads that fit no haplotype: how many there are, sites that lose all reads, and what helps."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import numpy as np

from pairhmm.calling.scored_region import Evidence
from pairhmm.calling.scoring import ReadScorer
from pairhmm.models.gatk import GatkOptions
from pairhmm.variants.genotypes import MANY_UNFIT

log = logging.getLogger(__name__)

# The share that counts as most reads, most bases or most of a site.
MOST = 0.5
# Reads of more bases, on average, are long ones: a preset has their options.
LONG_READS = 1_000


@dataclass(slots=True)
class SetAside:
    """Counts reads that fit no haplotype, region by region.

    Attributes
    ----------
    samples : list of str
    reads, set_aside : int
        Reads scored, and those of them that fit no haplotype. A read counts once for each region.
    bases : int
        Bases of the reads that fit no haplotype, those outside their region among them.
    sites, emptied : int
        Sites that reads cover, and those of them at which a sample has no read left.
    first_emptied : str
        The first site at which a sample has no read left, as ``chr:pos (sample)``.
    poor : list of (str, int, int)
        Regions with most reads set aside: place, reads set aside, and all reads. Kept only where haplotypes were given.
    """

    samples: list[str]
    haplotypes_given: bool = False
    reads: int = 0
    set_aside: int = 0
    bases: int = 0
    sites: int = 0
    emptied: int = 0
    first_emptied: str = ""
    poor: list[tuple[str, int, int]] = field(default_factory=list)

    def add(self, evidence: Evidence) -> None:
        """Count a region."""
        aside = evidence.set_aside
        count = int(np.count_nonzero(aside))
        self.reads += len(aside)
        self.set_aside += count
        if count:
            self.bases += int(evidence.length[aside].sum())
        region = evidence.region
        if self.haplotypes_given and count > MOST * len(aside):
            self.poor.append((f"{region.chrom}:{region.start + 1}-{region.end}", count, len(aside)))
        for variant, (first, last) in zip(region.variants, region.extents, strict=True):
            if variant.role != "asked":
                continue
            if not count and (first, last) == (region.core_start, region.core_end):
                # Most sites: every read of the region covers it.
                self.sites += len(aside) > 0
                continue
            covering = (evidence.start < last) & (evidence.end > first) if len(aside) else aside
            if not covering.any():
                continue
            self.sites += 1
            if count:
                self._find_emptied(evidence, covering, f"{variant.chrom}:{variant.pos + 1}")

    def add_counts(self, other: SetAside) -> None:
        """Add the counts of the part of a run that follows."""
        self.reads += other.reads
        self.set_aside += other.set_aside
        self.bases += other.bases
        self.sites += other.sites
        self.emptied += other.emptied
        self.first_emptied = self.first_emptied or other.first_emptied
        self.poor += other.poor

    def _find_emptied(self, evidence: Evidence, covering: np.ndarray, place: str) -> None:
        kept = covering & ~evidence.set_aside
        if len(self.samples) == 1 and kept.any():
            return
        covered = np.bincount(evidence.sample[covering], minlength=len(self.samples))
        left = np.bincount(evidence.sample[kept], minlength=len(self.samples))
        emptied = np.flatnonzero((covered > 0) & (left == 0))
        if len(emptied):
            self.emptied += 1
            self.first_emptied = self.first_emptied or f"{place} ({self.samples[emptied[0]]})"

    def announce_poor(self) -> None:
        """Warn where given haplotypes fit few reads."""
        for place, count, reads in self.poor:
            log.warning(
                "%s: %d of %d reads fit none of the given haplotypes: add the haplotypes that the sample has, or give "
                "candidates (-v) in their place",
                place,
                count,
                reads,
            )

    def announce(self, scorer: ReadScorer) -> None:
        """Warn where the share is large, and where sites lost all reads."""
        share = self.set_aside / self.reads if self.reads else 0.0
        if not (self.emptied or share >= MANY_UNFIT):
            return
        emptied = (
            f"; {self.emptied} of {self.sites} sites have no read left, {self.first_emptied} the first"
            if self.emptied
            else ""
        )
        log.warning(
            "%d of %d reads (%.0f%%) fit no haplotype and were set aside%s: %s",
            self.set_aside,
            self.reads,
            100 * share,
            emptied,
            _cure(
                scorer.options,
                scorer.lowered / scorer.bases if scorer.bases else 0.0,
                self.bases / self.set_aside if self.set_aside else 0.0,
            ),
        )


def _cure(options: GatkOptions, lowered: float, length: float) -> str:
    """The advice on how to keep the reads.

    `lowered` is the share of all bases whose quality was lowered to 6, `length` the mean of the bases of these reads.
    """
    if length > LONG_READS:
        return (
            f"reads of {length:,.0f} bases need --preset ont, or --preset hifi where they have few errors; "
            "PacBio CLR needs --preset ont and candidates (-v)"
        )
    if lowered > MOST and options.base_quality_threshold is not None:
        cure = (
            f"{100 * lowered:.0f}% of all bases are below quality {options.base_quality_threshold} and count as 6; "
            "--base-quality-threshold 0 keeps their qualities"
        )
        return f"{cure}, --no-cap-by-mapq those of badly mapped reads" if options.cap_by_mapping_quality else cure
    return "--error-rate 0 keeps them, for reads with many errors; or is the reference another one?"
