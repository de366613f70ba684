"""`pairhmm fit`: the parameters of a model from alignments."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.cli.evidence_options import evidence_options, run_options
from pairhmm.cli.numbers import Whole


@click.command("fit")
@click.option("-o", "--output", default="-", show_default=True, help="Parameters (TOML); - is stdout.")
@click.option(
    "--model", type=click.Choice(["profile", "gatk"]), default="profile", show_default=True, help="What is fitted."
)
@click.option(
    "--parameters",
    default="normalised",
    show_default=True,
    help="Profile model: what the fit begins with, a TOML file or a built-in preset.",
)
@click.option("--rounds", "rounds_output", metavar="TSV", help="Table of the log-likelihood of each round.")
@click.option(
    "--max-reads", type=Whole(1), default=100_000, show_default=True, help="Reads taken, in the order of the files."
)
@evidence_options
def command(output: str, model: str, parameters: str, rounds_output: str | None, max_reads: int, **given: Any) -> None:
    """Fit a model's parameters to the reads of ALIGNMENTS (BAM or CRAM, sorted).

    Reads are taken where nothing varies, beside the reference. With -v or --haplotypes, each read is taken beside the
    likeliest haplotype of its region. The output is what --parameters takes; for GATK's model, values of options.
    """
    from pairhmm.commands.fit import fit
    from pairhmm.io.files.destinations import check_apart
    from pairhmm.models.profile import PRESETS, preset, read_parameters

    if model == "gatk" and parameters != "normalised":
        raise click.UsageError("--parameters is for --model profile; a fit of gatk begins with the quality options")
    if parameters not in PRESETS:
        check_apart([parameters], [("-o", output)] + ([("--rounds", rounds_output)] if rounds_output else []))
    initial = preset(parameters) if parameters in PRESETS else read_parameters(parameters)
    options = run_options(given)
    fit(
        output=output,
        kind=model,  # type: ignore[arg-type]
        initial=initial,
        rounds_output=rounds_output,
        max_reads=max_reads,
        options=options,
        **given,
    )
