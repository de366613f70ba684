"""Options that `call`, `likelihoods`, `scatter`, `profiles` and `fit` share, and the `RunOptions` that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import rich_click as click

from pairhmm.calling.run_options import PRESETS, RunOptions
from pairhmm.cli.compute import Command, backend_options, threads_option
from pairhmm.cli.fields import either, option, pair
from pairhmm.cli.help_style import COMPUTE, DISCOVERY, INPUT, MODEL, READS, REGIONS
from pairhmm.cli.model_options import PROFILE, check_no_qualities, check_str_model, fitted_options, profile_of
from pairhmm.cli.param_types import INPUT_FILE, InputFile
from pairhmm.models.str_model import StrModel
from pairhmm.models.str_parameters import LIBRARIES, str_model_of
from pairhmm.options import keyword_types, with_keywords

_DEFAULTS = RunOptions()
_READS, _MODEL, _JOINING = _DEFAULTS.reads, _DEFAULTS.model, _DEFAULTS.joining
_EVIDENCE, _DISCOVERY, _MOLECULES = _DEFAULTS.evidence, _DEFAULTS.discovery, _DEFAULTS.molecules

_PAIRS = {
    "min_alt_count": ("min_snv_count", "min_indel_count"),
    "min_alt_fraction": ("min_snv_fraction", "min_indel_fraction"),
}
"""Options with two values, and the fields that these set."""


class _Flags(click.ParamType):  # type: ignore[type-arg]
    """SAM flags as a number, decimal or with 0x."""

    name = "flags"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The flags as a number. It must fit the two bytes that SAM has for flags."""
        try:
            flags = int(value, 0)
            if not 0 <= flags <= 0xFFFF:
                raise ValueError
        except ValueError:
            self.fail(f"{value!r} is not a number such as 3844 or 0xF04, up to 0xFFFF", param, ctx)
        return flags


