"""`pairhmm bench scan`: a scan on a GPU and on the CPU."""

from __future__ import annotations

import logging
from dataclasses import asdict
from statistics import median

import rich_click as click

from pairhmm.bench import scan
from pairhmm.bench.cli_options import json_option, repetitions_option
from pairhmm.bench.cli_tables import Tables
from pairhmm.cli.compute import threads_option
from pairhmm.cli.fields import option
from pairhmm.cli.help_style import COMPUTE, MEASUREMENT, Command
from pairhmm.cli.param_types import Whole
from pairhmm.engine import Choice

log = logging.getLogger(__name__)

EXAMPLES = ("pairhmm bench scan", "pairhmm bench scan --backend webgpu --samples 10 --signatures 100")

BACKENDS = ("cuda", "webgpu")
"""Backends that are compared with the CPU."""


@click.command("scan", cls=Command, examples=EXAMPLES)
@option(
    scan.measure_scan,
    "samples",
    least=1,
    metavar="N",
    panel=MEASUREMENT,
    help="The number of samples, of 150,000 bases on average. Without this option, it is"
    f" {scan.SIZES[0]:,}; for a software adapter, {scan.SOFTWARE_SIZES[0]:,}.",
)
@option(
    scan.measure_scan,
    "signatures",
    least=1,
    metavar="N",
    panel=MEASUREMENT,
    help="The number of signatures, of 6,500 bases on average. Without this option, it is"
    f" {scan.SIZES[1]:,}; for a software adapter, {scan.SOFTWARE_SIZES[1]:,}.",
)
@repetitions_option(scan.measure_scan, "The median counts.")
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
@threads_option(scan.measure_scan)
@json_option
def command(
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
    speeds = scan.measure_scan(
        backend, device, samples, signatures, repetitions=repetitions, threads=threads, announce=log.info
    )
    tables.devices([Choice(backend, None if device is None else (device,))])
    tables.table("scan", "backend", "bases", "patterns", "hits", "seconds", "speedup", "same")
    for speed in speeds:
        figures = speed.hits, f"{median(speed.seconds):.4f}", f"{speed.speedup:.3g}", "yes" if speed.same else "no"
        tables.row({**asdict(speed), "speedup": speed.speedup}, speed.backend, speed.bases, speed.patterns, *figures)
    tables.finish()
