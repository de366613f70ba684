"""`pairhmm simulate signatures|samples|signal|cohort`: input of other commands, with its truth."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import Decorator, option, output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, READS, SAMPLES, Command
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE, Real
from pairhmm.sequences.qualities import HIGHEST_SAM_QUALITY
from pairhmm.simulate.cohort import LEAST_ERROR, MOST_CONTAMINATION, MOST_DEPTH, MOST_ERROR, simulate_cohort
from pairhmm.simulate.signal import simulate_signal
from pairhmm.simulate.signatures import simulate_samples, simulate_signatures
from pairhmm.warp.kmers import LONGEST_K


def _seed_option(function: object, panel: str, least: int | None = None) -> Decorator:
    text = "The seed of the random numbers. The same seed and options give the same output."
    return option(function, "seed", least=least, metavar="N", panel=panel, help=text)


def _force_option(function: object) -> Decorator:
    return option(function, "overwrite", "--force", panel=OUTPUT, help="Replace existing files.")


SIGNATURE_EXAMPLES = (
    "pairhmm simulate signatures -o viruses.fa",
    "pairhmm simulate signatures -o few.fa.gz --count 50 --max-length 5000",
)


@click.command("signatures", cls=Command, examples=SIGNATURE_EXAMPLES)
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
@_seed_option(simulate_signatures, SAMPLES)
@output_option("The signatures (FASTA), bgzipped if the name ends in .gz. '-' is stdout.", required=True)
@_force_option(simulate_signatures)
def signatures(
    count: int, min_length: int, max_length: int, n_ratio: float, seed: int, output: str, overwrite: bool
) -> None:
    """Simulate random signatures for 'pairhmm scan'.

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


SAMPLE_EXAMPLES = (
    "pairhmm simulate samples --signatures viruses.fa -o samples.fastq.gz",
    "pairhmm simulate samples --signatures viruses.fa -o few.fastq.gz \\\n"
    "    --truth few.tsv --num-no-virus 5 --num-with-virus 1",
)


