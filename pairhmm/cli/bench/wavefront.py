"""`pairhmm bench wavefront`: one pair by the published design, and by ours."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

import rich_click as click

from pairhmm.bench.lengths import DEFAULT_LENGTHS
from pairhmm.bench.published import wavefront, webgpu_ladder
from pairhmm.cli.bench.options import Lengths, json_option, repetitions_option
from pairhmm.cli.bench.tables import Tables
from pairhmm.cli.compute import devices_option, threads_option
from pairhmm.cli.pages import COMPUTE, MEASUREMENT, Command
from pairhmm.engine import Choice

log = logging.getLogger(__name__)

EXAMPLES = ("pairhmm bench wavefront", "pairhmm bench wavefront --backend webgpu --lengths 100,1000")


def _launches(tables: Tables, choice: Choice, lengths: Sequence[int] | None, repetitions: int, threads: int) -> None:
    """CUDA: launches made by the host, launches replayed as a graph, and ours."""
    columns = "launched_seconds", "replayed_seconds", "ours_seconds", "ratio", "difference", "ours_difference"
    speeds = wavefront.measure_wavefront(
        choice, lengths or DEFAULT_LENGTHS, repetitions=repetitions, threads=threads, announce=log.info
    )
    tables.devices([choice])
    tables.table("wavefront", "length", *columns)
    for speed in speeds:
        seconds = (median(s) for s in (speed.launched_seconds, speed.replayed_seconds, speed.ours_seconds))
        differences = f"{speed.difference:.1e}", f"{speed.ours_difference:.1e}"
        figures = *(f"{value:.6f}" for value in seconds), f"{speed.ratio:.1f}", *differences
        tables.row({**asdict(speed), "ratio": speed.ratio}, speed.length, *figures)


def _ladder(tables: Tables, choice: Choice, lengths: Sequence[int] | None, repetitions: int, threads: int) -> None:
    """WebGPU: the published design without its optimisations, with one more of them a row, and ours."""
    columns = "round_trips", "bind_groups", "storage_reads", "seconds", "speedup", "share_of_cuda", "difference"
    speeds = webgpu_ladder.measure_ladder(choice, lengths, repetitions=repetitions, threads=threads, announce=log.info)
    tables.devices([choice])
    tables.table("wavefront", "length", "rung", *columns)
    for speed in speeds:
        counts = speed.round_trips, speed.bind_groups, f"{speed.storage_reads:.2f}", f"{median(speed.seconds):.6f}"
        ratios = {"speedup": speed.speedup, "share_of_cuda": speed.share_of_cuda}
        shown = ("-" if ratio is None else f"{ratio:.3g}" for ratio in ratios.values())
        difference = speed.difference
        record = {**asdict(speed), **ratios, "difference": difference}
        tables.row(record, speed.length, speed.rung, *counts, *shown, f"{difference:.1e}")


DESIGNS = {"cuda": _launches, "webgpu": _ladder}
"""The published designs, by the backend that they are compared with."""


@click.command("wavefront", cls=Command, examples=EXAMPLES)
@click.option(
    "--lengths",
    type=Lengths(),
    metavar="N,N",
    panel=MEASUREMENT,
    help="The lengths of the read and the haplotype, in bases. Without this option, they are"
    f" {Lengths.text(DEFAULT_LENGTHS)}; for a software adapter, {Lengths.text(webgpu_ladder.SOFTWARE_LENGTHS)}.",
)
@repetitions_option(wavefront.measure_wavefront, "The median counts.")
@click.option(
    "--backend",
    type=click.Choice(tuple(DESIGNS)),
    default=next(iter(DESIGNS)),
    show_default=True,
    metavar="NAME",
    panel=COMPUTE,
    help=f"The backend that the published design is compared with: {' or '.join(DESIGNS)}.",
)
@devices_option
@threads_option(wavefront.measure_wavefront)
@json_option
def command(
    lengths: Sequence[int] | None,
    repetitions: int,
    backend: str,
    devices: tuple[int, ...] | None,
    threads: int,
    as_json: bool,
) -> None:
    """Time one pair by the published design, with a launch for each anti-diagonal, and by ours.

    Seconds are from arrays on the host to the score. Differences are relative, from the float64 score.

    With CUDA, the columns are the published design with launches by the host, the same with the launches replayed as a
    CUDA graph, and ours. The ratio is that of the faster of the first two to ours. With WebGPU, the rows are the
    published design without its optimisations, the same with one more optimisation in each row, and ours, beside the
    CUDA backend where that can run.
    """
    tables = Tables(as_json)
    DESIGNS[backend](tables, Choice(backend, devices), lengths, repetitions, threads)
    tables.finish()
