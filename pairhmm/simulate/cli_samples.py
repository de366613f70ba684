"""`pairhmm simulate samples`: samples with signatures planted in them."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, SAMPLES, Command
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY
from pairhmm.simulate.scan_api import simulate_samples

EXAMPLES = (
    "pairhmm simulate samples --signatures viruses.fa -o samples.fastq.gz",
    "pairhmm simulate samples --signatures viruses.fa -o few.fastq.gz \\\n"
    "    --truth few.tsv --num-no-virus 5 --num-with-virus 1",
)


@click.command("samples", cls=Command, examples=EXAMPLES)
@click.option(
    "--signatures", required=True, type=INPUT_FILE, metavar="FILE", panel=INPUT, help="The signatures to plant (FASTA)."
)
@option(
    simulate_samples,
    "num_no_virus",
    metavar="N",
    panel=SAMPLES,
    help="The number of samples without signatures.",
)
@option(
    simulate_samples,
    "num_with_virus",
    metavar="N",
    panel=SAMPLES,
    help="The number of samples with signatures.",
)
@option(
    simulate_samples,
    "min_viruses",
    metavar="N",
    panel=SAMPLES,
    help="A sample with signatures has at least this many.",
)
@option(
    simulate_samples,
    "max_viruses",
    metavar="N",
    panel=SAMPLES,
    help="A sample with signatures has at most this many.",
)
@option(
    simulate_samples,
    "min_length",
    metavar="BASES",
    panel=SAMPLES,
    help="A sample has at least this many random bases around its signatures.",
)
@option(
    simulate_samples,
    "max_length",
    metavar="BASES",
    panel=SAMPLES,
    help="A sample has at most this many random bases around its signatures.",
)
@option(simulate_samples, "min_phred", metavar="PHRED", panel=SAMPLES, help="The lowest base quality (Phred).")
@option(
    simulate_samples,
    "max_phred",
    metavar="PHRED",
    panel=SAMPLES,
    help=f"The highest base quality (Phred), at most {HIGHEST_SAM_QUALITY}.",
)
@option(
    simulate_samples,
    "n_ratio",
    metavar="X",
    panel=SAMPLES,
    help="The probability, 0 to 1, that a letter is N.",
)
@option(
    simulate_samples,
    "seed",
    metavar="N",
    panel=SAMPLES,
    help="The seed of the random numbers. The same seed and options give the same bytes.",
)
@output_option("The samples (FASTQ), bgzipped if the name ends in .gz. '-' is stdout.", required=True)
@click.option(
    "--truth",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="A table (TSV) of the planted signatures and their places is written too.",
)
@option(
    simulate_samples,
    "overwrite",
    "--force",
    panel=OUTPUT,
    help="Files that are there already are replaced.",
)
def command(
    signatures: str,
    num_no_virus: int,
    num_with_virus: int,
    min_viruses: int,
    max_viruses: int,
    min_length: int,
    max_length: int,
    min_phred: int,
    max_phred: int,
    n_ratio: float,
    seed: int,
    output: str,
    truth: str | None,
    overwrite: bool,
) -> None:
    """Make samples for 'pairhmm scan', some with signatures in them.

    The defaults are those of the reference workload of 'pairhmm scan'.
    """
    simulate_samples(
        signatures,
        output,
        truth=truth,
        num_no_virus=num_no_virus,
        num_with_virus=num_with_virus,
        min_viruses=min_viruses,
        max_viruses=max_viruses,
        min_length=min_length,
        max_length=max_length,
        min_phred=min_phred,
        max_phred=max_phred,
        n_ratio=n_ratio,
        seed=seed,
        overwrite=overwrite,
    )
