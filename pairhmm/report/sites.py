"""Calls and likelihoods in a report: the cohort's figures, the sites that are shown, and their panels."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.errors import InputError
from pairhmm.files.names import MODEL_RECORD
from pairhmm.likelihoods.reader import LikelihoodTable
from pairhmm.report.cohort import Cohort
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import Column, ReportPart, Value, heatmap, rounded
from pairhmm.report.region_panels import Panels, PanelSources, make_panels
from pairhmm.sequences.fasta import Reference
from pairhmm.variants.call_reader import CalledSites
from pairhmm.variants.sites import NO_QUALITY, ReportedSite, SiteSelection, sites_of

MOST_GENOTYPES = 500_000
"""The most genotypes of a report: of more than 100 samples, fewer sites are shown."""
_CALL_COLUMNS = {
    "called": ("Called", "Genotypes, of records that pass their filters", "{:,.0f}"),
    "het": ("Het", "Heterozygous genotypes", "{:,.0f}"),
    "hom_alt": ("Hom alt", "Homozygous genotypes other than the reference's", "{:,.0f}"),
    "missing": ("Missing", "Records without a genotype, but those of ploidy 0", "{:,.0f}"),
    "snvs": ("SNVs", "Alternative alleles of one base, carried", "{:,.0f}"),
    "indels": ("Indels", "Insertions and deletions carried", "{:,.0f}"),
    "ti_tv": ("Ti/Tv", "Transitions by transversions", "{:,.2f}"),
    "mean_depth": ("Depth", "Mean DP", "{:,.1f}"),
    "thin": ("Low DP", "Genotypes with a DP below the threshold (--min-depth)", "{:,.0f}"),
    "mean_quality": ("GQ", "Mean genotype quality", "{:,.1f}"),
}
_READ_COLUMNS = {
    "reads": ("Reads", "Reads scored in the regions shown, a read of two regions twice", "{:,.0f}"),
    "decided": ("Decided", "Percentage of these reads that choose a haplotype", "{:,.1f}"),
}
_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")


@dataclass(slots=True)
class Sites(ReportPart):
    """The sites of calls and likelihood tables.

    Attributes
    ----------
    reference : str or None
        The path of the reference.
    sites : list of ReportedSite
        Sites that are shown.
    seen_sites : int
        Number of sites in the calls; without calls, of those that are shown.
    cohort : Cohort or None
        None without calls.
    provenance : list of (str, str, str)
        File, key and value of header lines.
    models : list of (str, str)
        Each file of scores or calls, and the model that it names, with its parameters.
    info : list of str
        Names of the chosen fields of INFO.
    """

    reference: str | None
    sites: list[ReportedSite] = field(default_factory=list)
    seen_sites: int = 0
    panels: Panels = field(default_factory=lambda: Panels([]))
    cohort: Cohort | None = None
    provenance: list[tuple[str, str, str]] = field(default_factory=list)
    models: list[tuple[str, str]] = field(default_factory=list)
    info: list[str] = field(default_factory=list)

    @property
    def samples(self) -> Sequence[str]:
        return self.panels.samples

    @property
    def columns(self) -> Mapping[str, Column]:
        calls, reads = _CALL_COLUMNS if self.cohort is not None else {}, _READ_COLUMNS if self.panels.counts else {}
        return calls | reads

    @property
    def counts(self) -> Mapping[str, int]:
        return {"sites": len(self.sites), "panels": len(self.panels.packed)}

    def figures(self, sample: str) -> Mapping[str, Value]:
        values: dict[str, Value] = {}
        if self.cohort is not None and sample in self.cohort.samples:
            figures = self.cohort.figures[self.cohort.samples.index(sample)]
            values |= {key: getattr(figures, key) for key in _CALL_COLUMNS}
        counts = self.panels.counts.get(sample)
        if counts is not None:
            reads, decided = counts
            values |= {"reads": reads, "decided": 100 * decided / reads}
        return values

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        return {
            "overview": self._overview(),
            "concordance": self._concordance(),
            "seenSites": self.seen_sites,
            "sites": self._columns_of_sites(),
            "precisions": self.panels.precisions,
            "provenance": self.provenance,
            "models": self.models,
        }

    def multiqc(self) -> dict[str, dict[str, Any]]:
        agreement = self._concordance()
        if agreement is None:
            return {}
        description = "Share of equal genotypes of each two samples, of the sites where both are called."
        names, shares = agreement["samples"], agreement["shares"]
        content = heatmap("pairhmm_concordance", "Genotype concordance", description, names, names, shares)
        return {"pairhmm_concordance": content}

    def _overview(self) -> dict[str, Any]:
        """The first screen's figures (`report/page/overview.js`)."""
        references = [self.reference] if self.reference is not None else self._header("reference")
        return {
            "calls": self._counts_of_calls(),
            "reference": next(iter(references), None),
            "dates": [_day(date) for date in self._header("fileDate")],
            "callers": self._header("source"),
            "backends": self._header("pairhmmBackend"),
        }

    def _header(self, key: str) -> list[str]:
        """The values of a line of the calls' header, each once."""
        return list(dict.fromkeys(value for _, name, value in self.provenance if name == key))

    def _counts_of_calls(self) -> dict[str, Any] | None:
        cohort = self.cohort
        if cohort is None:
            return None
        return {
            "records": cohort.records,
            "passed": cohort.passed,
            "failed": sorted(cohort.failed.items()),
            "called": sum(figures.called for figures in cohort.figures),
            "missing": sum(figures.missing for figures in cohort.figures),
            "missingSites": cohort.uncalled_sites,
            "thin": sum(figures.thin for figures in cohort.figures),
            "thinSites": cohort.thin_sites,
            "minDepth": cohort.min_depth,
        }

    def _concordance(self) -> dict[str, Any] | None:
        """The concordance of the genotypes of each two samples."""
        if self.cohort is None or not self.cohort.is_compared:
            return None
        shares = [[rounded(None if np.isnan(x) else x, 4) for x in row] for row in self.cohort.concordance()]
        return {"samples": self.cohort.samples, "shares": shares}

    def _columns_of_sites(self) -> dict[str, Any]:
        sites = self.sites
        chroms = {name: number for number, name in enumerate(dict.fromkeys(site.chrom for site in sites))}
        samples = self.cohort.samples if self.cohort is not None else []
        return {
            "chroms": list(chroms),
            "chrom": [chroms[site.chrom] for site in sites],
            "pos": [site.pos + 1 for site in sites],
            "id": [site.id for site in sites],
            "ref": [site.ref for site in sites],
            "alts": [",".join(site.alts) for site in sites],
            "kind": [site.kind for site in sites],
            "quality": [rounded(site.quality) for site in sites],
            "filters": [site.filters for site in sites],
            "leastGq": [None if site.least_quality == NO_QUALITY else site.least_quality for site in sites],
            "infoNames": self.info,
            "info": [[site.info[number] for site in sites] for number in range(len(self.info))],
            "samples": samples,
            "calls": [_columns_of_calls(sites, number) for number in range(len(samples))],
            "panels": [self.panels.of_site.get(number, []) for number in range(len(sites))],
        }


