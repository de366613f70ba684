"""`pairhmm simulate`: a genome with known variants, and reads of it. Subcommands make input of other commands."""

from __future__ import annotations

import logging

import rich_click as click

from pairhmm.cli.fields import option
from pairhmm.cli.help_style import GENOME, OUTPUT, READS, CommandGroup
from pairhmm.simulate import api
from pairhmm.simulate.cli_inputs import cohort, samples, signal, signatures

log = logging.getLogger(__name__)

EXAMPLES = (
    "pairhmm simulate -o demo --length 100000",
    "pairhmm simulate -o second --length 100000 --seed 2 --genome-seed 1",
)

_RATES = {"snvs": 1000 * api.SNVS_PER_BASE, "indels": 1000 * api.INDELS_PER_BASE}


@click.group("simulate", cls=CommandGroup, invoke_without_command=True, examples=EXAMPLES)
@option(
    api.simulate,
    "length",
    metavar="BASES",
    panel=GENOME,
    help=f"The length of the genome: {api.MIN_CONTIG:,} to {api.MAX_CONTIG:,} bases a contig.",
)
@option(
    api.simulate,
    "contigs",
    metavar="N",
    panel=GENOME,
    help="The number of contigs, 1 or more, of about equal length.",
)
@option(
    api.simulate,
    "snvs",
    metavar="N",
    panel=GENOME,
    help=f"The number of SNVs. Without this option, there are {_RATES['snvs']:g} in 1,000 bases.",
)
@option(
    api.simulate,
    "indels",
    metavar="N",
    panel=GENOME,
    help=f"The number of insertions and deletions. Without this option, there are {_RATES['indels']:g} in 1,000 bases.",
)
@option(
    api.simulate,
    "max_indel",
    metavar="BASES",
    panel=GENOME,
    help="The length of the longest insertion or deletion. It is less than --read-length.",
)
@option(
    api.simulate,
    "seed",
    metavar="N",
    panel=GENOME,
    help="The seed of the random numbers. The same seed and options give the same bytes.",
)
@option(
    api.simulate,
    "genome_seed",
    metavar="N",
    panel=GENOME,
    help="The seed of the reference alone. Samples with the same one share their reference. Without this option, it"
    " is --seed.",
)
@option(
    api.simulate,
    "coverage",
    metavar="X",
    panel=READS,
    help=f"The mean depth of the reads, up to {api.MAX_COVERAGE:,}.",
)
@option(
    api.simulate,
    "read_length",
    metavar="BASES",
    panel=READS,
    help="The length of a read: {} to {} bases. Reads are paired.".format(*api.READ_LENGTHS),
)
@option(
    api.simulate,
    "fragment_length",
    metavar="BASES",
    panel=READS,
    help="The mean insert size. Mates overlap if their fragment is shorter than two reads. No fragment is shorter than"
    " a read.",
)
@option(
    api.simulate,
    "fragment_spread",
    metavar="BASES",
    panel=READS,
    help="The standard deviation of the insert size.",
)
@option(
    api.simulate,
    "sample",
    metavar="NAME",
    panel=READS,
    help="The name of the sample, in the VCF and in the read group.",
)
@option(
    api.simulate,
    "profile_errors",
    metavar="NAME",
    panel=READS,
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
@option(
    api.simulate,
    "overwrite",
    "--force",
    panel=OUTPUT,
    help="Replace existing files.",
)
@click.pass_context
def command(
    context: click.Context,
    length: int,
    contigs: int,
    snvs: int | None,
    indels: int | None,
    max_indel: int,
    seed: int,
    genome_seed: int | None,
    coverage: float,
    read_length: int,
    fragment_length: int,
    fragment_spread: int,
    sample: str,
    profile_errors: str | None,
    output: str | None,
    overwrite: bool,
) -> None:
    """Simulate a diploid genome with known variants, and paired reads of it.

    The genome has interspersed repeats, short tandem repeats and homopolymers. The reads have base qualities, and
    errors at the rates that these qualities state. The folder gets reference.fa, truth.vcf.gz (phased),
    reads_1.fastq.gz, reads_2.fastq.gz and reads.bam (the true alignments), with their indexes.
    """
    if context.invoked_subcommand is not None:
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.", context)

    made = api.simulate(
        output,
        length=length,
        contigs=contigs,
        coverage=coverage,
        read_length=read_length,
        fragment_length=fragment_length,
        fragment_spread=fragment_spread,
        snvs=snvs,
        indels=indels,
        max_indel=max_indel,
        sample=sample,
        seed=seed,
        genome_seed=genome_seed,
        profile_errors=profile_errors,
        overwrite=overwrite,
    )
    log.info("%d SNVs, %d indels, %d read pairs: %s", made.snvs, made.indels, made.pairs, made.bam.parent)


command.add_command(signatures)
command.add_command(samples)
command.add_command(signal)
command.add_command(cohort)
