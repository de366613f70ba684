"""`pairhmm call`: BAM and FASTA in, genotypes out."""

from __future__ import annotations

import sys
from typing import Any

import rich_click as click

from pairhmm.cli.evidence_options import evidence_options, run_options
from pairhmm.cli.progress import region_progress


@click.command("call")
@click.option(
    "-o", "--output", default="-", show_default=True, help="Calls: .vcf, .vcf.gz or .bcf (with index); - is stdout."
)
@click.option("--ploidy", type=click.IntRange(1, 20), default=2, show_default=True, help="Chromosome copies.")
@click.option(
    "--min-qual", type=click.FloatRange(min=0), default=30.0, show_default=True, help="A lower QUAL is LowQual."
)
@click.option(
    "--snv-prior",
    type=click.FloatRange(1e-12, 0.1),
    default=1e-3,
    show_default=True,
    help="Prior of a heterozygous SNV.",
)
@click.option(
    "--indel-prior",
    type=click.FloatRange(1e-12, 0.1),
    default=1.25e-4,
    show_default=True,
    help="Prior of a heterozygous indel.",
)
@click.option("--no-version", is_flag=True, help="No provenance in the header: reproducible bytes.")
@evidence_options
def command(
    output: str,
    ploidy: int,
    min_qual: float,
    snv_prior: float,
    indel_prior: float,
    no_version: bool,
    **given: Any,
) -> None:
    """Genotype the samples of ALIGNMENTS (BAM or CRAM, sorted).

    Each record of a VCF of candidates (-v) is genotyped; or what the records of a FASTA (--haplotypes, with -r) differ
    in; or, with neither, candidates that the reads show, of which those are written that some sample has.
    """
    from pairhmm.call import write_calls
    from pairhmm.genotypes import GenotypeOptions

    options = run_options(given)
    with region_progress() as watch:
        write_calls(
            output=output,
            options=options,
            genotypes=GenotypeOptions(
                ploidy=ploidy,
                snv_prior=snv_prior,
                indel_prior=indel_prior,
            ),
            min_quality=min_qual,
            watch=watch,
            provenance={} if no_version else _provenance(),
            **given,
        )


def _provenance() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("pairhmm")
    except PackageNotFoundError:
        # Run from a checkout that was not installed.
        number = "unknown"
    return {"pairhmmVersion": number, "pairhmmCommand": " ".join(sys.argv[1:])}
