"""`pairhmm report`: one HTML file from the outputs of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import rich_click as click

from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.report import api as report
from pairhmm.report.inputs import ReportInputs

EXAMPLES = (
    "pairhmm report -f ref.fa --calls calls.vcf.gz \\\n"
    "    --likelihoods likelihoods.tsv.gz --alignments sample.bam -o report.html",
    "pairhmm report --hits hits.tsv --signatures viruses.fa -o hits.html",
    "pairhmm report --map positions.tsv --distances distances.tsv \\\n    --pairs pairs.tsv -o cohort.html",
)


FLAGS = {"reference": ("-f", "--reference"), "hits_samples": ("--hits-sample",), "scan_summaries": ("--scan-summary",)}
"""Flags of the inputs whose option has another name."""


def inputs(command: Callable[..., None]) -> Callable[..., None]:
    """An option for each field of `ReportInputs`."""
    for field in reversed(fields(ReportInputs)):
        flags = FLAGS.get(field.name, (f"--{field.name.replace('_', '-')}",))
        is_file = "what" in field.metadata
        command = click.option(
            *flags,
            field.name,
            multiple=field.default is not None,
            type=INPUT_FILE if is_file else None,
            metavar="FILE" if is_file else field.metadata["metavar"],
            panel=INPUT,
            help=field.metadata["help"],
        )(command)
    return command


@click.command("report", cls=Command, examples=EXAMPLES)
@inputs
@output_option("The report (HTML). '-' is stdout.", required=True)
@option(report.report, "title", metavar="TEXT", panel=OUTPUT, help="The title of the report.")
@click.option(
    "--mqc",
    metavar="FOLDER",
    panel=OUTPUT,
    help="Also write tables for MultiQC (*_mqc.json) to this folder.",
)
@option(
    report.report,
    "max_sites",
    least=1,
    metavar="N",
    panel=OUTPUT,
    help="The maximum number of sites in the report: those with the lowest GQ.",
)
@option(
    report.report,
    "min_depth",
    least=0,
    metavar="N",
    show_default="10; of targets 20",
    panel=OUTPUT,
    help="Count genotypes with a DP below this, name tiles with a median depth below it, and show where targets have"
    " less.",
)
@click.option(
    "--link-genome",
    metavar="NAME",
    panel=OUTPUT,
    help="UCSC's name of the genome, such as hg38. It links each site to the UCSC browser, to dbSNP, and to IGV on"
    " your machine. By default, the report has no links.",
)
def command(
    output: str,
    title: str,
    mqc: str | None,
    max_sites: int,
    min_depth: int | None,
    link_genome: str | None,
    **paths: Any,
) -> None:
    """Write an HTML report of a run's outputs: samples, sites, reads and hits.

    The report is one file, and needs no network. It has a section for each output that is given: at least one of
    --calls, --likelihoods, --targets, --hits, --fit and the tables of 'map'.
    """
    report.report(output, ReportInputs(**paths), title, mqc, max_sites, min_depth=min_depth, link_genome=link_genome)
