"""`pairhmm simulate signatures|samples|signal|cohort`: input of other commands, with its truth."""

from __future__ import annotations

from functools import partial
from typing import Any

import rich_click as click

from pairhmm.cli.fields import Decorator, option, output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, READS, SAMPLES, Command
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE, Real
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY
from pairhmm.simulate.cohort import MOST_CONTAMINATION, simulate_cohort
from pairhmm.simulate.signal import simulate_signal
from pairhmm.simulate.signatures import simulate_samples, simulate_signatures


def _seed_option(function: object, panel: str) -> Decorator:
    text = "The seed of the random numbers. The same seed and options give the same output."
    return option(function, "seed", metavar="N", panel=panel, help=text)


def _force_option(function: object) -> Decorator:
    return option(function, "overwrite", "--force", panel=OUTPUT, help="Overwrite existing output files.")


def _input_option(flag: str, text: str, required: bool = False) -> Decorator:
    return click.option(flag, required=required, type=INPUT_FILE, metavar="FILE", panel=INPUT, help=text)


def _table_option(flag: str, text: str) -> Decorator:
    return click.option(flag, type=OUTPUT_FILE, metavar="FILE", panel=OUTPUT, help=text)


signature_option = partial(option, simulate_signatures, panel=SAMPLES)
sample_option = partial(option, simulate_samples, panel=SAMPLES)
signal_option = partial(option, simulate_signal, panel=READS)
cohort_option = partial(option, simulate_cohort, panel=SAMPLES)
reads_option = partial(option, simulate_cohort, panel=READS)

SIGNATURE_EXAMPLES = (
    "pairhmm simulate signatures -o viruses.fa",
    "pairhmm simulate signatures -o few.fa.gz --count 50 --max-length 5000",
)


@click.command("signatures", cls=Command, examples=SIGNATURE_EXAMPLES)
@signature_option("count", metavar="N", help="The number of signatures.")
@signature_option("min_length", metavar="BASES", help="The minimum length of a signature.")
@signature_option("max_length", metavar="BASES", help="The maximum length of a signature.")
@signature_option("n_ratio", metavar="X", help="The probability, 0 to 1, that a letter is N.")
@_seed_option(simulate_signatures, SAMPLES)
@output_option("The signatures (FASTA), bgzipped if the name ends in .gz. '-' is stdout.", required=True)
@_force_option(simulate_signatures)
def signatures(output: str, **options: Any) -> None:
    """Simulate random signatures for 'pairhmm scan'.

    The defaults are those of the reference workload of 'pairhmm scan'.
    """
    simulate_signatures(output, **options)


SAMPLE_EXAMPLES = (
    "pairhmm simulate samples --signatures viruses.fa -o samples.fastq.gz",
    "pairhmm simulate samples --signatures viruses.fa -o few.fastq.gz \\\n"
    "    --truth few.tsv --num-no-virus 5 --num-with-virus 1",
)


@click.command("samples", cls=Command, examples=SAMPLE_EXAMPLES)
@_input_option("--signatures", "The signatures to plant (FASTA).", required=True)
@sample_option("num_no_virus", metavar="N", help="The number of samples without signatures.")
@sample_option("num_with_virus", metavar="N", help="The number of samples with signatures.")
@sample_option("min_viruses", metavar="N", help="The minimum number of signatures in a sample that has some.")
@sample_option("max_viruses", metavar="N", help="The maximum number of signatures in a sample that has some.")
@sample_option(
    "min_length", metavar="BASES", help="The minimum number of random bases around the signatures of a sample."
)
@sample_option(
    "max_length", metavar="BASES", help="The maximum number of random bases around the signatures of a sample."
)
@sample_option("min_phred", metavar="PHRED", help="The lowest base quality (Phred).")
@sample_option("max_phred", metavar="PHRED", help=f"The highest base quality (Phred), at most {HIGHEST_SAM_QUALITY}.")
@sample_option("n_ratio", metavar="X", help="The probability, 0 to 1, that a letter is N.")
@_seed_option(simulate_samples, SAMPLES)
@output_option("The samples (FASTQ), bgzipped if the name ends in .gz. '-' is stdout.", required=True)
@_table_option("--truth", "Write a table of the planted signatures and their positions (TSV).")
@_force_option(simulate_samples)
def samples(signatures: str, output: str, **options: Any) -> None:
    """Simulate samples for 'pairhmm scan', some with signatures in them.

    The defaults are those of the reference workload of 'pairhmm scan'.
    """
    simulate_samples(signatures, output, **options)


