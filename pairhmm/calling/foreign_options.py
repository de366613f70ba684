"""Names that other tools have for our options, for the users who come from them.

They are of GATK 4, bcftools 1.2x, freebayes 1.3, samtools and DeepVariant, as their help pages have them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import rich_click as click

from pairhmm.cli.help_style import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALIGNMENTS = "alignments"
_FILE = "Alignments are named without an option, behind all options: sample.bam."
_PLACES = "Use -r for a region such as chr1:1-10,000, and -R for a BED file."

_HINTS: dict[tuple[str, ...], tuple[str, str]] = {
    ("-I", "--input", "-b", "--bam", "--reads"): (_ALIGNMENTS, _FILE),
    ("-ref", "-reference", "--ref", "--fasta-ref", "--fasta-reference"): ("--reference", "The reference is -f."),
    ("-L", "--intervals", "-t", "-T", "--targets", "--targets-file", "--regions"): ("--region", _PLACES),
    ("-O", "--output-type", "--output_vcf"): (
        "--output",
        "-o names the file, and the file's ending its format: .vcf, .vcf.gz or .bcf.",
    ),
    ("-V", "-alleles", "--alleles", "--variant-input", "--vcf"): ("--candidates", "Candidate variants are -v."),
    ("-ERC", "--emit-ref-confidence", "-g", "--output_gvcf"): ("--gvcf", "Use --gvcf."),
    ("-ploidy", "-p"): ("--ploidy", "Use --ploidy."),
    ("-S", "--samples-file", "-sn", "--sample-name"): ("--samples", "-s names the samples: -s NAME,NAME."),
    ("-ip", "--interval-padding"): ("--padding", "Use --padding."),
    ("-m", "--min-MQ", "--min-mapping-quality", "--minimum-mapping-quality"): (
        "--min-mapq",
        "The lowest mapping quality of a read is --min-mapq.",
    ),
    ("--min-mq",): (
        "--min-rms-mapq",
        "The lowest mapping quality of a read is --min-mapq. The filter on INFO/MQ is --min-rms-mapq.",
    ),
    ("-Q", "--min-BQ", "-mbq", "--min-base-quality-score"): (
        "--min-base-quality",
        "The lowest quality of a base that supports an allele is --min-base-quality.",
    ),
    ("-C", "--min-alternate-count"): ("--min-alt-count", "Use --min-alt-count."),
    ("-F", "--min-alternate-fraction"): ("--min-alt-fraction", "Use --min-alt-fraction."),
    ("-d",): ("--max-depth", "Use --max-depth."),
    ("-contamination", "--contamination-fraction-to-filter"): ("--contamination", "Use --contamination."),
    ("--native-pair-hmm-threads", "--num_shards"): ("--threads", "Use -@."),
    ("--model_type",): ("--preset", "Use --preset: illumina, hifi or ont."),
}
"""Foreign names, the parameter of ours that takes their place, and what to say."""


class AlignmentsCommand(Command):
    """A command that reads alignments. It knows other tools' names of its options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Another tool's option is a UsageError that names ours."""
        for name, value in _options(args):
            hint = self._hint(name, value)
            if hint is not None:
                raise click.UsageError(hint, ctx)
        return super().parse_args(ctx, args)

    def _hint(self, name: str, value: str) -> str | None:
        if name == "-R" and re.search(r"\.(fa|fna|fasta)(\.gz)?$", value):
            return f"-R takes a BED file, and {value} is a reference: that is -f."
        own = {flag for param in self.params for flag in (param.name, *param.opts, *param.secondary_opts)}
        if name in own:
            return None
        return next(
            (
                f"No such option '{name}'. {hint}"
                for names, (target, hint) in _HINTS.items()
                if name in names and target in own
            ),
            None,
        )


def _options(args: list[str]) -> Iterator[tuple[str, str]]:
    """The arguments that look like options, each with what follows it or is assigned to it."""
    end = args.index("--") if "--" in args else len(args)
    for arg, after in zip(args[:end], [*args[1:], ""], strict=False):
        if arg.startswith("-"):
            name, is_assigned, value = arg.partition("=")
            yield name, value if is_assigned else after
