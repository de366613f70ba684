"""`report`: one HTML file from the outputs of a run."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from typing import Unpack

import pairhmm
from pairhmm.commands.keywords import with_keywords
from pairhmm.commands.report_data import page_data
from pairhmm.commands.report_found import Found
from pairhmm.commands.report_inputs import ReportInputs, ReportKeywords, check_inputs, described
from pairhmm.commands.report_map import read_map_tables
from pairhmm.commands.report_multiqc import MULTIQC_CONTENTS, multiqc_contents
from pairhmm.commands.report_panels import PanelSources, make_panels
from pairhmm.errors import InputError, OptionError
from pairhmm.interface.arguments import AnyPath, path_of
from pairhmm.interface.options import check_whole
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.io.files.destinations import check_apart, kept_apart
from pairhmm.io.files.names import MODEL_RECORD
from pairhmm.io.likelihoods.reader import LikelihoodTable
from pairhmm.io.report.fits import read_fit, read_rounds
from pairhmm.io.report.multiqc import multiqc_path, write_multiqc
from pairhmm.io.report.page import write_page
from pairhmm.io.report.timings import read_timings
from pairhmm.io.samples.hit_reader import read_hits, read_seen, table_label
from pairhmm.io.samples.sheet import read_sheet
from pairhmm.io.samples.signatures import read_signatures
from pairhmm.io.sequences.fasta import Reference
from pairhmm.io.variants.call_reader import CalledSites
from pairhmm.reporting.cohort import MIN_DEPTH, Cohort
from pairhmm.reporting.hits import Hits
from pairhmm.reporting.sites import SiteSelection, sites_of

__all__ = ["MAX_SITES", "TITLE", "ReportInputs", "report"]

log = logging.getLogger(__name__)

MAX_SITES = 5000
"""Sites that a report shows by default."""
MOST_GENOTYPES = 500_000
"""The most genotypes of a report: of more than 100 samples, fewer sites are shown."""
TITLE = "pairhmm report"
_GENOME = re.compile(r"[\w.-]{1,40}", re.ASCII)


@kept_apart()
def report(
    output: AnyPath,
    inputs: ReportInputs | None = None,
    title: str = TITLE,
    multiqc: AnyPath | None = None,
    max_sites: int = MAX_SITES,
    min_depth: int = MIN_DEPTH,
    link_genome: str | None = None,
    **keywords: Unpack[ReportKeywords],
) -> None:
    """Write the report of a run as one HTML file, and custom content for MultiQC.

    Parameters
    ----------
    output : path
        HTML; ``-`` is stdout.
    inputs : ReportInputs, optional
        The files to report on.
    title : str
        Title of the page.
    multiqc : path, optional
        Folder for the custom content; made when missing.
    max_sites : int
        The most sites that are shown: of calls, those with the lowest GQ; of likelihoods without calls, the first ones.
        The cohort's figures count every site.
    min_depth : int
        The report counts the genotypes that have a DP below this.
    link_genome : str, optional
        UCSC's name of the genome, such as ``hg38``: each site then has links to the UCSC browser, to IGV on the
        reader's machine and to dbSNP. Without it, the page has no link.
    **keywords
        Fields of `ReportInputs` by name, such as ``calls="calls.vcf.gz"``. They override those of `inputs`.

    Raises
    ------
    InputError
        For files that can't be used or do not go together; names file, record and cure. No output is left then.
    OptionError
        For a `max_sites` below 1, a `min_depth` below 0, and a `link_genome` that is no name.
    TypeError
        For a keyword that `ReportInputs` does not have.

    Examples
    --------
    >>> pairhmm.report("report.html", calls="calls.vcf.gz", likelihoods="likelihoods.tsv.gz")  # doctest: +SKIP
    """
    output, multiqc = path_of(output), path_of(multiqc)
    check_whole("max_sites", max_sites, 1)
    check_whole("min_depth", min_depth, 0)
    if link_genome is not None and not _GENOME.fullmatch(link_genome):
        raise OptionError(
            "link_genome", link_genome, "is not a name of letters, digits, '.', '_' and '-', such as hg38"
        )
    chosen = with_keywords("report", keywords, inputs or ReportInputs())
    (inputs,) = chosen
    check_inputs(inputs)
    contents = () if multiqc is None else (multiqc_path(multiqc, name) for name in MULTIQC_CONTENTS)
    check_apart(inputs.paths(), [("-o", output), *(("--mqc", path) for path in contents)])
    found = Found(inputs=described(inputs))
    with ExitStack() as stack:
        genome = stack.enter_context(Reference(inputs.reference)) if inputs.reference is not None else None
        reader = None
        if inputs.alignments and genome is not None:
            reader = stack.enter_context(AlignmentReader(inputs.alignments, genome, need_index=True))
        _read_sites(found, inputs, genome, reader, (max_sites, min_depth))
    _read_scan(found, inputs)
    found.tables = read_map_tables(inputs, found.samples)
    found.timings = read_timings(inputs.timings)
    if inputs.fit is not None:
        found.fit = read_fit(inputs.fit)
        found.rounds = read_rounds(inputs.fit_rounds) if inputs.fit_rounds is not None else []
    if inputs.sheet is not None:
        found.sheet = [row.sample for row in read_sheet(inputs.sheet)]
    _note_what_is_missing(found, inputs)
    write_page(output, title, page_data(found, title, pairhmm.__version__, link_genome), found.panels.packed)
    if multiqc is not None:
        write_multiqc(multiqc, multiqc_contents(found))
    log.info(
        "%d sites, %d panels, %d samples, %d hits: %s",
        len(found.sites),
        len(found.panels.packed),
        len(found.samples),
        found.hits.count if found.hits is not None else 0,
        output,
    )


def _read_sites(
    found: Found,
    inputs: ReportInputs,
    genome: Reference | None,
    reader: AlignmentReader | None,
    limits: tuple[int, int],
) -> None:
    """Read the sites that are shown, and make their panels. `limits` are `max_sites` and `min_depth`."""
    max_sites, _ = limits
    tables = [LikelihoodTable(path) for path in inputs.likelihoods]
    contigs: Collection[str] = ()
    if inputs.calls is not None:
        contigs = _read_calls(found, inputs, genome, limits)
    else:
        regions = ((one.place[0], one.place[1], one.variants) for table in tables for one in table.haplotypes())
        found.sites, has_more = sites_of(regions, max_sites)
        found.seen_sites = len(found.sites)
        if has_more:
            found.notes.append(f"{max_sites:,} sites are shown, the first of the likelihood tables (--max-sites)")
    samples = found.cohort.samples if found.cohort is not None else []
    found.panels = make_panels(tables, PanelSources(found.sites, inputs.calls, samples, contigs, genome, reader))
    found.models = [(path, value) for path, key, value in found.provenance if key == MODEL_RECORD]
    found.models += [(table.path, table.model()) for table in tables]
    if reader is not None:
        _check_alignments(reader, found, inputs)


def _read_calls(
    found: Found, inputs: ReportInputs, genome: Reference | None, limits: tuple[int, int]
) -> Collection[str]:
    """Read the cohort's figures and the sites that are shown. Returns the contigs of the file."""
    path, (max_sites, min_depth) = str(inputs.calls), limits
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
        found.provenance += [(path, key, value) for key, value in records.provenance]
        found.info = records.info
    if blocks:
        found.notes.append(f"{blocks:,} blocks of the reference (gVCF) are not sites, and are left out")
    found.cohort, found.sites, found.seen_sites = cohort, choice.sites(), choice.seen
    # A header may lack the contigs of its records. If it lists none, contigs without a record remain unknown.
    return seen.union(records.contigs) if records.contigs else ()


