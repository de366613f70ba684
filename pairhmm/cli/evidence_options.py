"""Options that `likelihoods` and `call` share, and what they are turned into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from pairhmm.cli.common import Command, backend_options, threads_option
from pairhmm.cli.numbers import Real, Whole

if TYPE_CHECKING:
    from pairhmm.evidence.inputs import RunOptions

_COUNT = Whole(1)
_SHARE = Real(0, 1)
_ALL_FLAGS = 0xFFFF
_PHRED = click.IntRange(0, 127)

_OPTIONS = (
    click.argument("alignments", nargs=-1, required=True, type=click.Path()),
    click.option("-f", "--reference", required=True, type=click.Path(), help="Reference FASTA."),
    click.option("-v", "--candidates", type=click.Path(), help="VCF or BCF of candidate variants."),
    click.option("--haplotypes", type=click.Path(), help="FASTA of haplotypes of the one region given with -r."),
    click.option("-r", "--region", "regions", multiple=True, help="chr:beg-end, 1-based inclusive; may be repeated."),
    click.option("-R", "--regions-file", type=click.Path(), help="BED of regions."),
    backend_options,
    threads_option,
    click.option("--min-mapq", type=click.IntRange(0, 255), default=20, show_default=True, help="Mapping quality."),
    click.option(
        "--exclude-flags", default="0xF04", show_default=True, help="Leave out alignments with any of these SAM flags."
    ),
    click.option("--default-base-quality", type=click.IntRange(0, 93), help="Phred, for reads without qualities."),
    click.option("--max-haplotypes", type=Whole(2), default=128, show_default=True, help="In a region."),
    click.option(
        "--max-depth", type=_COUNT, default=1000, show_default=True, help="Most reads of a sample in a region."
    ),
    click.option(
        "--join-distance",
        type=Whole(0),
        default=25,
        show_default=True,
        help="Candidates this near are joined.",
    ),
    click.option(
        "--max-span", type=_COUNT, default=300, show_default=True, help="Longest stretch of joined candidates."
    ),
    click.option("--flank", type=Whole(10), default=55, show_default=True, help="Bases on both sides of them."),
    click.option(
        "--min-base-quality",
        type=click.IntRange(0, 93),
        default=10,
        show_default=True,
        help="Discovery: Phred of a base.",
    ),
    click.option(
        "--min-alt-count",
        type=(_COUNT, _COUNT),
        default=(3, 2),
        show_default=True,
        help="Discovery: reads that show an SNV, and an indel.",
    ),
    click.option(
        "--min-alt-fraction",
        type=(_SHARE, _SHARE),
        default=(0.12, 0.08),
        show_default=True,
        help="Discovery: their share of the depth.",
    ),
    click.option(
        "--pcr-indel-model",
        type=click.Choice(["none", "hostile", "aggressive", "conservative"]),
        default="conservative",
        show_default=True,
        help="Lower indel qualities in tandem repeats, as GATK does.",
    ),
    click.option("--insertion-quality", type=_PHRED, default=45, show_default=True, help="Phred, gap opening."),
    click.option("--deletion-quality", type=_PHRED, default=45, show_default=True, help="Phred, gap opening."),
    click.option("--gap-quality", type=_PHRED, default=10, show_default=True, help="Phred, gap continuation."),
    click.option(
        "--cap-by-mapq/--no-cap-by-mapq",
        default=True,
        show_default=True,
        help="Cap base qualities by the mapping quality.",
    ),
    click.option(
        "--base-quality-threshold", type=_PHRED, default=18, show_default=True, help="Lower ones become 6; 0 for none."
    ),
    click.option(
        "--score-floor",
        type=Real(0),
        default=4.5,
        show_default=True,
        help="A read's likelihoods are at most this far (log10) apart; 0 for no floor.",
    ),
    click.option(
        "--error-rate",
        type=_SHARE,
        default=0.02,
        show_default=True,
        help="Set reads aside that have more errors than this a base, up to two; 0 for none.",
    ),
    click.option(
        "--chunk-size", type=_COUNT, default=20_000, show_default=True, help="Reads held at once; changes no result."
    ),
)


def evidence_options(command: Command) -> Command:
    """Add the shared options to a command, in the order above."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def run_options(given: dict[str, Any]) -> RunOptions:
    """Take the shared options out of `given`; what stays are those that name files, and the command's own."""
    from pairhmm.evidence.inputs import RunOptions
    from pairhmm.evidence.stream import EvidenceOptions
    from pairhmm.genomics.discovery import CandidateOptions
    from pairhmm.genomics.regions import RegionOptions
    from pairhmm.io.alignments.read_blocks import ReadSelection
    from pairhmm.models.gatk import GatkOptions

    take = given.pop
    snv_count, indel_count = take("min_alt_count")
    snv_fraction, indel_fraction = take("min_alt_fraction")
    return RunOptions(
        reads=ReadSelection(_flags(take("exclude_flags")), take("min_mapq"), take("default_base_quality")),
        model=GatkOptions(
            insertion_quality=take("insertion_quality"),
            deletion_quality=take("deletion_quality"),
            gap_quality=take("gap_quality"),
            pcr_indel_model=take("pcr_indel_model"),
            cap_by_mapping_quality=take("cap_by_mapq"),
            base_quality_threshold=take("base_quality_threshold") or None,
            score_floor=take("score_floor") or None,
            error_rate=take("error_rate") or None,
        ),
        joining=RegionOptions(join_distance=take("join_distance"), max_span=take("max_span"), flank=take("flank")),
        evidence=EvidenceOptions(max_haplotypes=take("max_haplotypes"), max_depth=take("max_depth")),
        discovery=CandidateOptions(take("min_base_quality"), snv_count, indel_count, snv_fraction, indel_fraction),
        backend=take("backend"),
        threads=take("threads"),
        chunk_size=take("chunk_size"),
    )


def _flags(text: str) -> int:
    try:
        flags = int(text, 0)
        if not 0 <= flags <= _ALL_FLAGS:
            raise ValueError
        return flags
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a number such as 3844 or 0xF04, up to 0xFFFF", param_hint="--exclude-flags"
        ) from None
