"""`pairhmm call`, and `pairhmm scatter`, which divides such a run."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import rich_click as click
from click.core import ParameterSource

from pairhmm.calling import call, scatter
from pairhmm.calling.cli_options import (
    circle_and_primer_options,
    evidence_options,
    molecule_options,
    parallel_options,
    scoring_options,
)
from pairhmm.calling.foreign_options import AlignmentsCommand
from pairhmm.calling.run_options import mixture_defaults
from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import GENOTYPES, OUTPUT
from pairhmm.cli.model_options import model_options
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE, InputFile
from pairhmm.cli.progress import region_progress
from pairhmm.errors import InputError
from pairhmm.variants.contamination import read_contamination
from pairhmm.variants.genotypes import MAX_GQ, GenotypeOptions, RecordOptions
from pairhmm.variants.header import provenance_of
from pairhmm.variants.pedigree import Pedigree
from pairhmm.variants.ploidy import ASSEMBLIES, MOST_COPIES, Ploidies, read_ploidy
from pairhmm.variants.regions import RegionOptions

EXAMPLES = (
    "pairhmm call -f ref.fa -o calls.vcf.gz sample.bam",
    "pairhmm call -f ref.fa -v candidates.vcf.gz -o calls.vcf.gz sample.bam",
    "pairhmm call -f ref.fa -r chr1:1-10,000 -@ 2 --ploidy 1 sample.bam > calls.vcf",
)

SCATTER_EXAMPLES = (
    "pairhmm scatter -f ref.fa -n 2 -o shards sample.bam",
    "pairhmm call -f ref.fa -R shards/1-of-2.bed -o 1.vcf.gz sample.bam",
    "pairhmm call -f ref.fa -R shards/2-of-2.bed -o 2.vcf.gz sample.bam",
)

_DEFAULTS = GenotypeOptions()
_RECORDS = RecordOptions()


def _named(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Parse NAME=VALUE options. Returns the values by name."""
    number = parameter.name == "sample_ploidy"
    for text in value:
        name, _, setting = text.rpartition("=")
        if not name or not setting or (number and setting not in map(str, range(MOST_COPIES + 1))):
            hint = "; --ploidy is for all samples" if number and text.isdecimal() else ""
            raise click.BadParameter(f"{text!r} is not NAME={'NUMBER' if number else 'SEX'}{hint}", context, parameter)
    return {text.rpartition("=")[0]: text.rpartition("=")[2] for text in value}


