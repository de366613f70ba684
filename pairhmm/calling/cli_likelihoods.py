"""`pairhmm likelihoods` and `pairhmm profiles`: tables of scored reads, and reads as profiles."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.calling import likelihoods, profiles
from pairhmm.calling.cli_options import molecule_options, parallel_options, read_options, scoring_options
from pairhmm.calling.foreign_options import AlignmentsCommand
from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import OUTPUT
from pairhmm.cli.model_options import model_options
from pairhmm.cli.progress import region_progress

EXAMPLES = (
    "pairhmm likelihoods -f ref.fa -o likelihoods.tsv.gz sample.bam",
    "pairhmm likelihoods -f ref.fa -v candidates.vcf.gz -o listed.tsv.gz sample.bam",
    "pairhmm likelihoods -f ref.fa --haplotypes haps.fa -r chr1:101-400 sample.bam",
)

PROFILE_EXAMPLES = (
    "pairhmm profiles -f ref.fa -o sample.profile sample.bam",
    "pairhmm profiles -f ref.fa --join-mates -r chr1:1001-1200 sample.bam",
)


@click.command("likelihoods", cls=AlignmentsCommand, examples=EXAMPLES)
@parallel_options
@model_options
@molecule_options
@output_option("The table: .tsv, .tsv.gz (with an index) or .parquet. '-' is stdout.")
@option(
    likelihoods.write_likelihoods,
    "prepared",
    panel=OUTPUT,
    help="Write the likelihoods that genotyping uses: raised to --score-floor, and without the reads that"
    " --error-rate filters out.",
)
@option(
    likelihoods.write_likelihoods,
    "only_listed",
    panel=OUTPUT,
    help="Leave out haplotypes with an allele that -v does not list.",
)
def command(output: str, prepared: bool, only_listed: bool, **values: Any) -> None:
    """Write log10 P(read | haplotype) for the reads of each region.

    The haplotypes are combinations of the candidate variants in a VCF (-v), or the records of a FASTA (--haplotypes,
    with -r). With neither, the candidates are discovered in the reads. A second table, NAME.haplotypes.EXT, describes
    the haplotypes.
    """
    if only_listed and values["candidates"] is None:
        raise click.UsageError("--only-listed needs a list of candidates: give -v.")
    options = scoring_options(values)
    with region_progress() as watch:
        likelihoods.write_likelihoods(
            output=output, prepared=prepared, only_listed=only_listed, options=options, watch=watch, **values
        )


@click.command("profiles", cls=AlignmentsCommand, examples=PROFILE_EXAMPLES)
@read_options
@molecule_options
@output_option("The profiles: .profile (records) or .tsv (a table), with .gz packed. '-' is stdout.")
def profiles_command(output: str, **values: Any) -> None:
    """Write reads as letter probabilities, the input of the profile model.

    A profile has the probabilities of A, C, G and T at each position of a read, from its bases and their prepared
    qualities. Overlapping mates and UMI families can be merged. Reads are whole; only scoring cuts them to regions.
    """
    profiles.write_profiles(output=output, **values)
