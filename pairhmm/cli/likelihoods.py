"""`pairhmm likelihoods`: BAM and FASTA in, a table of read x haplotype likelihoods out."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.cli.evidence_options import evidence_options, run_options
from pairhmm.cli.progress import region_progress


@click.command("likelihoods")
@click.option(
    "-o", "--output", default="-", show_default=True, help="Table: .tsv, .tsv.gz (with index) or .parquet; - is stdout."
)
@click.option(
    "--prepared",
    is_flag=True,
    help="Write likelihoods as genotypes use them: floored, reads that fit nothing left out.",
)
@click.option(
    "--only-listed",
    is_flag=True,
    help="With -v, leave out the haplotypes with alleles that reads show but no candidate has.",
)
@evidence_options
def command(output: str, prepared: bool, only_listed: bool, **given: Any) -> None:
    """Write log10 P(read | haplotype) for the reads of each region of ALIGNMENTS (BAM or CRAM, sorted).

    Haplotypes are combinations of the candidates of a VCF (-v), the records of a FASTA (--haplotypes, with -r), or,
    with neither, combinations of candidates that the reads show. A companion, NAME.haplotypes.EXT, describes them.
    """
    from pairhmm.commands.likelihoods import write_likelihoods

    if only_listed and given["candidates"] is None:
        raise click.UsageError("--only-listed needs a list of candidates: give -v")
    options = run_options(given)
    with region_progress() as watch:
        write_likelihoods(
            output=output, prepared=prepared, only_listed=only_listed, options=options, watch=watch, **given
        )