def _preset(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Let the values of a preset be the defaults of options that the command has and that are not given."""
    if value is None:
        return
    # Where None switches off a step, 0 does on the command line.
    chosen = {name: 0 if one is None else one for name, one in PRESETS[value].items()}
    for name, fields in _PAIRS.items():
        if all(field in chosen for field in fields):
            chosen[name] = tuple(chosen.pop(field) for field in fields)
    context.default_map = {**(context.default_map or {}), **chosen}


_PRESET = click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    callback=_preset,
    is_eager=True,
    expose_value=False,
    metavar="NAME",
    panel=MODEL,
    help="Defaults for a sequencing technology: gap qualities, the filter of reads, caps of base qualities, and"
    " thresholds of candidates. Options that are given override them. illumina has the defaults of the options. NAME is"
    f" {either(tuple(PRESETS))}.",
)


def _str_model(context: click.Context, parameter: click.Parameter, value: str | None) -> StrModel | None:
    return None if value is None else str_model_of(value)


_ALIGNMENTS = (
    click.argument(
        "alignments",
        nargs=-1,
        required=True,
        type=INPUT_FILE,
        metavar="ALIGNMENTS...",
        panel=INPUT,
        help="BAM or CRAM files, sorted by coordinate. The samples are those of their read groups.",
    ),
    click.option(
        "-f",
        "--reference",
        required=True,
        type=INPUT_FILE,
        metavar="FILE",
        panel=INPUT,
        help="The reference genome (FASTA) that the reads are aligned to.",
    ),
)

_HAPLOTYPES = (
    click.option(
        "-v",
        "--candidates",
        type=INPUT_FILE,
        metavar="FILE",
        panel=INPUT,
        help="The candidate variants (VCF or BCF). Without them, candidates are found in the reads.",
    ),
    click.option(
        "--haplotypes",
        type=INPUT_FILE,
        metavar="FILE",
        panel=INPUT,
        help="The haplotypes (FASTA) of one region. They take the place of candidates. -r gives the region.",
    ),
)

_PLACES = (
    click.option(
        "-r",
        "--region",
        "regions",
        multiple=True,
        metavar="REGION",
        panel=REGIONS,
        help="A region to work on, as chr, chr:begin-end (1-based, both ends included), chr:begin- (to its end) or"
        " chr:position. This option may be repeated. Regions need indexed alignments. Without regions, the command"
        " works on everything.",
    ),
    click.option(
        "-R",
        "--regions-file",
        type=INPUT_FILE,
        metavar="FILE",
        panel=REGIONS,
        help="A file of regions to work on (BED, plain or gzipped; - is stdin). Regions need indexed alignments.",
    ),
)

_REGIONS = (
    option(
        _JOINING,
        "join_distance",
        metavar="BASES",
        panel=REGIONS,
        help="Candidates that are at most this many bases apart share a region.",
    ),
    option(
        _JOINING,
        "max_span",
        metavar="BASES",
        panel=REGIONS,
        help="The candidates of a region span at most this many bases, unless one candidate alone is longer.",
    ),
    option(
        _JOINING,
        "flank",
        least=_JOINING.min_flank,
        metavar="BASES",
        panel=REGIONS,
        help="Reads are scored on this many bases on both sides of a region's candidates.",
    ),
    option(
        _EVIDENCE,
        "max_haplotypes",
        metavar="N",
        panel=REGIONS,
        help="A region has at most this many haplotypes, including the reference.",
    ),
)

_SELECTION = (
    option(
        _READS,
        "min_mapq",
        metavar="PHRED",
        panel=READS,
        help="Alignments with a lower mapping quality (Phred) are left out.",
    ),
    option(
        _READS,
        "excluded_flags",
        "--exclude-flags",
        type=_Flags(),
        default=f"0x{_READS.excluded_flags:X}",
        metavar="FLAGS",
        panel=READS,
        help="Alignments with any of these SAM flags are left out.",
    ),
    option(
        _READS,
        "default_base_quality",
        metavar="PHRED",
        panel=READS,
        help="The base quality (Phred) of reads that have none. Without this option, such reads are an error.",
    ),
)

_DEPTH_AND_DISCOVERY = (
    option(
        _EVIDENCE,
        "max_depth",
        metavar="N",
        panel=READS,
        help="Downsample each region to this many reads of each sample. The reads' names decide which ones.",
    ),
    option(
        _DISCOVERY,
        "min_base_quality",
        metavar="PHRED",
        panel=DISCOVERY,
        help="Bases with a lower quality (Phred) do not count as showing an allele.",
    ),
    pair(
        _DISCOVERY,
        _PAIRS["min_alt_count"],
        "--min-alt-count",
        metavar="N N",
        panel=DISCOVERY,
        help="An allele is a candidate if at least this many reads of a sample show it. The first number is for SNVs,"
        " the second for indels.",
    ),
    pair(
        _DISCOVERY,
        _PAIRS["min_alt_fraction"],
        "--min-alt-fraction",
        metavar="X X",
        panel=DISCOVERY,
        help="An allele is a candidate if at least this fraction of a sample's reads shows it. The first number is for"
        " SNVs, the second for indels.",
    ),
    option(
        _DISCOVERY,
        "assembly",
        "--assembly/--no-assembly",
        panel=DISCOVERY,
        help="Assemble reads where they disagree with the reference, which finds alleles that no alignment shows.",
    ),
)

_GAPS = (
    option(
        _MODEL,
        "pcr_indel_model",
        metavar="NAME",
        panel=MODEL,
        help="GATK's model of PCR errors. It lowers indel qualities in tandem repeats.",
    ),
    click.option(
        "--str-model",
        type=InputFile(LIBRARIES),
        callback=_str_model,
        metavar="NAME",
        panel=MODEL,
        help=f"Gap qualities by the unit and the copies of a tandem repeat, in place of those of the other options:"
        f" {' or '.join(LIBRARIES)}, or a file that 'pairhmm calibrate-str' writes.",
    ),
    option(
        _MODEL,
        "insertion_quality",
        metavar="PHRED",
        panel=MODEL,
        help="The quality (Phred) of opening an insertion.",
    ),
    option(
        _MODEL,
        "deletion_quality",
        metavar="PHRED",
        panel=MODEL,
        help="The quality (Phred) of opening a deletion.",
    ),
    option(
        _MODEL,
        "gap_quality",
        metavar="PHRED",
        panel=MODEL,
        help="The quality (Phred) of extending an insertion or a deletion.",
    ),
    option(
        _MODEL,
        "indel_tags",
        "--indel-tags/--no-indel-tags",
        panel=MODEL,
        help="The tags BI and BD of recalibrated reads are their qualities of opening an insertion and a deletion. The"
        " profile model does not use them.",
    ),
)

_BASE_QUALITIES = (
    option(
        _MODEL,
        "cap_by_mapping_quality",
        "--cap-by-mapq/--no-cap-by-mapq",
        panel=MODEL,
        help="A read's base qualities are at most its mapping quality.",
    ),
    option(
        _MODEL,
        "base_quality_threshold",
        metavar="PHRED",
        panel=MODEL,
        help="Base qualities (Phred) below this one become 6. 0 leaves them as they are.",
    ),
)

_SCORES = (
    option(
        _MODEL,
        "score_floor",
        metavar="LOG10",
        panel=MODEL,
        help="A read's likelihoods lie at most this far (log10) below its best one. 0 sets no limit.",
    ),
    option(
        _MODEL,
        "error_rate",
        metavar="X",
        panel=MODEL,
        help="The expected rate of errors per base. A read is set aside if its best likelihood (log10) is below -4"
        " times the number of errors expected in it, which is at most 2. 0 sets no read aside.",
    ),
)

_COMPUTE = (
    threads_option(_DEFAULTS),
    option(
        _DEFAULTS,
        "chunk_size",
        metavar="N",
        panel=COMPUTE,
        help="About this many reads are held in memory at once. The number changes no result.",
    ),
)


_OF_COUNTS = (*_ALIGNMENTS, *_PLACES, *_SELECTION, *_COMPUTE)
_OF_READS = (*_ALIGNMENTS, *_PLACES, *_SELECTION, *_BASE_QUALITIES, *_COMPUTE)
_OF_SCORES = (
    *_ALIGNMENTS,
    *_HAPLOTYPES,
    *_PLACES,
    *_REGIONS,
    *_SELECTION,
    *_DEPTH_AND_DISCOVERY,
    _PRESET,
    *_GAPS,
    *_BASE_QUALITIES,
    *_SCORES,
    backend_options,
    *_COMPUTE,
)


def evidence_options(command: Command) -> Command:
    """Add the shared options to a command, in the order above."""
    return _with(command, _OF_SCORES)


def read_options(command: Command) -> Command:
    """Add those of the shared options that are about reads: which are used, and how they are prepared."""
    return _with(command, _OF_READS)


def count_options(command: Command) -> Command:
    """Add those of the shared options that choose reads."""
    return _with(command, _OF_COUNTS)


def _with(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for add in reversed(options):
        command = add(command)
    return command


def run_options(values: dict[str, Any]) -> RunOptions:
    """Take the shared options out of `values`. Options that name files, and the command's own, stay there."""
    for name, fields in _PAIRS.items():
        values |= dict(zip(fields, values.pop(name), strict=True))
    taken = {name: values.pop(name) for name in keyword_types(RunOptions) if name in values}
    (options,) = with_keywords("pairhmm", taken, _DEFAULTS)
    return options


def molecule_options(command: Command) -> Command:
    """Add --join-mates and --families to a command."""
    mates = option(
        _MOLECULES,
        "join_mates",
        panel=READS,
        help="Merge overlapping mates into one profile, the product of both. This is for the profile model.",
    )
    families = option(
        _MOLECULES,
        "families",
        metavar="NAME",
        panel=READS,
        help="UMI families: merge the reads of one molecule into one profile. With MI, they have the same tag MI; with"
        " position, the same strand and ends of their molecule. Marked duplicates are left out unless other flags are"
        " excluded (0xB04). This is for the profile model.",
    )
    return mates(families(command))


def scoring_options(values: dict[str, Any]) -> RunOptions:
    """Take the shared options, those of the model, and those that merge reads out of `values`.

    Merging reads for GATK's model is a UsageError.
    """
    model, parameters = values.pop("model"), values.pop("parameters")
    if model == PROFILE:
        check_no_qualities()
        values["profile"] = profile_of(model, parameters)
        return run_options(values)
    if values["join_mates"] or values["families"] != _MOLECULES.families:
        raise click.UsageError(f"--join-mates and --families are for --model {PROFILE}: joined reads become profiles.")
    check_str_model(values["str_model"], parameters)
    return fitted_options(run_options(values), parameters)
