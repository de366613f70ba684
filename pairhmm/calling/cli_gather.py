"""`pairhmm gather`: the outputs of pieces put together."""

from __future__ import annotations

import rich_click as click

from pairhmm.calling import gather
from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE

EXAMPLES = (
    "pairhmm gather -o calls.vcf.gz 1.vcf.gz 2.vcf.gz",
    "pairhmm gather -o all.tsv --sample first --sample second first.tsv second.tsv",
)


@click.command("gather", cls=Command, examples=EXAMPLES)
@click.argument(
    "pieces",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="PIECES...",
    panel=INPUT,
    help="The outputs of 'call', 'likelihoods' or 'scan' over the pieces of a run, in the order of the pieces.",
)
@output_option("The whole: .vcf, .vcf.gz or .bcf for calls; .parquet, .tsv or .tsv.gz for tables. '-' is stdout.")
@click.option(
    "--sample",
    "samples",
    multiple=True,
    metavar="NAME",
    panel=OUTPUT,
    help="The sample of a table, for a first column 'sample'. Repeat this option once for each piece, in their order.",
)
def command(pieces: tuple[str, ...], output: str, samples: tuple[str, ...]) -> None:
    """Put the outputs of a run's pieces together.

    Rows are copied as they are, in the order of the pieces. The header of a VCF is that of the first piece, with the
    provenance of all. Bgzipped outputs get their index.
    """
    gather.gather(pieces, output, samples)
