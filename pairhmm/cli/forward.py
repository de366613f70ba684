"""`pairhmm forward`: sequence files in, scores out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from pairhmm.cli.common import backend_options, threads_option

if TYPE_CHECKING:
    from pairhmm.engine import Choice


@click.command("forward")
@click.argument("reads", type=click.Path())
@click.argument("haplotypes", type=click.Path(), required=False)
@click.option("-o", "--output", default="-", show_default=True, help="Table of scores (TSV); - is stdout.")
@click.option(
    "--model", type=click.Choice(["gatk", "profile"]), default="gatk", show_default=True, help="What makes the rows."
)
@click.option(
    "--parameters",
    default="normalised",
    show_default=True,
    help="Profile model: a TOML file, or the built-in 'normalised' or 'published'.",
)
@click.option("--insertion-quality", type=click.IntRange(1, 127), default=45, show_default=True, help="Phred.")
@click.option("--deletion-quality", type=click.IntRange(1, 127), default=45, show_default=True, help="Phred.")
@click.option("--gap-quality", type=click.IntRange(1, 127), default=10, show_default=True, help="Phred, continuation.")
@click.option("--default-base-quality", type=click.IntRange(0, 93), help="Phred, for reads without qualities.")
@backend_options
@threads_option
def command(
    reads: str,
    haplotypes: str | None,
    output: str,
    model: str,
    parameters: str,
    insertion_quality: int,
    deletion_quality: int,
    gap_quality: int,
    default_base_quality: int | None,
    backend: Choice,
    threads: int,
) -> None:
    """Score every read of READS against every sequence of HAPLOTYPES.

    READS is FASTQ or FASTA, a .in file (which brings its haplotypes and is given alone), or, for the profile model, a
    .profile file of letter probabilities. HAPLOTYPES is FASTA. Base qualities are used as they are.
    """
    from pairhmm.commands.forward_files import forward_files
    from pairhmm.io.files.destinations import check_apart
    from pairhmm.models.gatk import GatkOptions
    from pairhmm.models.profile import PRESETS, preset, read_parameters

    profile = None
    if model == "profile":
        if parameters not in PRESETS:
            check_apart([parameters], [("-o", output)])
        profile = preset(parameters) if parameters in PRESETS else read_parameters(parameters)
    forward_files(
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