def _columns_of_calls(sites: Sequence[ReportedSite], sample: int) -> dict[str, Any]:
    calls = [site.calls[sample] for site in sites]
    fractions = {"af": [call.fractions for call in calls], "ciaf": [call.intervals for call in calls]}
    absent = {"absent": [call.is_absent for call in calls]} if any(call.is_absent for call in calls) else {}
    return (
        (fractions if any(call.intervals for call in calls) else {})
        | absent
        | {
            "gt": [call.genotype for call in calls],
            "ad": [call.depths for call in calls],
            "dp": [call.depth for call in calls],
            "gq": [call.quality for call in calls],
            "pl": [call.likelihoods for call in calls],
            "ps": [call.phase_set for call in calls],
        }
    )


def _day(text: str) -> str:
    """A date as 2026-11-24, if it is one."""
    parts = _DAY.fullmatch(text)
    return "-".join(parts.groups()) if parts else text


def read_reported_sites(inputs: ReportInputs, notes: list[str], max_sites: int, min_depth: int) -> Sites:
    """Read calls and likelihood tables, and make the panels of the sites that are shown."""
    shown = Sites(inputs.reference)
    with ExitStack() as stack:
        genome = stack.enter_context(Reference(inputs.reference)) if inputs.reference is not None else None
        reader = None
        if inputs.alignments and genome is not None:
            reader = stack.enter_context(AlignmentReader(inputs.alignments, genome, need_index=True))
        tables = [LikelihoodTable(path) for path in inputs.likelihoods]
        contigs: Collection[str] = ()
        if inputs.calls is not None:
            contigs = _read_calls(shown, inputs, genome, notes, max_sites, min_depth)
        else:
            regions = ((row.locus[0], row.locus[1], row.variants) for table in tables for row in table.haplotypes())
            shown.sites, has_more = sites_of(regions, max_sites)
            shown.seen_sites = len(shown.sites)
            if has_more:
                notes.append(f"{max_sites:,} sites are shown, the first of the likelihood tables (--max-sites)")
        samples = shown.cohort.samples if shown.cohort is not None else []
        shown.panels = make_panels(tables, PanelSources(shown.sites, inputs.calls, samples, contigs, genome, reader))
        shown.models = [(path, value) for path, key, value in shown.provenance if key == MODEL_RECORD]
        shown.models += [(table.path, table.model()) for table in tables]
        if reader is not None:
            _check_alignments(reader, shown.panels, inputs)
    _note_what_is_missing(shown, inputs, notes)
    return shown


