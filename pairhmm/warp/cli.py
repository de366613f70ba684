"""`pairhmm warp`: time warping of signals, and of raw reads onto signatures."""

from __future__ import annotations

from typing import Any

import rich_click as click
from click.core import ParameterSource

from pairhmm.cli.compute import device_list_options, threads_option
from pairhmm.cli.fields import either, option, output_option
from pairhmm.cli.help_style import INPUT, MATCHES, READS, Command
from pairhmm.cli.param_types import INPUT_FILE, Real
from pairhmm.warp import files as warp_files
from pairhmm.warp import signatures as warp_signatures
from pairhmm.warp.base import WarpMode, WarpOptions
from pairhmm.warp.cutting import DEFAULTS, CutOptions, RawLevels
from pairhmm.warp.scaling import NORMALISATIONS, SCALES, UNITS_PER_DEVIATION, Normalisation

EXAMPLES = (
    "pairhmm warp --signatures few.fa.gz --model kmers.model reads.blow5",
    "pairhmm warp --signatures few.fa.gz --model kmers.model \\\n    --levels samples -o places.tsv signal.tsv",
    "pairhmm warp --all --band 50 queries.npy targets.npy -o costs.tsv",
)

_OPTIONS, _CUT = WarpOptions(), CutOptions()
_NOT_WITH_SIGNATURES = ("mode", "band")
_ONLY_WITH_SIGNATURES = ("model", "levels", "skip", "first")


def _either_levels(index: int) -> str:
    """The default number of events, and that of samples."""
    return either([f"{numbers[index]:,} {levels}" for levels, numbers in DEFAULTS.items()])


@click.command("warp", cls=Command, examples=EXAMPLES)
@click.argument(
    "signals",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="SIGNALS...",
    panel=INPUT,
    help="QUERIES and TARGETS: two files of signals. With --signatures, files of raw reads. Formats are BLOW5, SLOW5,"
    " POD5, .npy, .npz and text.",
)
@click.option(
    "--signatures",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="Warp raw reads onto the expected levels of these sequences (FASTA), on both strands.",
)
@click.option(
    "--model",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The pore model: a table of the columns kmer, level_mean and level_stdv, as for nanopolish and f5c.",
)
@option(
    _CUT,
    "levels",
    metavar="NAME",
    panel=READS,
    help="The levels of a raw read: the means of its events, or its samples (--signatures).",
)
@option(
    _CUT,
    "skip",
    metavar="N",
    show_default=_either_levels(0),
    panel=READS,
    help="The number of levels to skip at the start of a raw read, for the adapter (--signatures).",
)
@option(
    _CUT,
    "first",
    metavar="N",
    show_default=_either_levels(1),
    panel=READS,
    help="The number of levels to warp after the skipped ones (--signatures).",
)
@click.option(
    "--normalise",
    type=click.Choice(NORMALISATIONS),
    metavar="WAY",
    show_default="z-score with --signatures, else none",
    panel=READS,
    help="How the levels of a signal are normalised. WAY is z-score (mean and standard deviation), median (median and"
    " median absolute deviation) or none.",
)
@click.option(
    "--scale",
    type=Real(*SCALES),
    metavar="X",
    show_default=f"{UNITS_PER_DEVIATION} for normalised levels, 1 for integers, else by the first signals",
    panel=READS,
    help="The factor by which levels are multiplied before they are rounded to 16-bit integers.",
)
@option(
    _OPTIONS,
    "mode",
    metavar="NAME",
    panel=MATCHES,
    help="Warp a query onto the whole target, or onto its cheapest part (subsequence DTW).",
)
@option(
    _OPTIONS,
    "band",
    metavar="N",
    panel=MATCHES,
    help="The Sakoe-Chiba band: matched levels are at most N positions apart (--mode global).",
)
@click.option(
    "--all",
    "every_pair",
    is_flag=True,
    panel=MATCHES,
    help="Warp every query onto every target. By default, queries and targets are warped in pairs: first onto first,"
    " and so on. With --signatures, write every pair of read and signature, not only a read's best signature.",
)
@device_list_options
@threads_option(warp_files.warp_files)
@output_option("The table of costs and positions (TSV). '-' is stdout.")
@click.pass_context
def command(
    context: click.Context,
    /,
    signals: tuple[str, ...],
    signatures: str | None,
    model: str | None,
    levels: RawLevels,
    skip: int | None,
    first: int | None,
    normalise: Normalisation | None,
    mode: WarpMode,
    band: int | None,
    every_pair: bool,
    output: str,
    **options: Any,
) -> None:
    """Warp signals onto signals, or raw nanopore reads onto signatures (dynamic time warping, DTW).

    The cost of a warping path is the sum of the absolute differences of the levels that it matches. docs/warp.md
    describes files and tables.
    """
    _check_together(context, _ONLY_WITH_SIGNATURES if signatures is None else _NOT_WITH_SIGNATURES, signatures is None)
    if signatures is None:
        if len(signals) != 2:
            raise click.UsageError("Name two files: QUERIES and TARGETS.", context)
        queries, targets = signals
        warp_files.warp_files(
            queries,
            targets,
            output,
            every_pair=every_pair,
            normalise=normalise or "none",
            options=WarpOptions(mode, band),
            **options,
        )
        return
    if model is None:
        raise click.UsageError("--signatures needs --model.", context)
    warp_signatures.warp_signatures(
        signatures,
        model,
        signals,
        output,
        every_signature=every_pair,
        normalise=normalise or "z-score",
        cut=CutOptions(levels, skip, first),
        **options,
    )


def _check_together(context: click.Context, names: tuple[str, ...], needs_signatures: bool) -> None:
    """Raise UsageError for options that this form of the command does not have."""
    for name in names:
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            rule = "needs --signatures" if needs_signatures else "does not go with --signatures"
            raise click.UsageError(f"--{name} {rule}.", context)
