"""`pairhmm fit`: BAM and FASTA in, the parameters of a model out."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.calling.cli_options import evidence_options, run_options
from pairhmm.calling.foreign_options import AlignmentsCommand
from pairhmm.cli.fields import either, option, output_option
from pairhmm.cli.help_style import MODEL, OUTPUT, READS
from pairhmm.cli.param_types import OUTPUT_FILE, InputFile
from pairhmm.fit import api as fit
from pairhmm.models.profile import PRESETS, parameters_of

EXAMPLES = (
    "pairhmm fit -f ref.fa -o profile.toml sample.bam",
    "pairhmm fit -f ref.fa -v candidates.vcf.gz -o given.toml sample.bam",
    "pairhmm fit --model gatk -f ref.fa -o gatk.toml sample.bam",
)


@click.command("fit", cls=AlignmentsCommand, examples=EXAMPLES)
@evidence_options
@option(
    fit.fit,
    "max_reads",
    metavar="N",
    panel=READS,
    help="The maximum number of reads to fit to, sampled evenly over the files and regions.",
)
@click.option(
    "--model",
    type=click.Choice(fit.MODELS),
    default=fit.MODELS[0],
    show_default=True,
    metavar="NAME",
    panel=MODEL,
    help=f"The model to fit: {either(fit.MODELS)}.",
)
@click.option(
    "--parameters",
    type=InputFile(PRESETS),
    default=PRESETS[0],
    show_default=True,
    metavar="NAME",
    panel=MODEL,
    help=f"The initial parameters of the profile model: a TOML file, or the built-in {PRESETS[0]!r}. GATK's model"
    " starts from the quality options.",
)
@output_option("The parameters (.toml), with their standard errors in comments. '-' is stdout.")
@click.option(
    "--rounds",
    "rounds_output",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="A table (TSV) of the log-likelihood of each round.",
)
def command(output: str, model: str, parameters: str, rounds_output: str | None, max_reads: int, **values: Any) -> None:
    """Fit the parameters of a model to the reads of BAM or CRAM.

    Reads far from variants are compared with the reference; with -v or --haplotypes, each read with the likeliest
    haplotype of its region. --parameters of 'likelihoods', 'call' and 'scatter' takes the output.
    """
    if model == "gatk" and parameters != PRESETS[0]:
        raise click.UsageError("--parameters is for --model profile: a fit of gatk begins with the quality options.")
    initial = parameters_of(parameters)
    options = run_options(values)
    fit.fit(
        output=output,
        kind=model,  # type: ignore[arg-type]
        initial=initial,
        rounds_output=rounds_output,
        max_reads=max_reads,
        options=options,
        **values,
    )
