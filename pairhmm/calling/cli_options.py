"""Options that `call`, `likelihoods`, `scatter`, `profiles` and `fit` share, and the `RunOptions` that they make."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from typing import Any

import rich_click as click

from pairhmm.alignments.primers import Primers, read_primers
from pairhmm.calling.run_options import PRESETS, RunOptions
from pairhmm.cli.compute import Command, backend_options, threads_option
from pairhmm.cli.fields import either, option
from pairhmm.cli.help_style import COMPUTE, DISCOVERY, INPUT, MODEL, READS, REGIONS
from pairhmm.cli.model_options import PROFILE, check_no_qualities, check_str_model, fitted_options, profile_of
from pairhmm.cli.param_types import INPUT_FILE, InputFile
from pairhmm.files.text_lines import read_lines
from pairhmm.models.str_model import StrModel
from pairhmm.models.str_parameters import LIBRARIES, str_model_of
from pairhmm.options import keyword_types, with_keywords

_DEFAULTS = RunOptions()
_READS, _MODEL, _JOINING = _DEFAULTS.reads, _DEFAULTS.model, _DEFAULTS.joining
_EVIDENCE, _DISCOVERY, _MOLECULES = _DEFAULTS.evidence, _DEFAULTS.discovery, _DEFAULTS.molecules


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
    context.default_map = {**(context.default_map or {}), **chosen}


_PRESET = click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    callback=_preset,
    is_eager=True,
    expose_value=False,
    metavar="NAME",
    panel=MODEL,
    help="Defaults for a sequencing technology: gap qualities, read filters, base quality caps and thresholds of"
    f" candidates. Other options override them. 'illumina' keeps all defaults. NAME is {either(tuple(PRESETS))}.",
)


def _str_model(context: click.Context, parameter: click.Parameter, value: str | None) -> StrModel | None:
    return None if value is None else str_model_of(value)


_LISTED = "alignments of lists"


def _bam_list(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        lines = [line.strip() for line in read_lines(value)]
        files = (INPUT_FILE.convert(line, parameter, context) for line in lines if line)
        context.meta[_LISTED] = tuple(files)


def _with_listed(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The alignments of the command line, and behind them those of --bam-list."""
    files = (*value, *context.meta.get(_LISTED, ()))
    if not files:
        raise click.MissingParameter(ctx=context, param=parameter)
    return files


