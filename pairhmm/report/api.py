"""`report`: one HTML file from the outputs of a run."""

from __future__ import annotations

import logging
import re
from typing import Any, Unpack

import pairhmm
from pairhmm.arguments import AnyPath, path_of
from pairhmm.errors import OptionError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import HTML_ENDINGS, require_ending
from pairhmm.files.sample_sheet import read_sheet
from pairhmm.models.batch import PRECISIONS
from pairhmm.options import check_whole, with_keywords
from pairhmm.plurals import counted
from pairhmm.report.cohort import MIN_DEPTH
from pairhmm.report.explained import read_reported_explanations
from pairhmm.report.fit import read_reported_fit
from pairhmm.report.inputs import ReportInputs, ReportKeywords, check_inputs
from pairhmm.report.map import read_map_tables
from pairhmm.report.mixtures import read_mixtures
from pairhmm.report.page_writer import write_page
from pairhmm.report.panels import IMPOSSIBLE, PER_LOG10, UNKNOWN_BEST
from pairhmm.report.parts import Report, general_statistics, multiqc_path, write_multiqc
from pairhmm.report.pileup import QUALITY_STEP
from pairhmm.report.scan import QUALITY_BIN, read_scan
from pairhmm.report.sites import read_reported_sites
from pairhmm.report.targets import TARGET_DEPTH, read_targets
from pairhmm.report.timings import read_reported_timings
from pairhmm.variants.genotypes import INFORMATIVE

__all__ = ["MAX_SITES", "TITLE", "ReportInputs", "report"]

log = logging.getLogger(__name__)

MAX_SITES = 5000
"""Sites that a report shows by default."""
TITLE = "pairhmm report"
PARTS = (read_scan, read_map_tables, read_reported_timings, read_reported_fit, read_reported_explanations)
"""Readers of the parts behind the sites: from the inputs, the samples known so far, and the notes."""
MULTIQC_CONTENTS = ("pairhmm_general", "pairhmm_concordance", "pairhmm_hits")
"""Names of the custom content that a report may have."""
_LINKS = (
    ("UCSC", "https://genome.ucsc.edu/cgi-bin/hgTracks?db=GENOME&position={place}"),
    ("IGV", "http://localhost:60151/goto?locus={place}"),
    ("dbSNP", "https://www.ncbi.nlm.nih.gov/snp/{rs}"),
)
"""Name and address. The page puts in `{place}`, or `{rs}` for each ID of dbSNP that a site has."""
_GENOME = re.compile(r"[\w.-]{1,40}", re.ASCII)


@kept_apart()
def report(
    output: AnyPath,
    inputs: ReportInputs | None = None,
    title: str = TITLE,
    multiqc: AnyPath | None = None,
    max_sites: int = MAX_SITES,
    min_depth: int | None = None,
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
    min_depth : int, optional
        The report counts the genotypes that have a DP below this, and names tiles of a lower depth; by default 10.
        Bases of targets that have a lower depth are gaps; by default 20.
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
    target_depth = TARGET_DEPTH if min_depth is None else min_depth
    min_depth = MIN_DEPTH if min_depth is None else min_depth
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
    require_ending(output, "reports", HTML_ENDINGS)
    notes: list[str] = []
    sites = read_reported_sites(inputs, notes, max_sites, min_depth)
    page = Report([sites], inputs.described(), notes)
    for read in PARTS:
        page.parts.append(read(inputs, page.samples, notes))
    page.parts.append(read_mixtures(inputs, notes, min_depth))
    page.parts.append(read_targets(inputs, notes, target_depth))
    if inputs.sheet is not None:
        page.sheet = [row.sample for row in read_sheet(inputs.sheet)]
    for note in notes:
        log.warning("%s", note)
    write_page(output, title, _page_data(page, title, link_genome), sites.panels.packed)
    if multiqc is not None:
        write_multiqc(multiqc, _multiqc_contents(page))
    counts = page.counts
    shown = counts["sites"], counts["panels"], len(page.samples), counts["hits"]
    told = ", ".join(map(counted, shown, ("site", "panel", "sample", "hit")))
    log.info("%s: %s", told, output)


def _page_data(report: Report, title: str, link_genome: str | None) -> dict[str, Any]:
    """The JSON of the page (`report/page/`)."""
    return report.for_page() | {
        "title": title,
        "version": pairhmm.__version__,
        "links": [] if link_genome is None else [(name, to.replace("GENOME", link_genome)) for name, to in _LINKS],
        "constants": {
            "perLog10": PER_LOG10,
            "impossible": IMPOSSIBLE,
            "unknownBest": UNKNOWN_BEST,
            "informative": INFORMATIVE,
            "qualityBin": QUALITY_BIN,
            "precisions": list(PRECISIONS),
            "qualityStep": QUALITY_STEP,
        },
    }


def _multiqc_contents(report: Report) -> dict[str, dict[str, Any]]:
    """Custom content for MultiQC, by the name of its file without the ending."""
    data = {}
    # A table of a run has the rows of its sheet, those without results too.
    for sample in report.samples if report.sheet is None else report.sheet:
        data[sample] = {key: value for key, value in report.figures(sample).items() if value is not None}
    contents = {"pairhmm_general": general_statistics(report.columns, data)}
    return contents | {name: content for part in report.parts for name, content in part.multiqc().items()}
