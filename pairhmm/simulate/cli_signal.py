"""`pairhmm simulate signal`: raw reads of signatures."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, READS, Command
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE
from pairhmm.simulate.signal_api import simulate_signal
from pairhmm.warp.kmers import LONGEST_K

EXAMPLES = (
    "pairhmm simulate signal --signatures few.fa.gz --write-model kmers.model \\\n    --truth places.tsv -o signal.tsv",
    "pairhmm simulate signal --signatures few.fa.gz --model kmers.model \\\n    -o reads.blow5",
)


@click.command("signal", cls=Command, examples=EXAMPLES)
@click.option(
    "--signatures", required=True, type=INPUT_FILE, metavar="FILE", panel=INPUT, help="What the reads are of (FASTA)."
)
@click.option(
    "--model",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The table with the level of each k-mer, as 'pairhmm warp --model' takes it.",
)
@option(simulate_signal, "reads", least=0, metavar="N", panel=READS, help="The number of reads of signatures.")
@option(simulate_signal, "unrelated", least=0, metavar="N", panel=READS, help="The number of reads of random bases.")
@option(
    simulate_signal,
    "length",
    least=1,
    metavar="BASES",
    panel=READS,
    help="The length of a read. A shorter signature is read whole. An adapter stands in front of each read.",
)
@option(
    simulate_signal,
    "noise",
    least=0,
    metavar="X",
    panel=READS,
    help="The standard deviation of the current, as a multiple of what the table has.",
)
@option(
    simulate_signal,
    "k",
    "--k",
    least=1,
    most=LONGEST_K,
    metavar="N",
    panel=READS,
    help="The length of the k-mers of a table that is made.",
)
@option(
    simulate_signal,
    "seed",
    least=0,
    metavar="N",
    panel=READS,
    help="The seed of the random numbers. The same seed and options give the same reads.",
)
@output_option("The reads, as BLOW5, SLOW5 or text (.tsv). '-' is stdout, as text.", required=True)
@click.option(
    "--write-model",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="A table with random levels is made and written, in place of --model.",
)
@click.option(
    "--truth",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="A table with the place of each read is written (TSV).",
)
@option(simulate_signal, "overwrite", "--force", panel=OUTPUT, help="Files that are there already are replaced.")
def command(
    signatures: str,
    model: str | None,
    reads: int,
    unrelated: int,
    length: int,
    noise: float,
    k: int,
    seed: int,
    output: str,
    write_model: str | None,
    truth: str | None,
    overwrite: bool,
) -> None:
    """Make raw reads of random places of signatures, on both strands, for 'pairhmm warp'.

    Each k-mer in the pore gives its level, with noise, for about nine samples. Each read has a gain and a shift of its
    own.
    """
    simulate_signal(
        signatures,
        output,
        model=model,
        write_model=write_model,
        truth=truth,
        reads=reads,
        unrelated=unrelated,
        length=length,
        noise=noise,
        k=k,
        seed=seed,
        overwrite=overwrite,
    )
