"""`pairhmm forward`: sequence files in, scores out."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.compute import backend_options, threads_option
from pairhmm.cli.fields import option
from pairhmm.cli.pages import INPUT, MODEL, OUTPUT, Command
from pairhmm.commands import forward_files as forward
from pairhmm.engine import Choice
from pairhmm.io.files.destinations import check_apart
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import PRESETS, preset, read_parameters

EXAMPLES = (
    "pairhmm forward reads.fastq haplotypes.fa",
    "pairhmm forward -@ 2 -o scores.tsv pairs.in",
    "pairhmm forward --model profile reads.profile haplotypes.fa",
)

GATK, PROFILE = "gatk", "profile"

_DEFAULTS = GatkOptions()


@click.command("forward", cls=Command, examples=EXAMPLES)
@click.argument(
    "reads",
    type=click.Path(),
    panel=INPUT,
    help="The reads: FASTQ, FASTA, or, for the profile model, a .profile file of letter probabilities. A .in file has"
    " reads and haplotypes, and is given alone.",
)
@click.argument(
    "haplotypes",
    type=click.Path(),
    required=False,
    panel=INPUT,
    help="The haplotypes (FASTA).",
)
@option(
    forward.forward_files,
    "default_base_quality",
    metavar="PHRED",
    panel=INPUT,
    help="The base quality (Phred) of reads that have none. Without this option, such reads are an error.",
)
@click.option(
    "--model",
    type=click.Choice([GATK, PROFILE]),
    default=GATK,
    show_default=True,
    metavar="NAME",
    panel=MODEL,
    help=f"The model. {GATK!r} takes base and gap qualities; {PROFILE!r} takes the probability of each letter.",
)
@click.option(
    "--parameters",
    default=PRESETS[0],
    show_default=True,
    metavar="NAME",
    panel=MODEL,
    help=f"The parameters of the profile model: a TOML file, or the built-in {' or '.join(map(repr, PRESETS))}.",
)
@option(
    _DEFAULTS,
    "insertion_quality",
    least=1,
    metavar="PHRED",
    panel=MODEL,
    help="The quality (Phred) of opening an insertion, in GATK's model.",
)
@option(
    _DEFAULTS,
    "deletion_quality",
    least=1,
    metavar="PHRED",
    panel=MODEL,
    help="The quality (Phred) of opening a deletion, in GATK's model.",
)
@option(
    _DEFAULTS,
    "gap_quality",
    least=1,
    metavar="PHRED",
    panel=MODEL,
    help="The quality (Phred) of extending an insertion or a deletion, in GATK's model.",
)
@backend_options
@threads_option(forward.forward_files)
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    metavar="FILE",
    panel=OUTPUT,
    help="The table of scores (TSV). '-' is stdout.",
)
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
    profile = None
    if model == PROFILE:
        if parameters not in PRESETS:
            check_apart([parameters], [("-o", output)])
        profile = preset(parameters) if parameters in PRESETS else read_parameters(parameters)
    forward.forward_files(
        reads,
        haplotypes,
        output,
        model=profile,
        options=GatkOptions(
            insertion_quality=insertion_quality, deletion_quality=deletion_quality, gap_quality=gap_quality
        ),
        default_base_quality=default_base_quality,
        backend=backend,
        threads=threads,
    )
