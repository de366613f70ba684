"""`pairhmm call`: BAM and FASTA in, genotypes out."""

from __future__ import annotations

import sys
from typing import Any

import rich_click as click

from pairhmm.calling import call
from pairhmm.calling.cli_molecules import molecule_options, scoring_options
from pairhmm.calling.cli_options import evidence_options
from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import GENOTYPES, OUTPUT, Command
from pairhmm.cli.model_options import model_options
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.cli.progress import region_progress
from pairhmm.errors import InputError
from pairhmm.variants.genotypes import MAX_GQ, GenotypeOptions, RecordOptions
from pairhmm.variants.header import provenance_of
from pairhmm.variants.pedigree import Pedigree
from pairhmm.variants.ploidy import MOST_COPIES, Ploidies, read_ploidy

EXAMPLES = (
    "pairhmm call -f ref.fa -o calls.vcf.gz sample.bam",
    "pairhmm call -f ref.fa -v candidates.vcf.gz -o calls.vcf.gz sample.bam",
    "pairhmm call -f ref.fa -r chr1:1-10,000 -@ 2 --ploidy 1 sample.bam > calls.vcf",
)

_DEFAULTS = GenotypeOptions()
_RECORDS = RecordOptions()


def _named(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Parse NAME=VALUE options. Returns the values by name."""
    number = parameter.name == "sample_ploidy"
    for text in value:
        name, _, given = text.rpartition("=")
        if not name or not given or (number and given not in map(str, range(MOST_COPIES + 1))):
            raise click.BadParameter(f"{text!r} is not NAME={'NUMBER' if number else 'SEX'}", context, parameter)
    return {text.rpartition("=")[0]: text.rpartition("=")[2] for text in value}


def _bands(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """Parse a list of GQ."""
    try:
        return RecordOptions(gq_bands=tuple(map(int, value.split(",")))).gq_bands
    except (ValueError, InputError):
        rule = f"{value!r} is not a list of ascending numbers from 1 to {MAX_GQ}"
        raise click.BadParameter(rule, context, parameter) from None


def _pedigree(path: str) -> Pedigree:
    # Few runs need it, and all others start sooner without.
    from pairhmm.variants.pedigree import read_pedigree

    return read_pedigree(path)


@click.command("call", cls=Command, examples=EXAMPLES)
@evidence_options
@model_options
@molecule_options
@option(
    _DEFAULTS,
    "ploidy",
    most=MOST_COPIES,
    metavar="N",
    panel=GENOTYPES,
    help="The number of copies of each chromosome.",
)
@click.option(
    "--sample-ploidy",
    callback=_named,
    multiple=True,
    metavar="NAME=N",
    panel=GENOTYPES,
    help=f"The ploidy of one sample (0 to {MOST_COPIES}), in place of --ploidy. This option may be repeated.",
)
@click.option(
    "--sample-sex",
    callback=_named,
    multiple=True,
    metavar="NAME=SEX",
    panel=GENOTYPES,
    help="The sex of one sample, by its name in --ploidy-file. This option may be repeated.",
)
@click.option(
    "--ploidy-file",
    type=INPUT_FILE,
    metavar="FILE",
    panel=GENOTYPES,
    help="The ploidy of each sex on parts of chromosomes, as in bcftools: lines of CHROM, FROM, TO (1-based), SEX and"
    " PLOIDY.",
)
@click.option(
    "--ped",
    "pedigree",
    type=INPUT_FILE,
    metavar="FILE",
    panel=GENOTYPES,
    help="A PED file: family, individual, father, mother, sex, phenotype. Children have alleles of their parents, where"
    " all three are samples.",
)
@option(
    _DEFAULTS,
    "snv_prior",
    metavar="X",
    panel=GENOTYPES,
    help="The prior probability that a site has a heterozygous SNV.",
)
@option(
    _DEFAULTS,
    "indel_prior",
    metavar="X",
    panel=GENOTYPES,
    help="The prior probability that a site has a heterozygous indel.",
)
@output_option("The calls: .vcf, .vcf.gz or .bcf (both with an index). '-' is stdout.")
@option(
    call.write_calls,
    "min_quality",
    "--min-qual",
    least=0,
    metavar="PHRED",
    panel=OUTPUT,
    help="Records with a lower QUAL (Phred) get the filter LowQual. Where every genotype is the reference, GQ counts in"
    " place of QUAL.",
)
@option(
    _RECORDS,
    "gvcf",
    panel=OUTPUT,
    help="Blocks of the reference lie between the records, so that the file can be joined with those of other samples.",
)
@option(
    _RECORDS,
    "mnv",
    panel=OUTPUT,
    help="SNVs of neighbouring bases that samples have on the same chromosomes are one record.",
)
@click.option(
    "--gq-bands",
    callback=_bands,
    default=",".join(map(str, _RECORDS.gq_bands)),
    show_default=True,
    metavar="GQ,GQ",
    panel=OUTPUT,
    help="The GQ from which on each further kind of block begins, with --gvcf. Each is 1 to 99.",
)
@option(
    _RECORDS,
    "min_qd",
    metavar="X",
    panel=OUTPUT,
    help="Records with a lower QD (QUAL by depth) get the filter LowQD. GATK's advice is 2.",
)
@option(
    _RECORDS,
    "max_fs",
    metavar="PHRED",
    panel=OUTPUT,
    help="Records with a higher FS (strand bias) get the filter StrandBias. GATK's advice is 60 for SNVs.",
)
@option(
    _RECORDS,
    "max_sor",
    metavar="X",
    panel=OUTPUT,
    help="Records with a higher SOR (strand bias) get the filter StrandBias, too. GATK's advice is 3 for SNVs.",
)
@option(
    _RECORDS,
    "min_mq",
    metavar="PHRED",
    panel=OUTPUT,
    help="Records with a lower MQ (mapping quality) get the filter LowMQ. GATK's advice is 40 for SNVs.",
)
@click.option(
    "--no-version",
    is_flag=True,
    panel=OUTPUT,
    help="The header names no version, date, command or backend, so that equal calls are equal bytes.",
)
def command(
    ploidy: int,
    sample_ploidy: dict[str, str],
    sample_sex: dict[str, str],
    ploidy_file: str | None,
    pedigree: str | None,
    snv_prior: float,
    indel_prior: float,
    output: str,
    min_quality: float,
    gvcf: bool,
    mnv: bool,
    gq_bands: tuple[int, ...],
    min_qd: float | None,
    max_fs: float | None,
    max_sor: float | None,
    min_mq: float | None,
    no_version: bool,
    **given: Any,
) -> None:
    """Genotype candidate variants, and write VCF or BCF.

    The candidates are the records of a VCF (-v), or the differences between the records of a FASTA (--haplotypes, with
    -r). With neither, they are the variants that the reads show, and only those that some sample has are written.
    """
    copies = {name: int(number) for name, number in sample_ploidy.items()}
    rules = read_ploidy(ploidy_file) if ploidy_file is not None else ()
    genotypes = GenotypeOptions(
        ploidy=ploidy,
        ploidies=Ploidies(copies, sample_sex, rules),
        pedigree=None if pedigree is None else _pedigree(pedigree),
        snv_prior=snv_prior,
        indel_prior=indel_prior,
    )
    records = RecordOptions(
        gvcf=gvcf, mnv=mnv, gq_bands=gq_bands, min_qd=min_qd, max_fs=max_fs, max_sor=max_sor, min_mq=min_mq
    )
    options = scoring_options(given)
    with region_progress() as watch:
        call.write_calls(
            output=output,
            options=options,
            genotypes=genotypes,
            min_quality=min_quality,
            records=records,
            watch=watch,
            provenance={} if no_version else provenance_of(sys.argv[1:]),
            **given,
        )