def _read_calls(
    shown: Sites, inputs: ReportInputs, genome: Reference | None, notes: list[str], max_sites: int, min_depth: int
) -> Collection[str]:
    """Read the cohort's figures and the sites that are shown. Returns the contigs of the file."""
    path = str(inputs.calls)
    with CalledSites(path, inputs.info) as records:
        most = MOST_GENOTYPES // max(1, len(records.samples))
        cohort, choice = Cohort(records.samples, min_depth), SiteSelection(max(1, min(max_sites, most)))
        seen: set[str] = set()
        blocks = 0
        for site in records:
            if site.chrom not in seen:
                seen.add(site.chrom)
                if genome is not None:
                    genome.check_contigs(path, {site.chrom: records.contigs.get(site.chrom)})
            if site.is_reference_block:
                blocks += 1
                continue
            cohort.add(site)
            choice.add(site)
        shown.provenance += [(path, key, value) for key, value in records.provenance]
        shown.info = records.info
    if blocks:
        notes.append(f"{blocks:,} blocks of the reference (gVCF) are not sites, and are left out")
    shown.cohort, shown.sites, shown.seen_sites = cohort, choice.sites(), choice.seen
    # A header may lack the contigs of its records. If it lists none, contigs without a record remain unknown.
    return seen.union(records.contigs) if records.contigs else ()


def _check_alignments(reader: AlignmentReader, panels: Panels, inputs: ReportInputs) -> None:
    """Refuse alignments of other samples, which would leave out strands and mapping qualities without notice."""
    if panels.counts and not set(reader.samples) & set(panels.counts):
        rule = f"none of its samples ({', '.join(reader.samples)}) is in the likelihood tables"
        raise InputError(inputs.alignments[0], "", rule, "give the alignments that the tables were made from")


def _note_what_is_missing(sites: Sites, inputs: ReportInputs, notes: list[str]) -> None:
    """Note what is missing or left out."""
    shown = len(sites.sites)
    if shown < sites.seen_sites:
        is_wide = sites.cohort is not None and shown == MOST_GENOTYPES // max(1, len(sites.cohort.samples))
        most = f"a report has at most {MOST_GENOTYPES:,} genotypes, whatever --max-sites"
        limit = most if is_wide else "--max-sites"
        notes.append(f"{shown:,} of {sites.seen_sites:,} sites are shown: {SiteSelection.RULE} ({limit})")
    without = shown - len(sites.panels.of_site)
    if inputs.likelihoods and without:
        notes.append(f"{without:,} of the sites are in no likelihood table")
    if sites.panels.shown < sites.panels.reads:
        rule = "of a sample's reads at a site, every n-th in order of the haplotype that they choose"
        counts = f"{sites.panels.shown:,} of {sites.panels.reads:,} reads are drawn"
        notes.append(f"{counts}: {rule}. Sums and counts are of all reads")
    if len({model for _, model in sites.models}) > 1:
        named = "; ".join(f"{model} ({path})" for path, model in sites.models)
        notes.append(f"The files are of different models, so their scores do not compare: {named}")