def _names(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(name for text in value for name in next(csv.reader([text], strict=True)) or [text])
    except csv.Error as error:
        raise click.BadParameter(f"{error}; quote names with commas, and double their quotes") from error


def _primers(context: click.Context, parameter: click.Parameter, value: str | None) -> Primers | None:
    return None if value is None else read_primers(value)


_ALIGNMENTS = (
    click.argument(
        "alignments",
        nargs=-1,
        callback=_with_listed,
        type=INPUT_FILE,
        metavar="ALIGNMENTS...",
        panel=INPUT,
        help="BAM or CRAM files, sorted by coordinate. Read groups (SM) name the samples.",
    ),
    click.option(
        "--bam-list",
        type=INPUT_FILE,
        callback=_bam_list,
        is_eager=True,
        expose_value=False,
        metavar="FILE",
        panel=INPUT,
        help="Take more alignments from a text file with one path a line.",
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
        help="The candidate variants (VCF or BCF). By default, candidates are discovered in the reads.",
    ),
    click.option(
        "--haplotypes",
        type=INPUT_FILE,
        metavar="FILE",
        panel=INPUT,
        help="The haplotypes (FASTA) of one region, in place of candidates. The region is that of -r.",
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
        help="Work on this region: chr, chr:begin-end (1-based, inclusive), chr:begin- (to the end of chr) or"
        " chr:position. This option may be repeated. Regions need indexed alignments. By default, the command"
        " works on the whole genome.",
    ),
    click.option(
        "-R",
        "--regions-file",
        type=INPUT_FILE,
        metavar="FILE",
        panel=REGIONS,
        help="Work on the regions of a file: BED, Picard's interval list, or the records of a VCF, plain or gzipped."
        " '-' is stdin. Regions need indexed alignments.",
    ),
    option(_DEFAULTS, "padding", metavar="BASES", panel=REGIONS, help="Extend each region by this many bases."),
)

_REGIONS = (
    option(
        _JOINING,
        "join_distance",
        metavar="BASES",
        panel=REGIONS,
        help="Candidates at most this many bases apart share a region.",
    ),
    option(
        _JOINING,
        "max_span",
        metavar="BASES",
        panel=REGIONS,
        help="A region's candidates span at most this many bases, unless a single candidate is longer.",
    ),
    option(
        _JOINING,
        "flank",
        least=_JOINING.min_flank,
        metavar="BASES",
        panel=REGIONS,
        help="Score reads on this many bases on both sides of a region's candidates.",
    ),
    option(
        _EVIDENCE,
        "max_haplotypes",
        metavar="N",
        panel=REGIONS,
        help="The maximum number of haplotypes of a region, the reference included.",
    ),
)

_SELECTION = (
    click.option(
        "-s",
        "--samples",
        multiple=True,
        callback=_names,
        metavar="NAME,NAME",
        panel=READS,
        help="Use the reads of these samples only. Quote those that have commas: '\"a,b\",c'. This option may be"
        " repeated.",
    ),
    option(
        _READS,
        "min_mapq",
        metavar="PHRED",
        panel=READS,
        help="Leave out alignments with a lower mapping quality (Phred).",
    ),
    option(
        _READS,
        "excluded_flags",
        "--exclude-flags",
        type=_Flags(),
        default=f"0x{_READS.excluded_flags:X}",
        metavar="FLAGS",
        panel=READS,
        help="Leave out alignments with any of these SAM flags.",
    ),
    option(
        _READS,
        "default_base_quality",
        metavar="PHRED",
        panel=READS,
        help="The base quality (Phred) of reads without base qualities. Without this option, such reads are an error.",
    ),
)

_CIRCLES_AND_PRIMERS = (
    option(
        _READS,
        "circular",
        type=str,
        multiple=True,
        metavar="NAME",
        panel=READS,
        help="Take this contig for a circle: reads over its origin are whole. This option may be repeated. It needs"
        " indexed alignments.",
    ),
    click.option(
        "--primers",
        type=INPUT_FILE,
        callback=_primers,
        metavar="FILE",
        panel=READS,
        help="Ignore the bases of reads that come from the primers of a tiling scheme (BED: chrom, start, end, name,"
        " pool, strand).",
    ),
)

_DEPTH_AND_DISCOVERY = (
    option(
        _EVIDENCE,
        "max_depth",
        metavar="N",
        panel=READS,
        help="Downsample each region to N reads per sample. A hash of the read name selects them, so that mates stay"
        " together.",
    ),
    option(
        _DISCOVERY,
        "min_base_quality",
        metavar="PHRED",
        panel=DISCOVERY,
        help="Bases with a lower quality (Phred) do not support an allele.",
    ),
    option(
        _DISCOVERY,
        "min_snv_count",
        "--min-alt-count",
        metavar="N",
        panel=DISCOVERY,
        help="The minimum number of a sample's reads that support a candidate SNV.",
    ),
    option(
        _DISCOVERY,
        "min_indel_count",
        metavar="N",
        panel=DISCOVERY,
        help="The minimum number of a sample's reads that support a candidate insertion or deletion.",
    ),
    option(
        _DISCOVERY,
        "min_snv_fraction",
        "--min-alt-fraction",
        metavar="X",
        panel=DISCOVERY,
        help="The minimum fraction of a sample's reads that support a candidate SNV.",
    ),
    option(
        _DISCOVERY,
        "min_indel_fraction",
        metavar="X",
        panel=DISCOVERY,
        help="The minimum fraction of a sample's reads that support a candidate insertion or deletion.",
    ),
    option(
        _DISCOVERY,
        "assembly",
        "--assembly/--no-assembly",
        panel=DISCOVERY,
        help="Assemble reads where they disagree with the reference. Assembly finds alleles that no alignment shows.",
    ),
)

_GAPS = (
    option(
        _MODEL,
        "pcr_indel_model",
        metavar="NAME",
        panel=MODEL,
        help="GATK's PCR indel model, which lowers gap opening qualities in tandem repeats.",
    ),
    click.option(
        "--str-model",
        type=InputFile(LIBRARIES),
        callback=_str_model,
        metavar="NAME",
        panel=MODEL,
        help="The STR model: gap qualities by the unit and the copy number of a tandem repeat. It replaces the"
        f" options of gap qualities and --pcr-indel-model. NAME is {' or '.join(LIBRARIES)}, or a file of"
        " 'pairhmm calibrate-str'.",
    ),
    option(
        _DEFAULTS,
        "stutter",
        "--stutter/--no-stutter",
        panel=MODEL,
        help="See from some reads how often repeats stutter, and take an STR model if they do, unless other options set"
        " gap qualities; and how often errors of one strand share a cause.",
    ),
    option(
        _MODEL,
        "insertion_quality",
        metavar="PHRED",
        panel=MODEL,
        help="The gap opening quality (Phred) of insertions.",
    ),
    option(
        _MODEL,
        "deletion_quality",
        metavar="PHRED",
        panel=MODEL,
        help="The gap opening quality (Phred) of deletions.",
    ),
    option(_MODEL, "gap_quality", metavar="PHRED", panel=MODEL, help="The gap continuation quality (Phred)."),
    option(
        _MODEL,
        "indel_tags",
        "--indel-tags/--no-indel-tags",
        panel=MODEL,
        help="Take gap opening qualities from the tags BI and BD of recalibrated reads. The profile model ignores the"
        " tags.",
    ),
)

_BASE_QUALITIES = (
    option(
        _MODEL,
        "trims_ends",
        "--trim-ends/--no-trim-ends",
        panel=MODEL,
        help="Cut off the ends of reads: adaptors, bases of quality below 10, and soft clips of mates that do not face"
        " each other.",
    ),
    option(
        _MODEL,
        "cap_by_mapping_quality",
        "--cap-by-mapq/--no-cap-by-mapq",
        panel=MODEL,
        help="Cap base qualities at the mapping quality of their read.",
    ),
    option(
        _MODEL,
        "base_quality_threshold",
        metavar="PHRED",
        panel=MODEL,
        help="Set base qualities (Phred) below this one to 6. 0 keeps them.",
    ),
)

_SCORES = (
    option(
        _MODEL,
        "score_floor",
        metavar="LOG10",
        panel=MODEL,
        help="Raise likelihoods that lie more than this (log10) below the read's best one. 0 sets no floor.",
    ),
    option(
        _MODEL,
        "error_rate",
        metavar="X",
        panel=MODEL,
        help="The expected error rate per base. A read is filtered out if its best likelihood (log10) is below -4"
        " times its expected number of errors, which is capped at 2. 0 filters no read.",
    ),
)

_CHUNK_SIZE = option(
    _DEFAULTS,
    "chunk_size",
    metavar="N",
    panel=COMPUTE,
    help="The approximate number of reads held in memory. Results do not depend on it.",
)
_COMPUTE = (threads_option(_DEFAULTS), _CHUNK_SIZE)
_THREADS_OF_SHARDS = threads_option(_DEFAULTS, " With an index, shards run side by side, at most one per core.")

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
)