@click.command("samples", cls=Command, examples=SAMPLE_EXAMPLES)
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
    help="The least number of signatures in a sample that has some.",
)
@option(
    simulate_samples,
    "max_viruses",
    metavar="N",
    panel=SAMPLES,
    help="The greatest number of signatures in a sample that has some.",
)
@option(
    simulate_samples,
    "min_length",
    metavar="BASES",
    panel=SAMPLES,
    help="The least number of random bases around the signatures of a sample.",
)
@option(
    simulate_samples,
    "max_length",
    metavar="BASES",
    panel=SAMPLES,
    help="The greatest number of random bases around the signatures of a sample.",
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
@_seed_option(simulate_samples, SAMPLES)
@output_option("The samples (FASTQ), bgzipped if the name ends in .gz. '-' is stdout.", required=True)
@click.option(
    "--truth",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="Write a table of the planted signatures and their positions (TSV).",
)
@_force_option(simulate_samples)
def samples(
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
    """Simulate samples for 'pairhmm scan', some with signatures in them.

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


SIGNAL_EXAMPLES = (
    "pairhmm simulate signal --signatures few.fa.gz --write-model kmers.model \\\n    --truth places.tsv -o signal.tsv",
    "pairhmm simulate signal --signatures few.fa.gz --model kmers.model \\\n    -o reads.blow5",
)


@click.command("signal", cls=Command, examples=SIGNAL_EXAMPLES)
@click.option(
    "--signatures",
    required=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The sequences that reads are drawn from (FASTA).",
)
@click.option(
    "--model",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The current level of each k-mer: a table of 'pairhmm warp --model'.",
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
    help="Multiply the standard deviation of each k-mer's current in the table.",
)
@option(
    simulate_signal,
    "k",
    "--k",
    least=1,
    most=LONGEST_K,
    metavar="N",
    panel=READS,
    help="The k-mer length of a random table (--write-model).",
)
@_seed_option(simulate_signal, READS, least=0)
@output_option("The reads, as BLOW5, SLOW5 or text (.tsv). '-' is stdout, as text.", required=True)
@click.option(
    "--write-model",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="Draw a table with random levels, in place of --model, and write it.",
)
@click.option(
    "--truth",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="Write a table of the position of each read (TSV).",
)
@_force_option(simulate_signal)
def signal(
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
    """Simulate nanopore signals of random parts of signatures, on both strands, for 'pairhmm warp'.

    Each k-mer holds its current level, with noise, for about nine samples. Each read has its own gain and offset.
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


COHORT_EXAMPLES = (
    "pairhmm simulate cohort -o cohort --swaps 3 --duplicates 2 \\\n    --contamination 0.03 --contamination 0.1",
    "pairhmm map relate cohort/cohort.vcf.gz --sheet cohort/samples.tsv \\\n    -o pairs.tsv --sample-table found.tsv",
)


@click.command("cohort", cls=Command, examples=COHORT_EXAMPLES)
@option(
    simulate_cohort,
    "families",
    least=0,
    metavar="N",
    panel=SAMPLES,
    help="The number of families: two parents and two children, with a sample of each.",
)
@option(
    simulate_cohort,
    "individuals",
    least=0,
    metavar="N",
    panel=SAMPLES,
    help="The number of further individuals, unrelated to each other.",
)
@option(
    simulate_cohort,
    "samples_each",
    least=1,
    metavar="N",
    panel=SAMPLES,
    help="The number of samples of each further individual.",
)
@option(
    simulate_cohort,
    "swaps",
    least=0,
    metavar="N",
    panel=SAMPLES,
    help="The number of sample swaps: pairs with exchanged labels, of children, or of individuals with three samples"
    " or more.",
)
@option(
    simulate_cohort,
    "duplicates",
    least=0,
    metavar="N",
    panel=SAMPLES,
    help="The number of duplicates: further samples of an individual, under a second name in the sheet.",
)
@click.option(
    "--contamination",
    multiple=True,
    type=Real(0, MOST_CONTAMINATION),
    metavar="X",
    panel=SAMPLES,
    help="Contaminate a sample with this share of reads of an unrelated one. Repeat the option for several samples.",
)
@option(
    simulate_cohort,
    "sites",
    least=1,
    metavar="N",
    panel=READS,
    help="The number of sites: unlinked SNVs with allele frequencies from 0.05 to 0.95.",
)
@option(
    simulate_cohort,
    "depth",
    least=0,
    most=MOST_DEPTH,
    metavar="X",
    panel=READS,
    help="The mean depth of a sample.",
)
@option(
    simulate_cohort,
    "error_rate",
    least=LEAST_ERROR,
    most=MOST_ERROR,
    metavar="X",
    panel=READS,
    help="The sequencing error rate: the share of reads with the wrong allele.",
)
@_seed_option(simulate_cohort, READS, least=0)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    panel=OUTPUT,
    help="The output folder. It is created if missing.",
)
@_force_option(simulate_cohort)
def cohort(
    families: int,
    individuals: int,
    samples_each: int,
    swaps: int,
    duplicates: int,
    contamination: tuple[float, ...],
    sites: int,
    depth: float,
    error_rate: float,
    seed: int,
    output: str,
    overwrite: bool,
) -> None:
    """Simulate the calls of a cohort for 'pairhmm map relate', with a sample sheet and the truth.

    The folder gets cohort.vcf.gz (genotypes, read counts and likelihoods of all samples), its index, samples.tsv (the
    sheet: sample, individual, father, mother) and truth.tsv (whose DNA each sample is, and what is wrong with it).
    """
    simulate_cohort(
        output,
        families=families,
        individuals=individuals,
        samples_each=samples_each,
        swaps=swaps,
        duplicates=duplicates,
        contamination=contamination,
        sites=sites,
        depth=depth,
        error_rate=error_rate,
        seed=seed,
        overwrite=overwrite,
    )