def _bands(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """Parse a list of GQ."""
    try:
        return RecordOptions(gq_bands=tuple(map(int, value.split(",")))).gq_bands
    except (ValueError, InputError):
        rule = f"{value!r} is not a list of ascending numbers from 1 to {MAX_GQ}"
        raise click.BadParameter(rule, context, parameter) from None


_WINDOW_OPTION = option(
    RegionOptions(),
    "window",
    "--haplotype-window",
    metavar="BASES",
    panel=OUTPUT,
    help="Give the haplotypes of windows of so many bases, counted from the beginning of each contig, in place of"
    " those of regions around candidates. 0: no windows.",
)


_OF_COPIES = (
    "ploidy",
    "sample_ploidy",
    "sample_sex",
    "ploidy_file",
    "pedigree",
    "snv_prior",
    "indel_prior",
    "contamination",
    "contamination_file",
    "gvcf",
    "gq_bands",
)
"""Options of genotypes, which a mixture does not have."""


def _check_mixture(context: click.Context) -> None:
    """Require that no option of genotypes is given beside --mixture."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in _OF_COPIES and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} is for genotypes, and --mixture is for fractions.")


def _pedigree(path: str) -> Pedigree:
    # Few runs need it, and all others start sooner without.
    from pairhmm.variants.pedigree import read_pedigree

    return read_pedigree(path)


def genotype_options(values: dict[str, Any]) -> GenotypeOptions:
    """Take the options of genotypes out of `values`."""
    copies = {name: int(number) for name, number in values.pop("sample_ploidy").items()}
    rules_file, pedigree = values.pop("ploidy_file"), values.pop("pedigree")
    sexes, contaminations = values.pop("sample_sex"), values.pop("contamination_file")
    rules = read_ploidy(rules_file) if rules_file is not None else ()
    return GenotypeOptions(
        ploidy=values.pop("ploidy"),
        ploidies=Ploidies(copies, sexes, rules),
        pedigree=None if pedigree is None else _pedigree(pedigree),
        snv_prior=values.pop("snv_prior"),
        indel_prior=values.pop("indel_prior"),
        contamination=values.pop("contamination"),
        contaminations={} if contaminations is None else read_contamination(contaminations),
    )


@click.command("call", cls=AlignmentsCommand, examples=EXAMPLES)
@parallel_options
@model_options
@molecule_options
@option(
    _DEFAULTS,
    "mixture",
    panel=GENOTYPES,
    help="Take each sample for a mixture of haplotypes in any shares, as viruses, mitochondria and pools are. Records"
    " have fractions with intervals in place of genotypes. By default, every read is used (--max-depth), and base"
    " qualities are kept (--base-quality-threshold).",
)
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
    help="The sex of one sample, as named in --ploidy-file. This option may be repeated.",
)
@click.option(
    "--ploidy-file",
    type=InputFile(ASSEMBLIES),
    metavar="NAME",
    panel=GENOTYPES,
    help="Ploidies by region and sex. NAME is GRCh37 or GRCh38 (sexes M and F), or a file as in bcftools: lines of"
    " CHROM, FROM, TO (1-based), SEX and PLOIDY.",
)
@click.option(
    "--ped",
    "pedigree",
    type=INPUT_FILE,
    metavar="FILE",
    panel=GENOTYPES,
    help="A pedigree (PED: family, individual, father, mother, sex, phenotype). A child is genotyped jointly with its"
    " parents where all three are samples.",
)
@option(
    _DEFAULTS,
    "snv_prior",
    metavar="X",
    panel=GENOTYPES,
    help="The prior probability that a site has a heterozygous SNV, of whichever letter.",
)
@option(
    _DEFAULTS,
    "indel_prior",
    metavar="X",
    panel=GENOTYPES,
    help="The prior probability that a site has a heterozygous indel.",
)
@option(
    _DEFAULTS,
    "contamination",
    metavar="X",
    panel=GENOTYPES,
    help="The share of the reads that are another person's, up to 0.5.",
)
@click.option(
    "--contamination-file",
    type=INPUT_FILE,
    metavar="FILE",
    panel=GENOTYPES,
    help="The contamination of samples, as 'map relate --sample-table' writes it, in place of --contamination.",
)
@output_option("The calls: .vcf, .vcf.gz or .bcf (both with an index). '-' is stdout.")
@click.option(
    "--haplotype-table",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="Write the haplotypes of a mixture with their fractions: .tsv, .tsv.gz (with an index) or .parquet.",
)
@_WINDOW_OPTION
@option(
    call.write_calls,
    "min_quality",
    "--min-qual",
    least=0,
    metavar="PHRED",
    panel=OUTPUT,
    help="Set the filter LowQual on records with a lower QUAL (Phred). GQ takes the place of QUAL where every"
    " genotype is the reference.",
)
@option(
    _RECORDS,
    "gvcf",
    panel=OUTPUT,
    help="Write a gVCF: reference blocks between the variant records, for joint genotyping.",
)
@option(_RECORDS, "mnv", panel=OUTPUT, help="Merge adjacent phased SNVs into one MNV record.")
@click.option(
    "--gq-bands",
    callback=_bands,
    default=",".join(map(str, _RECORDS.gq_bands)),
    show_default=True,
    metavar="GQ,GQ",
    panel=OUTPUT,
    help="The GQ bands of a gVCF: each number (1 to 99) begins a new band of reference blocks.",
)
@option(
    _RECORDS,
    "min_qd",
    metavar="X",
    panel=OUTPUT,
    help="Set the filter LowQD on records with a lower QD (QUAL by depth). GATK recommends 2.",
)
@option(
    _RECORDS,
    "max_fs",
    metavar="PHRED",
    panel=OUTPUT,
    help="Set the filter StrandBias on records with a higher FS (strand bias). GATK recommends 60 for SNVs.",
)
@option(
    _RECORDS,
    "max_sor",
    metavar="X",
    panel=OUTPUT,
    help="Set the filter StrandBias on records with a higher SOR (strand bias). GATK recommends 3 for SNVs.",
)
@option(
    _RECORDS,
    "min_rms_mapq",
    metavar="PHRED",
    panel=OUTPUT,
    help="Set the filter LowMQ on records with a lower MQ (root mean square of the reads' mapping qualities). GATK"
    " recommends 40 for SNVs.",
)
@click.option(
    "--no-version",
    is_flag=True,
    panel=OUTPUT,
    help="Leave version, date, command line and backend out of the header. Equal calls are then equal bytes.",
)
@click.pass_context
def command(
    context: click.RichContext,
    /,
    mixture: bool,
    output: str,
    min_quality: float,
    gvcf: bool,
    mnv: bool,
    gq_bands: tuple[int, ...],
    min_qd: float | None,
    max_fs: float | None,
    max_sor: float | None,
    min_rms_mapq: float | None,
    no_version: bool,
    **values: Any,
) -> None:
    """Call variants: find candidates in the reads, genotype them, and write VCF or BCF.

    Only variants that a sample carries are written. With -v, the candidates are the records of a VCF, and with
    --haplotypes and -r, the differences between the records of a FASTA; all of these are written.
    """
    if context.get_parameter_source("gq_bands") == ParameterSource.COMMANDLINE and not gvcf:
        raise click.UsageError("--gq-bands needs --gvcf.")
    if mixture:
        _check_mixture(context)
        given = [name for name in values if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
        values |= mixture_defaults(given, values["families"])
        if values["families"] != "none" and values["parameters"] is None:
            values["parameters"] = "copies"
    genotypes = replace(genotype_options(values), mixture=mixture)
    records = RecordOptions(
        gvcf=gvcf, mnv=mnv, gq_bands=gq_bands, min_qd=min_qd, max_fs=max_fs, max_sor=max_sor, min_rms_mapq=min_rms_mapq
    )
    options = scoring_options(values)
    with region_progress() as watch:
        call.write_calls(
            output=output,
            options=options,
            genotypes=genotypes,
            min_quality=min_quality,
            records=records,
            watch=watch,
            provenance={} if no_version else provenance_of(sys.argv[1:]),
            **values,
        )


@click.command("scatter", cls=AlignmentsCommand, examples=SCATTER_EXAMPLES)
@evidence_options
@circle_and_primer_options
@model_options
@molecule_options
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    panel=OUTPUT,
    help="The folder for the shards, 1-of-N.bed to N-of-N.bed.",
)
@option(
    scatter.write_scatter,
    "pieces",
    "-n",
    "--pieces",
    least=1,
    most=scatter.MOST_PIECES,
    required=True,
    metavar="N",
    panel=OUTPUT,
    help="The number of shards.",
)
@_WINDOW_OPTION
def scatter_command(output: str, pieces: int, haplotypes: str | None, **values: Any) -> None:
    """Divide a run of 'call' or 'likelihoods' into shards with about equally many reads.

    Give this command the candidates, regions and options of the run. Then run 'call' or 'likelihoods' on each shard
    (-R), with the same candidates and options, and merge the outputs with 'gather'. The result is that of a single run,
    because no cut lies near a candidate, or because all lie between windows.
    """
    if haplotypes is not None:
        raise click.UsageError("--haplotypes is for one region, which cannot be cut.")

    options = scoring_options(values)
    scatter.write_scatter(output=output, pieces=pieces, options=options, **values)
