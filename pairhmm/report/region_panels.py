"""Makes the panels of a report from likelihood tables. Each panel shows the reads of a region that has a site."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

import numpy as np

from pairhmm.align.haplotypes import find_differences
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.sam import ReadKey
from pairhmm.errors import InputError
from pairhmm.likelihoods.reader import LikelihoodTable, Locus, RegionHaplotypes, RegionLikelihoods
from pairhmm.models.labels import model_of_label
from pairhmm.report.page_writer import pack
from pairhmm.report.panels import ReadEvidence, aligned_haplotypes, choose_haplotypes, most_reads, panel_bytes
from pairhmm.report.pileup import Pileup, shown_columns
from pairhmm.report.reads import ReadExplainer, RegionReads, least_certain
from pairhmm.sequences.fasta import Reference
from pairhmm.variants.sites import ReportedSite, site_alleles

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Panels:
    """The panels that were made so far.

    Attributes
    ----------
    packed : list of str
        Packed panels, one for each region of each table.
    of_site : dict of int to list of (int, list of int or None)
        The panels of each site, by the site's number, each with its alleles (`pairhmm.variants.sites.site_alleles`).
    samples : list of str
        Samples in order of appearance, after those that were known before.
    counts : dict of str to (int, int)
        A sample's reads in all panels, and how many of them choose a haplotype.
    precisions : list of int
        Number of reads by the precision of their hardest pair, in the order of `pairhmm.models.batch.PRECISIONS`.
    shown : int
        Number of reads that panels show.
    """

    samples: list[str]
    packed: list[str] = field(default_factory=list)
    of_site: dict[int, list[tuple[int, list[int] | None]]] = field(default_factory=dict)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    precisions: list[int] = field(default_factory=lambda: [0, 0, 0])
    shown: int = 0

    @property
    def reads(self) -> int:
        """Number of reads in all panels."""
        return sum(self.precisions)


@dataclass(frozen=True, slots=True)
class PanelSources:
    """Inputs of panels in addition to likelihood tables.

    Attributes
    ----------
    calls : str or None
        The VCF, whose samples are `samples`.
    contigs : collection of str
        Contigs of the VCF; empty if they are unknown.
    """

    sites: Sequence[ReportedSite]
    calls: str | None
    samples: list[str]
    contigs: Collection[str]
    genome: Reference | None
    reader: AlignmentReader | None


def make_panels(tables: Sequence[LikelihoodTable], sources: PanelSources) -> Panels:
    """Make the panels of all sites: table after table, region after region."""
    panels = Panels(list(sources.samples))
    index = _SiteIndex(sources.sites)
    explain = ReadExplainer()
    shown = [_shown_regions(table, index, sources) for table in tables]
    all_panels = sum(map(len, shown))
    for number, (table, regions) in enumerate(zip(tables, shown, strict=True)):
        model = model_of_label(table.model())
        if sources.reader is not None and model is None:
            reason = "its parameters are not here, so the report does not say which bases decide"
            log.info("%s: %s: %s", table.path, table.model(), reason)
        uses_tags = model is not None and model[0].indel_tags and model[1] is None
        alignments = (
            None
            if sources.reader is None
            else RegionReads(sources.reader, regions, uses_tags, model is None or model[0].trims_ends)
        )
        for reads in table.regions(partial(_haplotypes, regions)):
            _count(panels, reads, sources, table.path)
            places: dict[ReadKey, tuple[int, int]] = {}
            explained: dict[int, ReadEvidence] = {}
            alignment = _alignment(reads, sources.genome)
            sites = regions[reads.chrom, reads.start, reads.end].sites
            pileup: Pileup | None = None
            if alignments is not None:
                wanted = least_certain(reads) if model is not None else set()
                start, reference, differences = alignment
                positions = [sources.sites[site].pos for site, _ in sites]
                columns = shown_columns(start, start + len(reference), chain.from_iterable(differences), positions)
                pileup = Pileup(columns)
                places, placed = alignments.of(reads.chrom, reads.start, reads.end, wanted, pileup.add)
                slack = max(0, len(reference) - min(map(len, reads.sequences)))
                explained = explain(reads, placed, *model, slack) if model is not None else {}
            numbers = {name: at for at, name in enumerate(panels.samples)}
            depths = Counter(reads.samples)
            most = most_reads(all_panels, len(depths))
            panels.shown += sum(min(most, count) for count in depths.values())
            data = panel_bytes(reads, number, numbers, alignment, places, explained=explained, pileup=pileup, most=most)
            for site, alleles in sites:
                panels.of_site.setdefault(site, []).append((len(panels.packed), alleles))
            panels.packed.append(pack(data))
    if explain.other:
        reason = "reads have other scores by the table's model, and the report does not say which of their bases decide"
        log.info("%d of %d %s", explain.other, explain.other + explain.explained, reason)
    return panels


@dataclass(slots=True)
class _ShownRegion:
    haplotypes: RegionHaplotypes
    sites: list[tuple[int, list[int] | None]]


def _haplotypes(regions: dict[Locus, _ShownRegion], place: Locus) -> RegionHaplotypes | None:
    region = regions.get(place)
    return None if region is None else region.haplotypes


class _SiteIndex:
    """Looks up the numbers of sites by place."""

    def __init__(self, sites: Sequence[ReportedSite]) -> None:
        self._places: dict[str, list[tuple[int, int]]] = {}
        for number, site in enumerate(sites):
            self._places.setdefault(site.chrom, []).append((site.pos, number))
        for places in self._places.values():
            places.sort()

    def within(self, chrom: str, start: int, end: int) -> Iterator[int]:
        """Sites whose position is in [start, end)."""
        places = self._places.get(chrom, [])
        for _, number in places[bisect_left(places, (start, -1)) : bisect_left(places, (end, -1))]:
            yield number


def _shown_regions(table: LikelihoodTable, index: _SiteIndex, sources: PanelSources) -> dict[Locus, _ShownRegion]:
    """The regions of a table that show a site: those with the site as a variant, else the first that covers it."""
    having: list[_ShownRegion] = []
    had: set[int] = set()
    covering: dict[int, RegionHaplotypes] = {}
    checked: set[str] = set()
    for haplotypes in table.haplotypes():
        chrom, start, end = haplotypes.locus
        if chrom not in checked:
            checked.add(chrom)
            _check_contig(chrom, table.path, sources)
        region = _ShownRegion(haplotypes, [])
        try:
            for number in index.within(chrom, start, end):
                alleles = site_alleles(sources.sites[number], haplotypes.variants, haplotypes.alleles)
                if alleles is None:
                    covering.setdefault(number, haplotypes)
                else:
                    region.sites.append((number, alleles))
                    had.add(number)
        except (ValueError, IndexError):
            rule = "its variants and alleles do not go together"
            raise InputError(table.companion, f"{chrom}:{start + 1}-{end}", rule, "make the table again") from None
        if region.sites:
            having.append(region)
    for number, haplotypes in covering.items():
        if number not in had:
            having.append(_ShownRegion(haplotypes, [(number, None)]))
    by_place: dict[Locus, _ShownRegion] = {}
    for region in having:
        known = by_place.setdefault(region.haplotypes.locus, region)
        if known is not region:
            known.sites += region.sites
    return by_place


def _check_contig(chrom: str, path: str, sources: PanelSources) -> None:
    if sources.genome is not None:
        sources.genome.check_contigs(path, {chrom: None})
    if sources.calls is not None and sources.contigs and chrom not in sources.contigs:
        rule = f"has none of this name, but {path} has"
        raise InputError(sources.calls, f"contig {chrom}", rule, "give calls and likelihoods of the same reference")


def _count(panels: Panels, reads: RegionLikelihoods, sources: PanelSources, path: str) -> None:
    decided = choose_haplotypes(reads.log10).decided
    for code, count in enumerate(np.bincount(reads.precision, minlength=len(panels.precisions)).tolist()):
        panels.precisions[code] += count
    of_decided = Counter(sample for sample, is_decided in zip(reads.samples, decided, strict=True) if is_decided)
    for sample, count in Counter(reads.samples).items():
        if sample not in panels.samples:
            if sources.calls is not None:
                cure = "give calls and likelihoods of the same samples"
                raise InputError(sources.calls, "", f"has no sample {sample}, which {path} has", cure)
            panels.samples.append(sample)
        before = panels.counts.get(sample, (0, 0))
        panels.counts[sample] = before[0] + count, before[1] + of_decided[sample]


def _alignment(reads: RegionLikelihoods, genome: Reference | None) -> tuple[int, str, list[list[tuple[int, str, str]]]]:
    """The start of the haplotypes, the reference there, and the differences of each haplotype."""
    start, end = _span(reads)
    if genome is not None:
        reference = genome.fetch(reads.chrom, start, end)
    else:
        # The haplotype without any alternative allele spells the reference.
        plain = [set(alleles.split(",")) <= {"0", "."} for alleles in reads.alleles]
        reference = reads.sequences[plain.index(True) if True in plain else 0]
    return start, reference, aligned_haplotypes(start, reference, reads.sequences, find_differences)


def _span(reads: RegionLikelihoods) -> tuple[int, int]:
    """The interval that the haplotypes span, 0-based half-open, from generated names, or else the region's."""
    chrom, colon, rest = reads.haplotypes[0].rpartition("/")[0].rpartition(":")
    first, dash, last = rest.partition("-")
    if colon and dash and chrom == reads.chrom and first.isdecimal() and last.isdecimal():
        return int(first) - 1, int(last)
    return reads.start, reads.end
