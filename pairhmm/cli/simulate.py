"""`pairhmm simulate`: a genome with known variants, and reads of it; its subcommands make what `scan` takes."""

from __future__ import annotations

import logging

import rich_click as click

from pairhmm.cli import simulate_samples, simulate_signatures
from pairhmm.cli.numbers import Real

log = logging.getLogger(__name__)


@click.group("simulate", invoke_without_command=True)
@click.option("-o", "--output", metavar="FOLDER", help="Folder for the files; made when missing.  [required]")
@click.option("--length", type=int, default=200_000, show_default=True, help="Bases of the genome.")
@click.option("--contigs", type=int, default=1, show_default=True, help="Contigs that share them evenly.")
@click.option("--coverage", type=Real(), default=30.0, show_default=True, help="Mean depth.")
@click.option("--read-length", type=int, default=150, show_default=True, help="Bases a read; reads are paired.")
@click.option("--snvs", type=int, help="Single-base variants. Default: 0.85 in 1,000 bases.")
@click.option("--indels", type=int, help="Insertions and deletions. Default: 0.15 in 1,000 bases.")
@click.option("--max-indel", type=int, default=50, show_default=True, help="Bases of the largest of them.")
@click.option("--sample", default="sample", show_default=True, help="Name in the VCF and the read group.")
@click.option("--seed", type=int, default=1, show_default=True, help="Same seed and options, same bytes.")
@click.option(
    "--genome-seed", type=int, help="Seed of the reference alone, for several samples of it. Default: --seed."
)
@click.option(
    "--profile-errors", metavar="TOML", help="Draw gaps and letters from the profile model with these parameters."
)
@click.option("--force", "overwrite", is_flag=True, help="Write over what is there.")
@click.pass_context
def command(
    context: click.Context,
    output: str | None,
    length: int,
    contigs: int,
    coverage: float,
    read_length: int,
    snvs: int | None,
    indels: int | None,
    max_indel: int,
    sample: str,
    seed: int,
    genome_seed: int | None,
    profile_errors: str | None,
    overwrite: bool,
) -> None:
    """Make a diploid genome with known variants, and paired reads of it.

    The genome has interspersed repeats, short tandem repeats and homopolymers; the reads have base qualities and the
    errors these promise. FOLDER gets reference.fa, truth.vcf.gz (phased), reads_1.fastq.gz, reads_2.fastq.gz, reads.bam
    (the true alignments) and their indexes. The number of reads and variants is printed on stderr.
    """
    if context.invoked_subcommand is not None:
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.", context)

    from pairhmm.commands.simulate import simulate

    made = simulate(
        output,
        length=length,
        contigs=contigs,
        coverage=coverage,
        read_length=read_length,
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


command.add_command(simulate_signatures.command)
command.add_command(simulate_samples.command)
