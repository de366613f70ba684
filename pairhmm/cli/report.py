"""`pairhmm report`: one HTML file from the outputs of a run."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.numbers import Whole


@click.command("report")
@click.option("-o", "--output", required=True, metavar="HTML", help="The report; - is stdout.")
@click.option("-f", "--reference", metavar="FASTA", help="The reference genome.")
@click.option("--calls", metavar="VCF", help="Genotypes: VCF or BCF.")
@click.option(
    "--likelihoods",
    multiple=True,
    metavar="TABLE",
    help="Table of pairhmm likelihoods, its companion beside it. Repeatable.",
)
@click.option(
    "--alignments",
    multiple=True,
    metavar="BAM",
    help="BAM or CRAM with index: strand and mapping quality of the reads in the tables. Needs -f. Repeatable.",
)
@click.option("--hits", multiple=True, metavar="TSV", help="Table of pairhmm scan. Repeatable.")
@click.option("--hits-sample", "hits_samples", multiple=True, metavar="NAME", help="Of a --hits; once each, in order.")
@click.option("--signatures", metavar="FASTA", help="What was scanned for.")
@click.option("--timings", multiple=True, metavar="TSV", help="Benchmark file of Snakemake. Repeatable.")
@click.option("--title", default="pairhmm report", show_default=True, help="Of the page.")
@click.option("--mqc", metavar="FOLDER", help="Write custom content for MultiQC (*_mqc.json) there too.")
@click.option(
    "--max-sites",
    type=Whole(1),
    default=5000,
    show_default=True,
    help="Sites that are shown: of more, those with the lowest GQ.",
)
def command(
    output: str,
    reference: str | None,
    calls: str | None,
    likelihoods: tuple[str, ...],
    alignments: tuple[str, ...],
    hits: tuple[str, ...],
    hits_samples: tuple[str, ...],
    signatures: str | None,
    timings: tuple[str, ...],
    title: str,
    mqc: str | None,
    max_sites: int,
) -> None:
    """Put the outputs of a run into one HTML file that needs no network.

    Give at least one of --calls, --likelihoods and --hits; what is not given is left out.
    """
    from pairhmm.commands.report import ReportInputs, report

    inputs = ReportInputs(reference, calls, likelihoods, alignments, hits, signatures, timings, hits_samples)
    report(output, inputs, title, mqc, max_sites)
