"""Messages at the end of a run: how much it scored, which reads it left out, and why."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from pairhmm.calling.genotyping import Site
from pairhmm.calling.molecules import MoleculeCounts
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.stream import RegionCounts
from pairhmm.calling.timing import Timing
from pairhmm.models.gatk import GatkOptions
from pairhmm.plurals import counted
from pairhmm.variants.genotypes import MANY_UNFIT, MAX_GENOTYPES

if TYPE_CHECKING:
    from pairhmm._cpu import ScoredRegions

log = logging.getLogger(__name__)

# The share that counts as most reads, most bases or most of a site.
MOST = 0.5
# The share of reads of the same name from which on they are announced.
MANY_NAMESAKES = 0.05
# Reads of more bases, on average, are long ones: a preset has their options.
LONG_READS = 1_000


@dataclass(slots=True)
class FilteredReads:
    """Counts reads that fit no haplotype, or share their name (cpu/calling/filtered_reads.hpp).

    Attributes
    ----------
    reads, set_aside : int
        Reads scored, and those of them that fit no haplotype. A read counts once for each region.
    bases : int
        Bases of the reads that fit no haplotype, those outside their region among them.
    sites, emptied : int
        Sites that reads cover, and those of them at which a sample has no read left.
    first_emptied : str
        The first site at which a sample has no read left, as ``chr:pos (sample)``.
    namesakes, first_namesake : int, str
        Reads over a base of another read of their sample, of the same name and mate, and the first such name.
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
    namesakes: int = 0
    first_namesake: str = ""
    poor: list[tuple[str, int, int]] = field(default_factory=list)

    def add(self, regions: ScoredRegions) -> None:
        """Count scored regions."""
        reads, set_aside, bases, sites, emptied, place, namesakes, name = regions.filtered_reads()
        first = "" if place is None else f"{place[0]} ({self.samples[place[1]]})"
        poor = self._poor(regions) if self.haplotypes_given else []
        read = name.decode(errors="replace")
        found = (reads, set_aside, bases, sites, emptied, first, namesakes, read, poor)
        self.add_counts(FilteredReads(self.samples, self.haplotypes_given, *found))

    def add_counts(self, other: FilteredReads) -> None:
        """Add the counts of the part of a run that follows."""
        self.reads += other.reads
        self.set_aside += other.set_aside
        self.bases += other.bases
        self.sites += other.sites
        self.emptied += other.emptied
        self.first_emptied = self.first_emptied or other.first_emptied
        self.namesakes += other.namesakes
        self.first_namesake = self.first_namesake or other.first_namesake
        self.poor += other.poor

    def _poor(self, regions: ScoredRegions) -> list[tuple[str, int, int]]:
        counted = [(one.region, int(one.set_aside.sum()), len(one.set_aside)) for one in regions]
        return [
            (f"{region.chrom}:{region.start + 1}-{region.end}", count, reads)
            for region, count, reads in counted
            if count > MOST * reads
        ]

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

    def announce_namesakes(self) -> None:
        """Warn of many reads that share their name."""
        if self.namesakes and self.namesakes >= MANY_NAMESAKES * self.reads:
            log.warning(
                "%d of %d reads have the name of another read at their place, %s the first: reads of one name count as"
                " one molecule, so give each molecule a name of its own",
                self.namesakes,
                self.reads,
                self.first_namesake,
            )

    def announce(self, options: GatkOptions, lowered: float) -> None:
        """Warn where the share is large, and where sites lost all reads.

        `lowered` is the share of all bases whose quality was lowered to 6.
        """
        share = self.set_aside / self.reads if self.reads else 0.0
        if not (self.emptied or share >= MANY_UNFIT):
            return
        emptied = (
            f"; {self.emptied} of {self.sites} sites have no read left, {self.first_emptied} the first"
            if self.emptied
            else ""
        )
        log.warning(
            "%d of %d reads (%.0f%%) fit no haplotype%s: %s",
            self.set_aside,
            self.reads,
            100 * share,
            emptied,
            _cure(options, lowered, self.bases / self.set_aside if self.set_aside else 0.0),
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


@dataclass(slots=True)
class RunCounts:
    """The counts of a run, or of a shard of one. The counts of shards are added in order.

    `molecules` is None where reads are not joined. `bases`, `lowered` and `tagged` are those of `ReadScorer`.
    """

    stream: RegionCounts
    filtered: FilteredReads
    molecules: MoleculeCounts | None = None
    bases: int = 0
    lowered: int = 0
    tagged: int = 0
    timing: Timing = field(default_factory=Timing)

    @classmethod
    def none(cls, samples: list[str], options: RunOptions) -> Self:
        """The counts of a run before its first shard."""
        molecules = MoleculeCounts() if options.molecules.are_on else None
        return cls(RegionCounts(), FilteredReads(samples), molecules)

    def add(self, other: RunCounts) -> None:
        """Add the counts of the next shard."""
        self.stream.add(other.stream)
        self.filtered.add_counts(other.filtered)
        if self.molecules is not None and other.molecules is not None:
            self.molecules.add_counts(other.molecules)
        self.bases += other.bases
        self.lowered += other.lowered
        self.tagged += other.tagged
        self.timing.add_counts(other.timing)

    def announce(self, inputs: RunInputs, options: RunOptions, filters_reads: bool) -> None:
        """Write the messages at the end of the run. `filters_reads`: reads that fit no haplotype were left unused."""
        stream, least = self.stream, options.discovery.min_base_quality
        if inputs.candidates_are_discovered and stream.highest_quality is not None and stream.highest_quality < least:
            log.warning(
                "no read has a base of quality %d or more (--min-base-quality), so that no SNV is found; the highest"
                " quality is %d",
                least,
                stream.highest_quality,
            )
        if stream.capped_reads:
            log.warning(
                "%s left out of %s deeper than %d reads a sample (--max-depth)",
                counted(stream.capped_reads, "read"),
                counted(stream.capped_regions, "region"),
                options.evidence.max_depth,
            )
        if self.tagged:
            log.info(
                "tags BI and BD of %d of %d reads are used as gap-open qualities (--no-indel-tags leaves them)",
                self.tagged,
                stream.reads,
            )
        self.filtered.announce_poor()
        if filters_reads:
            self.filtered.announce_namesakes()
            self.filtered.announce(options.model, self.lowered / self.bases if self.bases else 0.0)
        self.timing.log()
        aside = f" ({self.filtered.set_aside} {'set aside' if filters_reads else 'fit no haplotype'})"
        regions, reads = counted(stream.regions, "region"), counted(stream.reads, "read")
        log.info("%s, %s%s, %s", regions, reads, aside, counted(stream.pairs, "pair"))
        if self.molecules is not None:
            self.molecules.announce(options.molecules)


@dataclass(slots=True)
class SiteCounts:
    """Counts of sites: not all genotypes were weighed, or many reads fit no haplotype (`MANY_UNFIT`)."""

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
                "%s more than %d genotypes by their alleles and ploidy: the alternative alleles with the"
                " fewest reads were not weighed there, and where they stay in a record its PL is missing",
                counted(self.limited, "site has", "sites have"),
                MAX_GENOTYPES,
            )
