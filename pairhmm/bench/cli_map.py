"""`pairhmm bench map`: placing samples on the map, on a GPU and on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import rich_click as click

from pairhmm.bench import map as bench_map
from pairhmm.bench.cli_options import Lengths, json_option, repetitions_option
from pairhmm.bench.cli_tables import Tables
from pairhmm.cli.compute import threads_option
from pairhmm.cli.fields import option
from pairhmm.cli.help_style import COMPUTE, MEASUREMENT, Command
from pairhmm.cli.param_types import Whole
from pairhmm.engine import Choice

EXAMPLES = ("pairhmm bench map", "pairhmm bench map --backend webgpu --nodes 100,1000 --accuracy")

BACKENDS = ("cuda", "webgpu")
"""Backends that are compared with the CPU."""


@click.command("map", cls=Command, examples=EXAMPLES)
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
    help="The groups of properties. Each sample has 1 to 11 tokens in a group, and 12 to 40 in every fifth group.",
)
@repetitions_option(bench_map.measure_map, "The median counts.")
@click.option(
    "--accuracy",
    is_flag=True,
    panel=MEASUREMENT,
    help="The largest differences from the oracle, which computes in float64, are written in a second table.",
)
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    metavar="NAME",
    panel=COMPUTE,
    help=f"The backend that is measured: {' or '.join(BACKENDS)}.",
)
@click.option(
    "--device",
    type=Whole(0),
    metavar="N",
    panel=COMPUTE,
    help="The GPU that works, by the number that 'pairhmm devices' lists. Without this option, the first GPU works.",
)
@threads_option(bench_map.measure_map)
@json_option
def command(
    nodes: Sequence[int],
    groups: int,
    repetitions: int,
    accuracy: bool,
    backend: str,
    device: int | None,
    threads: int,
    as_json: bool,
) -> None:
    """Time how samples are placed on the map, on a GPU and on the CPU, and name what '--backend auto' takes.

    Seconds are from arrays to positions, both on the host: samples are sketched, projected and blended with ten
    neighbours. Kernels are timed by the device's clock.
    """
    tables = Tables(as_json)
    speeds = bench_map.measure_map(backend, device, nodes, groups, repetitions=repetitions, threads=threads)
    tables.devices([Choice(backend, None if device is None else (device,))])
    columns = ("nodes", "groups", "tokens", "cpu_seconds", f"{backend}_seconds", "speedup")
    tables.table("map", *columns, "sketch_kernel_ms", "blend_kernel_ms", "auto")
    for speed in speeds:
        seconds = f"{speed.cpu_seconds:.4g}", f"{speed.device_seconds:.4g}", f"{speed.speedup:.3g}"
        kernels = f"{1e3 * speed.sketch_seconds:.3g}", f"{1e3 * speed.blend_seconds:.3g}"
        record = {**asdict(speed), "speedup": speed.speedup}
        tables.row(record, speed.nodes, speed.groups, speed.tokens, *seconds, *kernels, speed.auto)
    if accuracy:
        tables.table("differences", "nodes", "signatures", "projections", "blends")
        for difference in bench_map.measure_map_differences(backend, device, nodes, threads=threads):
            largest = f"{difference.projections:.2g}", f"{difference.blends:.2g}"
            tables.row(asdict(difference), difference.nodes, difference.signatures, *largest)
    tables.finish()
