"""`pairhmm bench dp`: DPX functions, alignment and time warping on CUDA, and their roofline."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import rich_click as click

from pairhmm import backends
from pairhmm.bench import dp, dp_functions, dp_plot, dp_roofs
from pairhmm.bench.device import describe
from pairhmm.cli.bench.options import Lengths, json_option, repetitions_option
from pairhmm.cli.bench.tables import Tables
from pairhmm.cli.fields import option
from pairhmm.cli.pages import COMPUTE, MEASUREMENT, OUTPUT, Command
from pairhmm.cli.param_types import Whole
from pairhmm.engine import Choice

log = logging.getLogger(__name__)

EXAMPLES = (
    "pairhmm bench dp",
    "pairhmm bench dp --lengths 250 --gigacells 10",
    "pairhmm bench dp --roofline roofline",
)

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
    "--roofline",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="NAME",
    panel=OUTPUT,
    help="The roofline is drawn to NAME.svg and NAME.png. It needs matplotlib: pip install 'pairhmm[plot]'.",
)
@click.option(
    "--device",
    type=Whole(0),
    metavar="N",
    panel=COMPUTE,
    help="The GPU that works, by the number that 'pairhmm devices' lists. Without this option, the first GPU works.",
)
@json_option
def command(
    lengths: Sequence[int], gigacells: int, repetitions: int, roofline: Path | None, device: int | None, as_json: bool
) -> None:
    """Time alignment and time warping on a CUDA GPU: a pair a thread as published, and ours.

    The first table has the throughput of each function of DPX, native and as the compiler emulates it for GPUs without
    DPX. Instructions are counted in the machine code, where cuobjdump is there. The second table has the roofs of the
    GPU, and the third the cells a second at each length.
    """
    if roofline is not None:
        dp_plot.need_matplotlib()
    number = backends.device_of(BACKEND, device) or 0
    tables, choice = Tables(as_json), Choice(BACKEND, (number,))
    roofs = dp_roofs.measure_roofs(number, repetitions)
    tables.devices([choice])
    _functions(tables, number, repetitions)
    tables.table("roofs", "roof", "10^9 a second")
    for name, value in asdict(roofs).items():
        tables.row({"roof": name, "a_second": value}, name, f"{value / 1e9:.0f}")
    speeds = _cells(tables, number, lengths, gigacells, repetitions)
    tables.finish()
    if roofline is not None:
        name = str(describe(choice).get("device") or choice)
        for path in dp_plot.save_roofline(speeds, roofs, name, roofline):
            log.info("%s: written", path)


def _functions(tables: Tables, device: int, repetitions: int) -> None:
    tables.table("functions", "function", "code", "gcalls", "a clock", "instructions", "opcodes")
    for speed in dp_functions.measure_functions(device, repetitions):
        counted = "-" if speed.instructions is None else speed.instructions
        figures = f"{speed.calls / 1e9:.0f}", f"{speed.clocked:.1f}", counted, speed.opcodes or "-"
        tables.row(asdict(speed), speed.name, speed.code, *figures)


def _cells(tables: Tables, device: int, lengths: Sequence[int], gigacells: int, repetitions: int) -> list[dp.CellSpeed]:
    speeds = []
    tables.table("cells", "method", "length", "pairs", "design", "timed", "gcups", "same")
    for speed in dp.measure_cells(device, lengths, gigacells, repetitions=repetitions, announce=log.info):
        same = {None: "-", True: "yes", False: "no"}[speed.same]
        figures = speed.design, speed.timed, f"{speed.gcups:.1f}", same
        tables.row({**asdict(speed), "gcups": speed.gcups}, speed.method, speed.length, speed.pairs, *figures)
        speeds.append(speed)
    return speeds
