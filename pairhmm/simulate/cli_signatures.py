"""`pairhmm simulate signatures`: random signatures to look for."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import OUTPUT, SAMPLES, Command
from pairhmm.simulate.scan_api import simulate_signatures

EXAMPLES = (
    "pairhmm simulate signatures -o viruses.fa",
    "pairhmm simulate signatures -o few.fa.gz --count 50 --max-length 5000",
)


@click.command("signatures", cls=Command, examples=EXAMPLES)
@option(simulate_signatures, "count", metavar="N", panel=SAMPLES, help="The number of signatures.")
@option(
    simulate_signatures,
    "min_length",
    metavar="BASES",
    panel=SAMPLES,
    help="The length of the shortest signature.",
)
@option(
    simulate_signatures,
    "max_length",
    metavar="BASES",
    panel=SAMPLES,
    help="The length of the longest signature.",
)
@option(
    simulate_signatures,
    "n_ratio",
    metavar="X",
    panel=SAMPLES,
    help="The probability, 0 to 1, that a letter is N.",
)
@option(
    simulate_signatures,
    "seed",
    metavar="N",
    panel=SAMPLES,
    help="The seed of the random numbers. The same seed and options give the same bytes.",
)
@output_option("The signatures (FASTA), bgzipped if the name ends in .gz. '-' is stdout.", required=True)
@option(
    simulate_signatures,
    "overwrite",
    "--force",
    panel=OUTPUT,
    help="A file that is there already is replaced.",
)
def command(
    count: int, min_length: int, max_length: int, n_ratio: float, seed: int, output: str, overwrite: bool
) -> None:
    """Make random signatures for 'pairhmm scan'.

    The defaults are those of the reference workload of 'pairhmm scan'.
    """
    simulate_signatures(
        output,
        count=count,
        min_length=min_length,
        max_length=max_length,
        n_ratio=n_ratio,
        seed=seed,
        overwrite=overwrite,
    )
