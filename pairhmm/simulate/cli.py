"""`pairhmm simulate`: a genome with known variants, and reads of it. Subcommands make input of other commands."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import rich_click as click

from pairhmm.cli.fields import option
from pairhmm.cli.help_style import GENOME, OUTPUT, READS, CommandGroup
from pairhmm.plurals import counted
from pairhmm.simulate import api
from pairhmm.simulate.cli_inputs import cohort, samples, signal, signatures

log = logging.getLogger(__name__)

genome_option = partial(option, api.simulate, panel=GENOME)
reads_option = partial(option, api.simulate, panel=READS)

EXAMPLES = (
    "pairhmm simulate -o demo --length 100000",
    "pairhmm simulate -o second --length 100000 --seed 2 --genome-seed 1",
)


def _per_kilobase(rate: float) -> str:
    return f"{1000 * rate:g} per 1,000 bases"


@click.group("simulate", cls=CommandGroup, invoke_without_command=True, examples=EXAMPLES)
@genome_option(
    "length",
    metavar="BASES",
    help=f"The length of the genome: {api.MIN_CONTIG:,} to {api.MAX_CONTIG:,} bases a contig.",
)
@genome_option("contigs", metavar="N", help="The number of contigs, 1 or more, of about equal length.")
@genome_option("snvs", metavar="N", show_default=_per_kilobase(api.SNVS_PER_BASE), help="The number of SNVs.")
@genome_option(
    "indels",
    metavar="N",
    show_default=_per_kilobase(api.INDELS_PER_BASE),
    help="The number of insertions and deletions.",
)
@genome_option(
    "max_indel", metavar="BASES", help="The maximum length of an insertion or deletion. It is less than --read-length."
)
@genome_option(
    "seed", metavar="N", help="The seed of the random numbers. The same seed and options give the same bytes."
)
@genome_option(
    "genome_seed",
    metavar="N",
    show_default="--seed",
    help="The seed of the reference alone. Samples with the same genome seed share their reference.",
)
@reads_option("coverage", metavar="X", help=f"The mean depth of the reads, up to {api.MAX_COVERAGE:,}.")
@reads_option(
    "read_length",
    metavar="BASES",
    help="The length of a read: {} to {} bases. Reads are paired.".format(*api.READ_LENGTHS),
)
@reads_option(
    "fragment_length",
    metavar="BASES",
    help="The mean insert size. Mates overlap if their fragment is shorter than two reads. No fragment is shorter than"
    " a read.",
)
@reads_option("fragment_spread", metavar="BASES", help="The standard deviation of the insert size.")
@reads_option("sample", metavar="NAME", help="The name of the sample, in the VCF and in the read group.")
@reads_option(
    "profile_errors",
    metavar="NAME",
    help="Draw indel and substitution errors from the profile model with these parameters (a TOML file, or"
    " 'normalised'), in addition to the errors that base qualities state.",
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    panel=OUTPUT,
    help="The output folder. It is created if missing. [required]",
)
@option(api.simulate, "overwrite", "--force", panel=OUTPUT, help="Overwrite existing output files.")
@click.pass_context
def command(context: click.Context, /, output: str | None, **options: Any) -> None:
    """Simulate a diploid genome with known variants, and paired reads of it.

    The genome has interspersed repeats, short tandem repeats and homopolymers. The reads have base qualities, and
    errors at the rates that these qualities state. The folder gets reference.fa, truth.vcf.gz (phased),
    reads_1.fastq.gz, reads_2.fastq.gz and reads.bam (the true alignments), with their indexes.
    """
    if context.invoked_subcommand is not None:
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.", context)

    data = api.simulate(output, **options)
    variants = f"{counted(data.snvs, 'SNV')}, {counted(data.indels, 'indel')}"
    log.info("%s, %s: %s", variants, counted(data.pairs, "read pair"), data.bam.parent)


command.add_command(signatures)
command.add_command(samples)
command.add_command(signal)
command.add_command(cohort)
