"""`pairhmm report`: one HTML file from the outputs of a run."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import option, output_option
from pairhmm.cli.pages import INPUT, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.commands import report, report_inputs

EXAMPLES = (
    "pairhmm report -f ref.fa --calls calls.vcf.gz \\\n"
    "    --likelihoods likelihoods.tsv.gz --alignments sample.bam -o report.html",
    "pairhmm report --hits hits.tsv --signatures viruses.fa -o hits.html",
    "pairhmm report --map positions.tsv --distances distances.tsv \\\n    --pairs pairs.tsv -o cohort.html",
)


@click.command("report", cls=Command, examples=EXAMPLES)
@click.option("-f", "--reference", type=INPUT_FILE, metavar="FILE", panel=INPUT, help="The reference genome (FASTA).")
@click.option(
    "--calls", type=INPUT_FILE, metavar="FILE", panel=INPUT, help="The genotypes that 'call' wrote (VCF or BCF)."
)
@click.option(
    "--likelihoods",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A table that 'likelihoods' wrote, with the table of its haplotypes beside it. This option may be repeated.",
)
@click.option(
    "--alignments",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The alignments of the reads in --likelihoods: BAM or CRAM with an index. The report takes strands, mapping"
    " qualities and the bases that decide from them. They need -f. This option may be repeated.",
)
@click.option(
    "--hits",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A table that 'scan' wrote. This option may be repeated.",
)
@click.option(
    "--hits-sample",
    "hits_samples",
    multiple=True,
    metavar="NAME",
    panel=INPUT,
    help="The sample of a table of hits. Repeat this option once for each --hits, in their order.",
)
@click.option(
    "--scan-summary",
    "scan_summaries",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The table PREFIX.signatures.tsv of 'scan --tile --summary'. Repeat this option once for each --hits, in their"
    " order.",
)
@click.option(
    "--signatures", type=INPUT_FILE, metavar="FILE", panel=INPUT, help="The signatures (FASTA) that 'scan' looked for."
)
@click.option(
    "--timings",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A benchmark file of Snakemake (TSV). This option may be repeated.",
)
@click.option("--fit", type=INPUT_FILE, metavar="FILE", panel=INPUT, help="The parameters (TOML) that 'fit' wrote.")
@click.option(
    "--fit-rounds",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The table that 'fit --rounds' wrote: the likelihood of each round. It needs --fit.",
)
@click.option(
    "--map",
    "positions",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The positions that 'map draw' wrote: the map of the samples, whose weights can be changed in the report.",
)
@click.option("--distances", type=INPUT_FILE, metavar="FILE", panel=INPUT, help="The table that 'map distances' wrote.")
@click.option(
    "--pairs", type=INPUT_FILE, metavar="FILE", panel=INPUT, help="The table of pairs that 'map relate' wrote."
)
@click.option(
    "--sample-checks",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The table of samples that 'map relate --sample-table' wrote: contamination and flags.",
)
@click.option(
    "--sheet",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The sample sheet. The report says which of its samples have no results, and which others have some.",
)
@click.option(
    "--info",
    multiple=True,
    metavar="KEY",
    panel=INPUT,
    help="A field of INFO in --calls that the list of sites shows. Without this option, the list shows gene and"
    " consequence where the calls have ANN or CSQ. This option may be repeated.",
)
@output_option("The report (HTML). '-' is stdout.", required=True)
@option(report.report, "title", metavar="TEXT", panel=OUTPUT, help="The title of the report.")
@click.option(
    "--mqc",
    metavar="FOLDER",
    panel=OUTPUT,
    help="The folder for tables for MultiQC (*_mqc.json). Without it, none are written.",
)
@option(
    report.report,
    "max_sites",
    least=1,
    metavar="N",
    panel=OUTPUT,
    help="The report shows at most this many sites. Of more, it shows those with the lowest GQ.",
)
@option(
    report.report,
    "min_depth",
    least=0,
    metavar="N",
    panel=OUTPUT,
    help="The report counts genotypes with a DP below this.",
)
@click.option(
    "--link-genome",
    metavar="NAME",
    panel=OUTPUT,
    help="UCSC's name of the genome, such as hg38. Each site then has links to the UCSC browser, to IGV on your machine"
    " and to dbSNP. Without it, the report has no links.",
)
def command(
    reference: str | None,
    calls: str | None,
    likelihoods: tuple[str, ...],
    alignments: tuple[str, ...],
    hits: tuple[str, ...],
    hits_samples: tuple[str, ...],
    scan_summaries: tuple[str, ...],
    signatures: str | None,
    timings: tuple[str, ...],
    fit: str | None,
    fit_rounds: str | None,
    positions: str | None,
    distances: str | None,
    pairs: str | None,
    sample_checks: str | None,
    sheet: str | None,
    info: tuple[str, ...],
    output: str,
    title: str,
    mqc: str | None,
    max_sites: int,
    min_depth: int,
    link_genome: str | None,
) -> None:
    """Make one HTML file of a run's outputs: samples, sites, reads and hits.

    The file needs no network. Give at least one of --calls, --likelihoods, --hits, --fit and the tables of 'map'. The
    report has no section for outputs that are not given.
    """
    inputs = report_inputs.ReportInputs(
        reference=reference,
        calls=calls,
        likelihoods=likelihoods,
        alignments=alignments,
        hits=hits,
        signatures=signatures,
        timings=timings,
        hits_samples=hits_samples,
        scan_summaries=scan_summaries,
        fit=fit,
        fit_rounds=fit_rounds,
        map=positions,
        distances=distances,
        pairs=pairs,
        sample_checks=sample_checks,
        sheet=sheet,
        info=info,
    )
    report.report(output, inputs, title, mqc, max_sites, min_depth=min_depth, link_genome=link_genome)