SIGNAL_EXAMPLES = (
    "pairhmm simulate signal --signatures few.fa.gz --write-model kmers.model \\\n    --truth places.tsv -o signal.tsv",
    "pairhmm simulate signal --signatures few.fa.gz --model kmers.model \\\n    -o reads.blow5",
)


@click.command("signal", cls=Command, examples=SIGNAL_EXAMPLES)
@_input_option("--signatures", "The sequences that reads are drawn from (FASTA).", required=True)
@_input_option("--model", "The pore model, as for 'pairhmm warp --model'.")
@signal_option("reads", metavar="N", help="The number of reads of signatures.")
@signal_option("unrelated", metavar="N", help="The number of reads of random bases.")
@signal_option(
    "length",
    metavar="BASES",
    help="The length of a read, without the adapter in front of it. A shorter signature is read whole.",
)
@signal_option("noise", metavar="X", help="The factor of each k-mer's standard deviation in the model.")
@signal_option("k", "--k", metavar="N", help="The k-mer length of a random table (--write-model).")
@_seed_option(simulate_signal, READS)
@output_option("The reads, as BLOW5, SLOW5 or text (.tsv). '-' is stdout, as text.", required=True)
@_table_option("--write-model", "Draw a pore model with random levels, in place of --model, and write it.")
@_table_option("--truth", "Write a table of the position of each read (TSV).")
@_force_option(simulate_signal)
def signal(signatures: str, output: str, **options: Any) -> None:
    """Simulate nanopore signals of random parts of signatures, on both strands, for 'pairhmm warp'.

    Each k-mer holds its current level, with noise, for about nine samples. Each read has its own gain and offset.
    """
    simulate_signal(signatures, output, **options)


COHORT_EXAMPLES = (
    "pairhmm simulate cohort -o cohort --swaps 3 --duplicates 2 \\\n    --contamination 0.03 --contamination 0.1",
    "pairhmm map relate cohort/cohort.vcf.gz --sheet cohort/samples.tsv \\\n    -o pairs.tsv --sample-table found.tsv",
)


@click.command("cohort", cls=Command, examples=COHORT_EXAMPLES)
@cohort_option(
    "families",
    metavar="N",
    help="The number of families: two parents and two children, with a sample of each.",
)
@cohort_option("individuals", metavar="N", help="The number of further individuals, unrelated to each other.")
@cohort_option("samples_each", metavar="N", help="The number of samples of each further individual.")
@cohort_option(
    "swaps",
    metavar="N",
    help="The number of sample swaps: pairs with exchanged labels, of children, or of individuals with three samples"
    " or more.",
)
@cohort_option(
    "duplicates",
    metavar="N",
    help="The number of duplicates: further samples of an individual, under a second name in the sheet.",
)
@click.option(
    "--contamination",
    multiple=True,
    type=Real(0, MOST_CONTAMINATION),
    metavar="X",
    panel=SAMPLES,
    help="Contaminate a sample with this share of reads of an unrelated one. Repeat this option for several samples.",
)
@reads_option(
    "sites", metavar="N", help="The number of sites: unlinked SNVs with allele frequencies from 0.05 to 0.95."
)
@reads_option("depth", metavar="X", help="The mean depth of a sample.")
@reads_option(
    "error_rate",
    metavar="X",
    help="The sequencing error rate: the share of reads with the wrong allele.",
)
@_seed_option(simulate_cohort, READS)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    panel=OUTPUT,
    help="The output folder. It is created if missing.",
)
@_force_option(simulate_cohort)
def cohort(output: str, **options: Any) -> None:
    """Simulate the calls of a cohort for 'pairhmm map relate', with a sample sheet and the truth.

    The folder gets cohort.vcf.gz (genotypes, read counts and likelihoods of all samples), its index, samples.tsv (the
    sheet: sample, individual, father, mother) and truth.tsv (whose DNA each sample is, and what is wrong with it).
    """
    simulate_cohort(output, **options)
