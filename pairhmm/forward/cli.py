"""`pairhmm forward`: sequence files in, scores out."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.compute import backend_options, threads_option
from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import INPUT, MODEL, Command
from pairhmm.cli.model_options import GRAPH, PDHMM, pair_model_options, profile_of
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.engine import Choice
from pairhmm.forward import files as forward
from pairhmm.models.gatk import GatkOptions

EXAMPLES = (
    "pairhmm forward reads.fastq haplotypes.fa",
    "pairhmm forward -@ 2 -o scores.tsv pairs.in",
    "pairhmm forward --model profile reads.profile haplotypes.fa",
)

_DEFAULTS = GatkOptions()


@click.command("forward", cls=Command, examples=EXAMPLES)
@click.argument(
    "reads",
    type=INPUT_FILE,
    panel=INPUT,
    help="The reads (FASTQ or FASTA), or profiles of the profile model (.profile or .tsv). A .in file holds both"
    " reads and haplotypes, and stands alone. So does a file of pairs with flags (pdhmm).",
)
@click.argument(
    "haplotypes",
    type=INPUT_FILE,
    required=False,
    panel=INPUT,
    help="The haplotypes (FASTA), with undetermined alleles for the model 'graph'.",
)
@option(
    forward.forward_files,
    "default_base_quality",
    metavar="PHRED",
    panel=INPUT,
    help="The base quality (Phred) of reads without base qualities. Without this option, such reads are an error.",
)
@pair_model_options
@option(
    _DEFAULTS,
    "insertion_quality",
    least=1,
    metavar="PHRED",
    panel=MODEL,
    help="The gap opening quality (Phred) of insertions in GATK's model.",
)
@option(
    _DEFAULTS,
    "deletion_quality",
    least=1,
    metavar="PHRED",
    panel=MODEL,
    help="The gap opening quality (Phred) of deletions in GATK's model.",
)
@option(
    _DEFAULTS,
    "gap_quality",
    least=1,
    metavar="PHRED",
    panel=MODEL,
    help="The gap continuation quality (Phred) in GATK's model.",
)
@backend_options
@threads_option(forward.forward_files)
@output_option("The table of scores (TSV). '-' is stdout.")
def command(
    reads: str,
    haplotypes: str | None,
    default_base_quality: int | None,
    model: str,
    parameters: str,
    insertion_quality: int,
    deletion_quality: int,
    gap_quality: int,
    backend: Choice,
    threads: int,
    output: str,
) -> None:
    """Score every read of READS against every sequence of HAPLOTYPES.

    A score is log10 P(read | haplotype). Base qualities are used as they are.
    """
    profile = profile_of(model, parameters)
    forward.forward_files(
        reads,
        haplotypes,
        output,
        model="pdhmm" if model == PDHMM else "graph" if model == GRAPH else profile,
        options=GatkOptions(
            insertion_quality=insertion_quality, deletion_quality=deletion_quality, gap_quality=gap_quality
        ),
        default_base_quality=default_base_quality,
        backend=backend,
        threads=threads,
    )
