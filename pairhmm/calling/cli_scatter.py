"""`pairhmm scatter`: regions of equal work for runs side by side."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.calling import scatter
from pairhmm.calling.cli_molecules import molecule_options, scoring_options
from pairhmm.calling.cli_options import evidence_options
from pairhmm.cli.fields import option
from pairhmm.cli.help_style import OUTPUT, Command
from pairhmm.cli.model_options import model_options

EXAMPLES = (
    "pairhmm scatter -f ref.fa -n 2 -o pieces sample.bam",
    "pairhmm call -f ref.fa -R pieces/1-of-2.bed -o 1.vcf.gz sample.bam",
    "pairhmm call -f ref.fa -R pieces/2-of-2.bed -o 2.vcf.gz sample.bam",
)


@click.command("scatter", cls=Command, examples=EXAMPLES)
@evidence_options
@model_options
@molecule_options
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    panel=OUTPUT,
    help="The folder for the pieces, 1-of-N.bed to N-of-N.bed.",
)
@option(
    scatter.write_scatter,
    "pieces",
    "-n",
    "--pieces",
    least=1,
    required=True,
    metavar="N",
    panel=OUTPUT,
    help="The number of pieces.",
)
def command(output: str, pieces: int, haplotypes: str | None, **given: Any) -> None:
    """Cut a run of 'call' or 'likelihoods' into pieces with about as many reads each.

    Give this command the candidates, regions and options of the run. Then run the command on each piece (-R), with the
    same candidates and options, and put the outputs together with 'gather'. The result is that of one run over
    everything, because no cut lies near a candidate.
    """
    if haplotypes is not None:
        raise click.UsageError("--haplotypes is for one region, which cannot be cut.")

    options = scoring_options(given)
    scatter.write_scatter(output=output, pieces=pieces, options=options, **given)
