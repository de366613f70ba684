"""The data of a report's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pairhmm.commands.report_found import Found
from pairhmm.commands.report_overview import overview
from pairhmm.genomics.genotypes import INFORMATIVE
from pairhmm.models.batch import PRECISIONS
from pairhmm.reporting.hits import QUALITY_BIN, track
from pairhmm.reporting.links import site_links
from pairhmm.reporting.panels import IMPOSSIBLE, PER_LOG10, UNKNOWN_BEST
from pairhmm.reporting.pileup import QUALITY_STEP
from pairhmm.reporting.sites import NO_QUALITY, ReportedSite
from pairhmm.scanning.rollup import SignatureSeen


def page_data(found: Found, title: str, version: str, link_genome: str | None = None) -> dict[str, Any]:
    """The JSON of the page (`report_page/`)."""
    return {
        "title": title,
        "version": version,
        "links": site_links(link_genome),
        "overview": overview(found),
        "constants": {
            "perLog10": PER_LOG10,
            "impossible": IMPOSSIBLE,
            "unknownBest": UNKNOWN_BEST,
            "informative": INFORMATIVE,
            "qualityBin": QUALITY_BIN,
            "precisions": list(PRECISIONS),
            "qualityStep": QUALITY_STEP,
        },
        "samples": found.samples,
        "inputs": found.inputs,
        "notes": found.notes,
        "cohort": _cohort(found),
        "concordance": concordance(found),
        "seenSites": found.seen_sites,
        "sites": _sites(found),
        "scan": _scan(found),
        "precisions": found.panels.precisions,
        "timings": [[one.name, one.seconds, one.cpu_seconds, one.megabytes] for one in found.timings],
        "provenance": found.provenance,
        "models": found.models,
        "fit": _fit(found),
        **found.tables.for_page(),
    }


def rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)


# Key, title and description of each column. The page and MultiQC have the same ones.
_CALL_COLUMNS = {
    "called": ("Called", "Genotypes, of records that pass their filters", "{:,.0f}"),
    "het": ("Het", "Heterozygous genotypes", "{:,.0f}"),
    "hom_alt": ("Hom alt", "Homozygous genotypes other than the reference's", "{:,.0f}"),
    "missing": ("Missing", "Records without a genotype", "{:,.0f}"),
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
_SCAN_COLUMNS = {
    "hits": ("Scan hits", "Hits of signatures", "{:,.0f}"),
    "signatures": ("Signatures", "Signatures that occur", "{:,.0f}"),
}


def columns(found: Found) -> dict[str, tuple[str, str, str]]:
    """The columns of the cohort's table that there is something for: key, title, what it is, and how it is written."""
    shown: dict[str, tuple[str, str, str]] = {}
    if found.cohort is not None:
        shown |= _CALL_COLUMNS
    if found.panels.counts:
        shown |= _READ_COLUMNS
    if found.hits is not None:
        shown |= _SCAN_COLUMNS
    return shown | found.tables.columns


def figures(found: Found, sample: str) -> dict[str, float | str | None]:
    """A sample's value in every column; None where it has none."""
    values: dict[str, float | str | None] = dict(found.tables.figures(sample))
    if found.cohort is not None and sample in found.cohort.samples:
        figures = found.cohort.figures[found.cohort.samples.index(sample)]
        values |= {key: getattr(figures, key) for key in _CALL_COLUMNS}
    counts = found.panels.counts.get(sample)
    if counts is not None:
        values |= {"reads": counts.reads, "decided": 100 * counts.decided / counts.reads}
    if found.hits is not None and sample in found.scanned:
        values["hits"], values["signatures"] = found.hits.of_sample(sample)
    shown = {}
    for key, (_, _, form) in columns(found).items():
        value = values.get(key)
        shown[key] = value if isinstance(value, str) else rounded(value, max(2, _digits(form) or 0))
    return shown


def _digits(form: str) -> int | None:
    """The digits behind the point that a column is written with; None for a column of text."""
    return int(form.split(".")[1][0]) if form else None


def _cohort(found: Found) -> dict[str, Any]:
    shown = columns(found)
    digits = {key: _digits(form) for key, (_, _, form) in shown.items()}
    return {
        "columns": [[key, title, told, digits[key]] for key, (title, told, _) in shown.items()],
        "rows": [[sample, *figures(found, sample).values()] for sample in found.samples],
    }


def concordance(found: Found) -> dict[str, Any] | None:
    """The concordance of the genotypes of each two samples."""
    if found.cohort is None or not found.cohort.is_compared:
        return None
    shares = [[rounded(None if np.isnan(one) else one, 4) for one in row] for row in found.cohort.concordance()]
    return {"samples": found.cohort.samples, "shares": shares}


def _sites(found: Found) -> dict[str, Any]:
    """Sites as columns."""
    sites = found.sites
    chroms = {name: number for number, name in enumerate(dict.fromkeys(site.chrom for site in sites))}
    samples = found.cohort.samples if found.cohort is not None else []
    panels = [found.panels.of_site.get(number, []) for number in range(len(sites))]
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
        "infoNames": found.info,
        "info": [[site.info[number] for site in sites] for number in range(len(found.info))],
        "samples": samples,
        "calls": [_calls(sites, number) for number in range(len(samples))],
        "panels": [[[one.panel, one.alleles] for one in own] for own in panels],
    }


def _calls(sites: Sequence[ReportedSite], sample: int) -> dict[str, Any]:
    calls = [site.calls[sample] for site in sites]
    return {
        "gt": [call.genotype for call in calls],
        "ad": [call.depths for call in calls],
        "dp": [call.depth for call in calls],
        "gq": [call.quality for call in calls],
        "pl": [call.likelihoods for call in calls],
        "ps": [call.phase_set for call in calls],
    }


def _fit(found: Found) -> dict[str, Any] | None:
    fit = found.fit
    if fit is None:
        return None
    return {
        "model": fit.model,
        "source": fit.source,
        "reads": fit.reads,
        "log10": fit.log10,
        "firstLog10": fit.first_log10,
        "basis": fit.basis,
        "estimates": [[one.name, one.probability, one.error, one.count] for one in fit.estimates],
        "rounds": [[one.pairs, one.number, one.reads, one.log10_per_read] for one in found.rounds],
    }


def _scan(found: Found) -> dict[str, Any] | None:
    if found.hits is None:
        return None
    lengths = dict(found.hits.signatures)
    described: dict[str, dict[str, Any]] = {}
    if found.signatures is not None:
        known = found.signatures
        for index, (name, length) in enumerate(zip(known.names, known.lengths.tolist(), strict=True)):
            described[name] = {"informative": int(known.informative[index])}
            if name in lengths:
                described[name]["track"] = track(known.sequence(index))
            lengths[name] = length
    numbers = {name: number for number, name in enumerate(lengths)}
    samples = {name: number for number, name in enumerate(found.samples)}
    return {
        "signatures": [{"name": name, "length": length} | described.get(name, {}) for name, length in lengths.items()],
        "samples": [samples[name] for name in found.scanned],
        "rows": found.hits.for_page(samples, numbers),
        "hits": found.hits.count,
        "seen": [_seen_row(seen, samples[sample]) for sample, seen in found.seen],
    }


def _seen_row(seen: SignatureSeen, sample: int) -> list[Any]:
    """A row for `report_page/seen.js`."""
    told = seen.signature, sample, seen.call, seen.reads, seen.ambiguous, seen.tiles, seen.all_tiles
    return [*told, seen.breadth, seen.depth, seen.quality, seen.identity, seen.expected, seen.reason]
