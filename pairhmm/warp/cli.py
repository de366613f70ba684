"""`pairhmm warp`: time warping of signals, and of raw reads onto signatures."""

from __future__ import annotations

import rich_click as click
from click.core import ParameterSource

from pairhmm.cli.compute import device_list_options, threads_option
from pairhmm.cli.fields import either, option, output_option
from pairhmm.cli.help_style import INPUT, MATCHES, READS, Command
from pairhmm.cli.param_types import INPUT_FILE, Real
from pairhmm.engine import Choice
from pairhmm.warp import files as warp_files
from pairhmm.warp import signatures as warp_signatures
from pairhmm.warp.base import WarpMode, WarpOptions
from pairhmm.warp.cutting import CutOptions, RawLevels
from pairhmm.warp.scaling import NORMALISATIONS, SCALES, UNITS_PER_DEVIATION, Normalisation

EXAMPLES = (
    "pairhmm warp --signatures few.fa.gz --model kmers.model reads.blow5",
    "pairhmm warp --signatures few.fa.gz --model kmers.model \\\n    --levels samples -o places.tsv signal.tsv",
    "pairhmm warp --all --band 50 queries.npy targets.npy -o costs.tsv",
)

_OPTIONS, _CUT = WarpOptions(), CutOptions()
_NOT_WITH_SIGNATURES = ("mode", "band")
_ONLY_WITH_SIGNATURES = ("model", "levels", "skip", "first")


@click.command("warp", cls=Command, examples=EXAMPLES)
@click.argument(
    "signals",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="SIGNALS...",
    panel=INPUT,
    help="QUERIES and TARGETS: two files of signals. With --signatures, files of raw reads. A file is BLOW5, SLOW5,"
    " POD5, .npy, .npz or text.",
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
    help="Warp the events or the samples of a raw read (--signatures).",
)
@option(
    _CUT,
    "skip",
    metavar="N",
    panel=READS,
    help="Skip N levels at the start of a raw read, where the adapter is (--signatures; default: 50 events or 500"
    " samples).",
)
@option(
    _CUT,
    "first",
    metavar="N",
    panel=READS,
    help="Take the next N levels (--signatures; default: 250 events or 2,500 samples).",
)
@click.option(
    "--normalise",
    type=click.Choice(NORMALISATIONS),
    metavar="WAY",
    panel=READS,
    help=f"Normalise the levels of a signal. WAY is {either(NORMALISATIONS)}: by mean and standard deviation, by median"
    " and median absolute deviation, or not (default: z-score with --signatures, else none).",
)
@click.option(
    "--scale",
    type=Real(*SCALES),
    metavar="X",
    panel=READS,
    help="Quantise levels: multiply by X and round to 16-bit integers (default:"
    f" {UNITS_PER_DEVIATION} for normalised levels, 1 for integers, else by the first signals).",
)
@option(
    _OPTIONS,
    "mode",
    metavar="NAME",
    panel=MATCHES,
    help="Warp a query onto the whole target, or onto the cheapest part of it (subsequence DTW).",
)
@option(
    _OPTIONS,
    "band",
    metavar="N",
    panel=MATCHES,
    help="Sakoe-Chiba band: matched levels are at most N positions apart (mode global).",
)
@click.option(
    "--all",
    "every_pair",
    is_flag=True,
    panel=MATCHES,
    help="Warp each query onto each target. By default, the first query is warped onto the first target, and so on."
    " With --signatures: write a row for each read and signature, not only for a read's best signature.",
)
@device_list_options
@threads_option(warp_files.warp_files)
@output_option("The table of costs and places (TSV). '-' is stdout.")
@click.pass_context
def command(
    context: click.Context,
    signals: tuple[str, ...],
    signatures: str | None,
    model: str | None,
    levels: RawLevels,
    skip: int | None,
    first: int | None,
    normalise: Normalisation | None,
    scale: float | None,
    mode: WarpMode,
    band: int | None,
    every_pair: bool,
    backend: Choice,
    threads: int,
    output: str,
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
            scale=scale,
            options=WarpOptions(mode, band),
            backend=backend,
            threads=threads,
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
        scale=scale,
        cut=CutOptions(levels, skip, first),
        backend=backend,
        threads=threads,
    )


def _check_together(context: click.Context, names: tuple[str, ...], needs_signatures: bool) -> None:
    """Raise UsageError for options that this form of the command does not have."""
    for name in names:
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            rule = "needs --signatures" if needs_signatures else "does not go with --signatures"
            raise click.UsageError(f"--{name} {rule}.", context)