def _check_alignments(reader: AlignmentReader, found: Found, inputs: ReportInputs) -> None:
    """Refuse alignments of other samples, which would leave out strands and mapping qualities without notice."""
    if found.panels.counts and not set(reader.samples) & set(found.panels.counts):
        rule = f"none of its samples ({', '.join(reader.samples)}) is in the likelihood tables"
        raise InputError(inputs.alignments[0], "", rule, "give the alignments that the tables were made from")


def _read_scan(found: Found, inputs: ReportInputs) -> None:
    if not inputs.hits:
        return
    hits, known = Hits(), set(found.panels.samples)

    def name_by_files(file: str, table: str) -> str:
        is_tables = table in known and file not in known
        return table if is_tables or file.startswith(table) else file

    scanned: dict[str, None] = {}
    names: Sequence[str | None] = inputs.hits_samples or [None] * len(inputs.hits)
    for path, name in zip(inputs.hits, names, strict=True):
        has_hit = False
        for hit in read_hits(path, name_by_files if name is None else lambda *_, name=name: name):
            hits.add(hit)
            scanned[hit.sample] = None
            has_hit = True
        if not has_hit:
            scanned[name or table_label(path)] = None
    for path, name in zip(inputs.scan_summaries, names, strict=False):  # as many, or none
        rows = [(sample, seen) for sample, seen in read_seen(path, name) if seen.reads]
        found.seen += rows
        scanned |= dict.fromkeys(sample for sample, _ in rows)
    found.hits, found.scanned = hits, list(scanned)
    if inputs.signatures is not None:
        found.signatures = read_signatures(inputs.signatures)
        others = [name for name in hits.signatures if name not in set(found.signatures.names)]
        if others:
            rule = f"has no signature {others[0]}, of which there are hits"
            raise InputError(inputs.signatures, "", rule, "give the signatures that were scanned for")


def _note_what_is_missing(found: Found, inputs: ReportInputs) -> None:
    """Note what is missing or left out, in the report and on stderr."""
    shown = len(found.sites)
    if shown < found.seen_sites:
        is_wide = found.cohort is not None and shown == MOST_GENOTYPES // max(1, len(found.cohort.samples))
        most = f"a report has at most {MOST_GENOTYPES:,} genotypes, whatever --max-sites"
        limit = most if is_wide else "--max-sites"
        found.notes.append(f"{shown:,} of {found.seen_sites:,} sites are shown: {SiteSelection.RULE} ({limit})")
    without = shown - len(found.panels.of_site)
    if inputs.likelihoods and without:
        found.notes.append(f"{without:,} of the sites are in no likelihood table")
    if found.panels.shown < found.panels.reads:
        told = "of a sample's reads at a site, every n-th in order of the haplotype that they choose"
        counts = f"{found.panels.shown:,} of {found.panels.reads:,} reads are drawn"
        found.notes.append(f"{counts}: {told}. Sums and counts are of all reads")
    if len({model for _, model in found.models}) > 1:
        named = "; ".join(f"{model} ({path})" for path, model in found.models)
        found.notes.append(f"The files are of different models, so their scores do not compare: {named}")
    for note in found.notes:
        log.warning("%s", note)
