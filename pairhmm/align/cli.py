"""`pairhmm align`: sequences in, scores and alignments out."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import Any

import rich_click as click

import pairhmm
from pairhmm.align import files as align
from pairhmm.align.haplotypes import write_haplotype_variants
from pairhmm.align.scoring import LARGEST_SCORE, PRESETS, Scoring
from pairhmm.cli.compute import device_list_options, threads_option
from pairhmm.cli.fields import Decorator, default_of, either, option, output_option
from pairhmm.cli.help_style import COMPUTE, INPUT, MODEL, OUTPUT, REGIONS, Command
from pairhmm.cli.param_types import INPUT_FILE, Size, Whole
from pairhmm.cli.progress import byte_progress
from pairhmm.engine import Choice
from pairhmm.options import rules_of
from pairhmm.variants.header import provenance_of

EXAMPLES = (
    "pairhmm align --cigar reads.fastq haplotypes.fa",
    "pairhmm align --all --preset edit -o distances.tsv reads.fastq haps.fa",
    "pairhmm align --vcf -f ref.fa -r chr1:101-400 -o haps.vcf.gz haps.fa",
)

_DEFAULTS = Scoring()
_MODES, _OVERHANGS = (rules_of(Scoring)[name].choices for name in ("mode", "overhang"))


def _score_option(name: str, least: int, most: int, what: str) -> Decorator:
    """An option for a score, whose default is that of the preset."""
    return click.option(
        f"--{name.replace('_', '-')}",
        type=Whole(least, most),
        metavar="N",
        panel=MODEL,
        show_default=f"{getattr(_DEFAULTS, name)}, or the preset's",
        help=f"The score of {what}.",
    )


@click.command("align", cls=Command, examples=EXAMPLES)
@click.argument(
    "queries",
    type=INPUT_FILE,
    panel=INPUT,
    help="The queries: FASTA or FASTQ, plain or gzipped. '-' is stdin.",
)
@click.argument(
    "targets",
    type=INPUT_FILE,
    required=False,
    panel=INPUT,
    help="The targets, in the same formats. Queries and targets are aligned in pairs: first to first, and so on. Not"
    " with --vcf.",
)
@click.option("--all", "every", is_flag=True, panel=INPUT, help="Align every query to every target.")
@click.option(
    "-f",
    "--reference",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The reference genome (FASTA), for --vcf.",
)
@click.option(
    "-r",
    "--region",
    metavar="REGION",
    panel=REGIONS,
    help="The region that the haplotypes span, for --vcf: chr:begin-end, 1-based inclusive.",
)
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    metavar="NAME",
    panel=MODEL,
    help="A set of scores and a mode. 'edit' is the edit distance. 'gatk-haplotype' has GATK's scores for a haplotype"
    " on the reference, 'gatk-read' those for a read on its haplotype. Other options override single values.",
)
@click.option(
    "--mode",
    type=click.Choice(_MODES),
    metavar="MODE",
    panel=MODEL,
    show_default=f"{_DEFAULTS.mode}, or the preset's",
    help="The alignment mode. 'global' aligns both sequences end to end. 'semi-global' aligns the whole query within"
    " the target. 'gatk' leaves the ends of both free, by the rules of GATK.",
)
@_score_option("match", 0, LARGEST_SCORE, "two equal letters")
@_score_option("mismatch", -LARGEST_SCORE, 0, "two different letters")
@_score_option("gap_open", -LARGEST_SCORE, 0, "a gap's first letter")
@_score_option("gap_extend", -LARGEST_SCORE, 0, "each further letter of a gap")
@click.option(
    "--overhang",
    type=click.Choice(_OVERHANGS),
    metavar="NAME",
    panel=MODEL,
    show_default=_DEFAULTS.overhang,
    help=f"The treatment of unaligned ends in mode 'gatk' (GATK's SWOverhangStrategy): {either(_OVERHANGS)}.",
)
@device_list_options
@threads_option(align.align_files)
@option(
    align.align_files,
    "chunk_size",
    type=Size(),
    default=Size.text(default_of(align.align_files, "chunk_size")),
    metavar="SIZE",
    panel=COMPUTE,
    help="The amount of text of each file held in memory, in bytes or with K, M or G. Results do not depend on it.",
)
@output_option("The alignments: .tsv, .tsv.gz, .paf, .paf.gz, .sam or .bam. '-' is TSV to stdout.")
@option(
    align.align_files,
    "cigars",
    "--cigar",
    panel=OUTPUT,
    help="Fill the columns cigar, target_start and target_end of the table. PAF, SAM and BAM always have them.",
)
@click.option(
    "--vcf",
    is_flag=True,
    panel=OUTPUT,
    help="Write variants in place of alignments: .vcf, .vcf.gz or .bcf. QUERIES are haplotypes of the region -r of"
    " -f, and are aligned as in GATK's HaplotypeCaller.",
)
@click.option(
    "--no-version",
    is_flag=True,
    panel=OUTPUT,
    help="Leave version and command line out of the header of SAM, BAM or VCF. Equal results are then equal bytes.",
)
def command(
    queries: str,
    targets: str | None,
    every: bool,
    reference: str | None,
    region: str | None,
    preset: str | None,
    overhang: str | None,
    backend: Choice,
    threads: int,
    chunk_size: int,
    output: str,
    cigars: bool,
    vcf: bool,
    no_version: bool,
    **scores: Any,
) -> None:
    """Align sequences pairwise, without heuristics, and write scores or alignments.

    A gap of k letters scores gap-open + (k - 1) * gap-extend. Equal letters match; N matches only N. --vcf writes
    the variants of haplotypes in place of alignments. docs/align.md describes the outputs.
    """
    chosen: dict[str, Any] = {
        name: value for name, value in (scores | {"overhang": overhang}).items() if value is not None
    }
    if vcf:
        if targets or every or cigars or preset or chosen:
            raise click.UsageError("--vcf takes no TARGETS, and no option for other outputs or scores.")
        if not (reference and region):
            raise click.UsageError("--vcf needs the reference (-f) and the region of the haplotypes (-r).")
        lines = {} if no_version else provenance_of(sys.argv[1:])
        write_haplotype_variants(queries, reference, region, output, provenance=lines)
        return
    if not targets:
        raise click.UsageError("Missing argument 'TARGETS'.")
    if reference or region:
        raise click.UsageError("-f and -r need --vcf.")
    start = PRESETS[preset] if preset else _DEFAULTS
    if overhang is not None and chosen.get("mode", start.mode) != "gatk":
        raise click.UsageError("--overhang needs --mode gatk, or a preset of GATK.")
    with byte_progress((queries,) if every else (queries, targets)) as watch:
        align.align_files(
            queries,
            targets,
            output,
            scoring=replace(start, **chosen),
            every=every,
            cigars=cigars,
            backend=backend,
            threads=threads,
            chunk_size=chunk_size,
            provenance={} if no_version else {"VN": pairhmm.__version__, "CL": shlex.join(["pairhmm", *sys.argv[1:]])},
            watch=watch,
        )
