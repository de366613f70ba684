"""`pairhmm bench`: speed and accuracy on this machine."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import rich_click as click

from pairhmm import backends
from pairhmm.bench import cli_forward, dp
from pairhmm.bench import map as bench_map
from pairhmm.bench import scan as bench_scan
from pairhmm.bench.cli_options import Lengths, Tables, device_option, gpu_option, json_option, repetitions_option
from pairhmm.cli.compute import threads_option
from pairhmm.cli.fields import option
from pairhmm.cli.help_style import MEASUREMENT, Command, CommandGroup
from pairhmm.engine import Choice

log = logging.getLogger(__name__)

EXAMPLES = (
    "pairhmm bench forward --lengths 100,1000",
    "pairhmm bench scan --backend cuda",
)

DP_BACKEND = "cuda"


def _sizes(index: int) -> str:
    return f"{bench_scan.SIZES[index]:,}; {bench_scan.SOFTWARE_SIZES[index]:,} for a software adapter"


@click.group("bench", cls=CommandGroup, examples=EXAMPLES)
def command() -> None:
    """Measure speed and accuracy on this machine."""


command.add_command(cli_forward.command)


@command.command(
    "scan",
    cls=Command,
    examples=("pairhmm bench scan", "pairhmm bench scan --backend webgpu --samples 10 --signatures 100"),
)
@option(
    bench_scan.measure_scan,
    "samples",
    least=1,
    metavar="N",
    panel=MEASUREMENT,
    show_default=_sizes(0),
    help="The number of samples, of 150,000 bases on average.",
)
@option(
    bench_scan.measure_scan,
    "signatures",
    least=1,
    metavar="N",
    panel=MEASUREMENT,
    show_default=_sizes(1),
    help="The number of signatures, of 6,500 bases on average.",
)
@repetitions_option(bench_scan.measure_scan, "The table shows the median.")
@gpu_option
@device_option
@threads_option(bench_scan.measure_scan)
@json_option
def time_scan(
    samples: int | None,
    signatures: int | None,
    repetitions: int,
    backend: str,
    device: int | None,
    threads: int,
    as_json: bool,
) -> None:
    """Time a scan of simulated samples on a GPU and on the CPU.

    Seconds are from packed arrays to hits, both on the host. The hits are compared with the CPU's.
    """
    tables = Tables(as_json)
    speeds = bench_scan.measure_scan(
        backend, device, samples, signatures, repetitions=repetitions, threads=threads, announce=log.info
    )
    tables.devices([Choice(backend, None if device is None else (device,))])
    tables.table("scan", backend="", bases="", patterns="", hits="", seconds=".4f", speedup=".3g", same="")
    tables.rows(speeds)
    tables.finish()


@command.command("dp", cls=Command, examples=("pairhmm bench dp", "pairhmm bench dp --lengths 250 --gigacells 10"))
@click.option(
    "--lengths",
    type=Lengths(),
    default=Lengths.text(dp.DEFAULT_LENGTHS),
    show_default=True,
    metavar="N,N",
    panel=MEASUREMENT,
    help="Lengths of both sides of a pair, in bases or samples.",
)
@option(
    dp.measure_cells,
    "gigacells",
    least=1,
    metavar="N",
    panel=MEASUREMENT,
    help="Cells of a measurement, in 10^9, at every length.",
)
@repetitions_option(dp.measure_cells, "The table shows the median.")
@device_option
@json_option
def time_dp(lengths: Sequence[int], gigacells: int, repetitions: int, device: int | None, as_json: bool) -> None:
    """Time the kernels of alignment and time warping on a CUDA GPU.

    Each method has the same number of cells at every length. GCUPS are 10^9 cells a second.
    """
    number = backends.device_of(DP_BACKEND, device) or 0
    tables = Tables(as_json)
    tables.devices([Choice(DP_BACKEND, (number,))])
    tables.table("cells", method="", length="", pairs="", gcups=".1f")
    tables.rows(dp.measure_cells(number, lengths, gigacells, repetitions=repetitions))
    tables.finish()


@command.command(
    "map", cls=Command, examples=("pairhmm bench map", "pairhmm bench map --backend webgpu --nodes 100,1000 --accuracy")
)
@click.option(
    "--nodes",
    type=Lengths(),
    default=Lengths.text(bench_map.NODES),
    show_default=True,
    metavar="N,N",
    panel=MEASUREMENT,
    help="The numbers of samples.",
)
@option(
    bench_map.measure_map,
    "groups",
    least=1,
    metavar="N",
    panel=MEASUREMENT,
    help="The number of property groups. A sample has 1 to 11 tokens in a group, and 12 to 40 in every fifth.",
)
@repetitions_option(bench_map.measure_map, "The table shows the median.")
@click.option(
    "--accuracy",
    is_flag=True,
    panel=MEASUREMENT,
    help="Add a table of the largest differences from the float64 oracle.",
)
@gpu_option
@device_option
@threads_option(bench_map.measure_map)
@json_option
def time_map(
    nodes: Sequence[int],
    groups: int,
    repetitions: int,
    accuracy: bool,
    backend: str,
    device: int | None,
    threads: int,
    as_json: bool,
) -> None:
    """Time the map of samples on a GPU and on the CPU, and name the choice of '--backend auto'.

    Seconds are from arrays to positions, both on the host: samples are sketched, projected and blended with ten
    neighbours. Kernels are timed by the device's clock.
    """
    tables = Tables(as_json)
    speeds = bench_map.measure_map(backend, device, nodes, groups, repetitions=repetitions, threads=threads)
    tables.devices([Choice(backend, None if device is None else (device,))])
    seconds = {"cpu_seconds": ".4g", f"{backend}_seconds": ".4g", "speedup": ".3g"}
    kernels = {"sketch_kernel_ms": ".3g", "blend_kernel_ms": ".3g"}
    tables.table("map", nodes="", groups="", tokens="", **seconds, **kernels, auto="")
    for speed in speeds:
        milliseconds = dict(zip(kernels, (1e3 * speed.sketch_seconds, 1e3 * speed.blend_seconds), strict=True))
        tables.rows([speed], **{f"{backend}_seconds": speed.device_seconds}, **milliseconds)
    if accuracy:
        tables.table("differences", nodes="", signatures="", projections=".2g", blends=".2g")
        tables.rows(bench_map.measure_map_differences(backend, device, nodes, threads=threads))
    tables.finish()
