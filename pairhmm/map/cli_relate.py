"""`pairhmm map relate`: relations of samples."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE
from pairhmm.map import relate as map_relate

EXAMPLES = (
    "pairhmm map relate cohort.vcf.gz --sheet samples.tsv \\\n    -o pairs.tsv --sample-table related.tsv",
    "pairhmm map relate cohort.vcf.gz --pedigree family.ped -o pairs.tsv",
)


@click.command("relate", cls=Command, examples=EXAMPLES)
@click.argument(
    "inputs",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="INPUTS...",
    panel=INPUT,
    help="VCF or BCF with AD, PL, GL or GT, or tables that 'likelihoods' wrote (.tsv, .tsv.gz, .parquet), of two"
    " samples or more. Several files are called at the same sites.",
)
@click.option(
    "--sheet",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A sample sheet: the columns sample and individual say who a sample is from, and father and mother who that"
    " individual's parents are.",
)
@click.option(
    "--pedigree",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A PED file: family, individual, father, mother, sex, phenotype. Without --sheet, samples have the names of"
    " individuals.",
)
@click.option(
    "--frequencies",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A VCF or BCF with allele frequencies of the population (AF in INFO). Without it, they come from the samples.",
)
@output_option("The table of pairs of samples (.tsv). '-' is stdout.")
@click.option("--sample-table", type=OUTPUT_FILE, metavar="FILE", panel=OUTPUT, help="A table of the samples (.tsv).")
def command(
    inputs: tuple[str, ...],
    sheet: str | None,
    pedigree: str | None,
    frequencies: str | None,
    output: str,
    sample_table: str | None,
) -> None:
    """Find which samples are related, exchanged or contaminated.

    Each pair of samples has a row with the relation that its genotypes' likelihoods show, beside the one that the
    sample sheet or the pedigree says. Flags name what somebody should look at.
    """
    map_relate.write_relations(inputs, output, sample_table, sheet=sheet, pedigree=pedigree, frequencies=frequencies)