def evidence_options(command: Command) -> Command:
    """Add the shared options to a command, in the order above."""
    return _with(command, (*_OF_SCORES, *_COMPUTE))


def circle_and_primer_options(command: Command) -> Command:
    """Add --circular and --primers to a command."""
    return _with(command, _CIRCLES_AND_PRIMERS)


def parallel_options(command: Command) -> Command:
    """Add the shared options to a command that runs shards in threads, and those that only such commands have."""
    return _with(command, (*_OF_SCORES, *_CIRCLES_AND_PRIMERS, _THREADS_OF_SHARDS, _CHUNK_SIZE))


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
    taken = {name: values.pop(name) for name in keyword_types(RunOptions) if name in values}
    (options,) = with_keywords("pairhmm", taken, _DEFAULTS)
    return options


def molecule_options(command: Command) -> Command:
    """Add --join-mates and --families to a command."""
    mates = option(
        _MOLECULES,
        "join_mates",
        panel=READS,
        help=f"Merge overlapping mates into one profile, the product of both (--model {PROFILE}).",
    )
    families = option(
        _MOLECULES,
        "families",
        metavar="NAME",
        panel=READS,
        help=f"Merge the reads of a UMI family into one profile (--model {PROFILE}). 'MI' groups reads by that tag,"
        " 'position' by strand and both ends of the molecule. Marked duplicates are still left out:"
        " --exclude-flags 0xB04 keeps them.",
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
