"""`pairhmm bench`: speed and accuracy on this machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict

import rich_click as click

from pairhmm.cli.common import device_memory_option, device_option, threads_option

log = logging.getLogger(__name__)


def _lengths(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        lengths = tuple(int(word.replace("_", "")) for word in value.split(","))
    except ValueError:
        lengths = ()
    if not lengths or min(lengths) < 1:
        raise click.BadParameter(f"{value!r} is not a list of lengths such as 100,1000", context, parameter)
    return lengths


@click.group("bench")
def command() -> None:
    """Measure speed and accuracy on this machine."""


@command.command("forward")
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="A backend to measure; may be repeated. Default: all that can run here, but the oracle.",
)
@device_option
@device_memory_option
@click.option(
    "--lengths",
    default="100,1000,10000,100000",
    show_default=True,
    callback=_lengths,
    metavar="N,N,...",
    help="Bases of the reads and haplotypes.",
)
@click.option(
    "--accuracy",
    is_flag=True,
    help="Compare with the float64 oracle too; at 100,000 bases that takes minutes, which is announced.",
)
@click.option("--repetitions", type=click.IntRange(min=1), default=3, show_default=True, help="The best one counts.")
@threads_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
def forward(
    backends: Sequence[str],
    devices: tuple[int, ...] | None,
    device_memory: int | None,
    lengths: Sequence[int],
    accuracy: bool,
    repetitions: int,
    threads: int,
    as_json: bool,
) -> None:
    """Time the forward algorithm by backend and length.

    GCUPS is 10^9 cells of the matrix (read x haplotype bases) a second. Differences are in log10 units.
    """
    from pairhmm import backends as registry
    from pairhmm import bench
    from pairhmm.engine import Choice

    names = list(backends) or [n for n in registry.names() if n != bench.ORACLE and registry.status(n).available]
    # Backends on the CPU may stand beside those that the devices are meant for, but not alone.
    on_devices = [name for name in names if registry.status(name).devices] or names
    choices = [Choice(name, devices, device_memory) if name in on_devices else Choice(name) for name in names]
    rows: dict[str, list[dict[str, object]]] = {"speed": []}
    table = _Table(as_json, ("backend", "length", "threads", "pairs", "seconds", "gcups"))
    for choice in choices:
        for speed in bench.measure_speed(choice, lengths, threads=threads, repetitions=repetitions, announce=log.info):
            rows["speed"].append({**asdict(speed), "gcups": speed.gcups})
            table.row(speed.backend, speed.length, threads, speed.pairs, f"{speed.seconds:.4f}", f"{speed.gcups:.3f}")
    if accuracy:
        rows["accuracy"] = []
        table = _Table(as_json, ("backend", "length", "pairs", "worst", "worst_relative", "lowest", "rescued"))
        for error in bench.measure_accuracy(choices, lengths, threads=threads, announce=log.info):
            rows["accuracy"].append(asdict(error))
            figures = f"{error.worst:.2e}", f"{error.worst_relative:.2e}", f"{error.lowest:.2f}"
            table.row(error.backend, error.length, error.pairs, *figures, error.rescued)
    if as_json:
        click.echo(json.dumps(rows, indent=1))


class _Table:
    """Tab-separated rows on stdout, each as soon as it is known; silent where JSON is wanted."""

    def __init__(self, silent: bool, columns: Sequence[str]) -> None:
        self.silent = silent
        self.row(*columns)

    def row(self, *values: object) -> None:
        if not self.silent:
            click.echo("\t".join(map(str, values)))
