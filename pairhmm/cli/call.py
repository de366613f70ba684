"""`pairhmm call`: BAM and FASTA in, genotypes out."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import rich_click as click

from pairhmm.cli.evidence_options import evidence_options, run_options
from pairhmm.cli.numbers import Real
from pairhmm.cli.progress import region_progress

_MOST_COPIES = 20


def _named(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """What NAME=VALUE options say, by name."""
    number = parameter.name == "sample_ploidy"
    for text in value:
        name, _, given = text.rpartition("=")
        if not name or not given or (number and given not in map(str, range(_MOST_COPIES + 1))):
            raise click.BadParameter(f"{text!r} is not NAME={'NUMBER' if number else 'SEX'}", context, parameter)
    return {text.rpartition("=")[0]: text.rpartition("=")[2] for text in value}


@click.command("call")
@click.option(
    "-o", "--output", default="-", show_default=True, help="Calls: .vcf, .vcf.gz or .bcf (with index); - is stdout."
)
@click.option("--ploidy", type=click.IntRange(1, _MOST_COPIES), default=2, show_default=True, help="Chromosome copies.")
@click.option(
    "--sample-ploidy", callback=_named, multiple=True, metavar="NAME=N", help="Of one sample; may be repeated."
)
@click.option("--sample-sex", callback=_named, multiple=True, metavar="NAME=SEX", help="As --ploidy-file names it.")
@click.option(
    "--ploidy-file", metavar="FILE", help="Lines CHROM FROM TO SEX PLOIDY (1-based), as bcftools has them: of sexes."
)
@click.option(
    "--min-qual",
    type=Real(0),
    default=30.0,
    show_default=True,
    help="A lower QUAL is LowQual; where every genotype is the reference, a lower GQ.",
)
@click.option(
    "--snv-prior",
    type=Real(1e-12, 0.1),
    default=1e-3,
    show_default=True,
    help="Prior of a heterozygous SNV.",
)
@click.option(
    "--indel-prior",
    type=Real(1e-12, 0.1),
    default=1.25e-4,
    show_default=True,
    help="Prior of a heterozygous indel.",
)
@click.option("--no-version", is_flag=True, help="No provenance in the header: reproducible bytes.")
@evidence_options
def command(
    output: str,
    ploidy: int,
    sample_ploidy: dict[str, str],
    sample_sex: dict[str, str],
    ploidy_file: str | None,
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
    from pairhmm.commands.call import write_calls
    from pairhmm.genomics.genotypes import GenotypeOptions
    from pairhmm.genomics.ploidy import Ploidies
    from pairhmm.io.files.destinations import check_apart
    from pairhmm.io.variants.ploidy import read_ploidy

    check_apart([ploidy_file], [("-o", output)])
    options = run_options(given)
    with region_progress() as watch:
        write_calls(
            output=output,
            options=options,
            genotypes=GenotypeOptions(
                ploidy=ploidy,
                ploidies=Ploidies(
                    {name: int(copies) for name, copies in sample_ploidy.items()},
                    sample_sex,
                    read_ploidy(ploidy_file) if ploidy_file is not None else (),
                ),
                snv_prior=snv_prior,
                indel_prior=indel_prior,
            ),
            min_quality=min_qual,
            watch=watch,
            provenance={} if no_version else _provenance(),
            **given,
        )


def _provenance() -> dict[str, str]:
    from datetime import date
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("pairhmm")
    except PackageNotFoundError:
        # Run from a checkout that was not installed.
        number = "unknown"
    return {
        "fileDate": f"{date.today():%Y%m%d}",
        "source": f"pairhmm {number}",
        "pairhmmVersion": number,
        "pairhmmCommand": shlex.join(sys.argv[1:]),
    }
