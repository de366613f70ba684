"""`pairhmm simulate cohort`: samples of families and individuals, with known faults."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import option
from pairhmm.cli.help_style import OUTPUT, READS, SAMPLES, Command
from pairhmm.cli.param_types import Real
from pairhmm.simulate.cohort_api import LEAST_ERROR, MOST_CONTAMINATION, MOST_DEPTH, MOST_ERROR, simulate_cohort

EXAMPLES = (
    "pairhmm simulate cohort -o cohort --swaps 3 --duplicates 2 \\\n    --contamination 0.03 --contamination 0.1",
    "pairhmm map relate cohort/cohort.vcf.gz --sheet cohort/samples.tsv \\\n    -o pairs.tsv --sample-table found.tsv",
)


@click.command("cohort", cls=Command, examples=EXAMPLES)
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
    simulate_cohort, "samples_each", least=1, metavar="N", panel=SAMPLES, help="The number of samples of each of these."
)
@option(
    simulate_cohort,
    "swaps",
    least=0,
    metavar="N",
    panel=SAMPLES,
    help="The number of pairs of samples with exchanged labels. They are of children, or of individuals with"
    " three samples or more.",
)
@option(
    simulate_cohort,
    "duplicates",
    least=0,
    metavar="N",
    panel=SAMPLES,
    help="The number of samples that are added, of an individual that is in the sheet under another name too.",
)
@click.option(
    "--contamination",
    multiple=True,
    type=Real(0, MOST_CONTAMINATION),
    metavar="X",
    panel=SAMPLES,
    help="A sample has this share of reads of a stranger in the cohort. The option can be repeated, for several"
    " samples.",
)
@option(
    simulate_cohort,
    "sites",
    least=1,
    metavar="N",
    panel=READS,
    help="The number of sites: unlinked SNVs with frequencies from 0.05 to 0.95.",
)
@option(
    simulate_cohort,
    "depth",
    least=0,
    most=MOST_DEPTH,
    metavar="X",
    panel=READS,
    help="The mean number of reads of a sample at a site.",
)
@option(
    simulate_cohort,
    "error_rate",
    least=LEAST_ERROR,
    most=MOST_ERROR,
    metavar="X",
    panel=READS,
    help="The share of reads with the wrong allele.",
)
@option(
    simulate_cohort,
    "seed",
    least=0,
    metavar="N",
    panel=READS,
    help="The seed of the random numbers. The same seed and options give the same bytes.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    panel=OUTPUT,
    help="The folder for the files. It is made if it is missing.",
)
@option(simulate_cohort, "overwrite", "--force", panel=OUTPUT, help="Files that are there already are replaced.")
def command(
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
    """Make the calls of a cohort for 'pairhmm map relate', with a sample sheet and the truth.

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
