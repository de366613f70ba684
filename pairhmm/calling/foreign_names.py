"""Names that other tools, or other commands, have for our options, for the users who come from them.

Those of tools are of GATK 4, bcftools 1.2x, freebayes 1.3, samtools and DeepVariant, as their help pages have them.
"""

from __future__ import annotations

_ALIGNMENTS = "alignments"
_FILE = "Alignments are named without an option, behind all options: sample.bam."
_PLACES = "Use -r for a region such as chr1:1-10,000, and -R for a BED file."

HINTS: dict[tuple[str, ...], tuple[str, str]] = {
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
    ("--mixture",): (
        "position",
        "Genotypes are explained, and a mixture has none: see the fractions, QUAL and FILTER of its records.",
    ),
    ("-contamination", "--contamination-fraction-to-filter"): ("--contamination", "Use --contamination."),
    ("--native-pair-hmm-threads", "--num_shards"): ("--threads", "Use -@."),
    ("--model_type",): ("--preset", "Use --preset: illumina, hifi or ont."),
}
"""Foreign names, the parameter of ours that takes their place, and what to say."""

_KEYWORDS = {
    "gvcf": "records",
    "min_alt_count": "min_snv_count",
    "min_alt_fraction": "min_snv_fraction",
    "min_rms_mapq": "min_mapq",
    "preset": "preset_options",
    "region": "regions",
}
"""Arguments that have other names than the options of the command line."""


def keyword_of(name: str) -> str | None:
    """The argument for which another tool, or the command line, has an option of this name; None where none has."""
    options = (ours for names, (ours, _) in HINTS.items() if name in map(_argument, names))
    ours = _argument(next(options, name))
    return _KEYWORDS.get(ours, ours if ours != name else None)


def _argument(option: str) -> str:
    return option.lstrip("-").replace("-", "_")
