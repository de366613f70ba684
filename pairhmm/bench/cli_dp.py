"""`pairhmm bench dp`: alignment and time warping on CUDA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import rich_click as click

from pairhmm import backends
from pairhmm.bench import dp
from pairhmm.bench.cli_options import Lengths, json_option, repetitions_option
from pairhmm.bench.cli_tables import Tables
from pairhmm.cli.fields import option
from pairhmm.cli.help_style import COMPUTE, MEASUREMENT, Command
from pairhmm.cli.param_types import Whole
from pairhmm.engine import Choice

EXAMPLES = ("pairhmm bench dp", "pairhmm bench dp --lengths 250 --gigacells 10")

BACKEND = "cuda"


@click.command("dp", cls=Command, examples=EXAMPLES)
@click.option(
    "--lengths",
    type=Lengths(),
    default=Lengths.text(dp.DEFAULT_LENGTHS),
    show_default=True,
    metavar="N,N",
    panel=MEASUREMENT,
    help="The lengths of both sides of a pair, in bases or levels.",
)
@option(
    dp.measure_cells,
    "gigacells",
    least=1,
    metavar="N",
    panel=MEASUREMENT,
    help="The cells of a measurement, in 10^9. They are the same for each length.",
)
@repetitions_option(dp.measure_cells, "The median counts.")
@click.option(
    "--device",
    type=Whole(0),
    metavar="N",
    panel=COMPUTE,
    help="The GPU that works, by the number that 'pairhmm devices' lists. Without this option, the first GPU works.",
)
@json_option
def command(lengths: Sequence[int], gigacells: int, repetitions: int, device: int | None, as_json: bool) -> None:
    """Time the kernels of alignment and time warping on a CUDA GPU.

    Each method has the same number of cells at every length. GCUPS are 10^9 cells a second.
    """
    number = backends.device_of(BACKEND, device) or 0
    tables = Tables(as_json)
    tables.devices([Choice(BACKEND, (number,))])
    tables.table("cells", "method", "length", "pairs", "gcups")
    for speed in dp.measure_cells(number, lengths, gigacells, repetitions=repetitions):
        record = {**asdict(speed), "gcups": speed.gcups}
        tables.row(record, speed.method, speed.length, speed.pairs, f"{speed.gcups:.1f}")
    tables.finish()
