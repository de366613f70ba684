"""`pairhmm devices`: which backends run here."""

from __future__ import annotations

import json
from itertools import chain

import rich_click as click

from pairhmm import backends
from pairhmm.backends import Status, cpu
from pairhmm.cli.compute import threads_option
from pairhmm.cli.help_style import COMPUTE, OUTPUT, Command
from pairhmm.engine import calibration, forward
from pairhmm.engine.calibration import DeviceSpeed
from pairhmm.errors import InputError
from pairhmm.process import usable_cores


def _status(name: str) -> Status:
    try:
        return backends.status(name)
    except InputError as error:
        return Status(False, reason=f"{error.path}={error.record}: {error.rule}", cure=error.cure)


UNITS = {calibration.FORWARD: "cells", calibration.PLACE: "token sets", calibration.DISTANCES: "words of pairs"}
DOES = {calibration.FORWARD: "score", calibration.PLACE: "draw a map", calibration.DISTANCES: "compare sketches"}

LISTED = ("available", "detail", "devices", "reason", "cure")
"""What is told of a backend (`pairhmm.backends.Status`)."""

EXAMPLES = ("pairhmm devices", "pairhmm devices --json", "pairhmm devices --calibrate -@ 2")


@click.command("devices", cls=Command, examples=EXAMPLES)
@click.option(
    "--calibrate",
    "calibrates",
    is_flag=True,
    panel=COMPUTE,
    help="Measure and save the speed of each backend, so that '--backend auto' knows when a GPU is faster than the"
    " CPU.",
)
@threads_option(forward)
@click.option("--json", "as_json", is_flag=True, panel=OUTPUT, help="Write the list as JSON.")
def command(calibrates: bool, threads: int, as_json: bool) -> None:
    """List the backends that run here with their devices, and what the others lack.

    --device of other commands takes the numbers of this list.
    """
    if calibrates:
        _calibrate(threads)
        return
    listed, levels = {name: _status(name) for name in backends.names()}, dict(cpu.instruction_sets())
    if as_json:
        rows = [{"backend": name} | {key: getattr(status, key) for key in LISTED} for name, status in listed.items()]
        click.echo(json.dumps({"backends": rows, "simd_levels": levels}, indent=2))
        return
    for name, status in listed.items():
        state = f"available  {status.detail}" if status.available else f"missing    {status.reason}; {status.cure}"
        click.echo(f"{name:<10} {state}")
        for index, description in enumerate(status.devices):
            label = f"{name}:{index}"
            click.echo(f"{label:<10} {'':<10} {description}")
    sets = (f"{name}{'' if runs else ' (not on this machine)'}" for name, runs in levels.items())
    click.echo(f"{'SIMD':<10} {', '.join(sets) or 'none compiled'}; PAIRHMM_CPU=NAME forces one")


def _rate(per_second: float) -> str:
    return f"{per_second / 1e9:,.1f} G" if per_second >= 1e9 else f"{per_second / 1e6:,.2f} M"


def _worth(cpu: DeviceSpeed, device: DeviceSpeed, threads: int) -> str:
    units = calibration.crossover(cpu.of_threads(threads), device)
    return f"with -@ {threads} {'never' if units is None else f'from {units:,} {UNITS[device.work]} on'}"


def _calibrate(threads: int) -> None:
    from pairhmm import backends
    from pairhmm.bench.calibrate import WORKS, measure

    speeds = []
    for speed in chain.from_iterable(measure(work, threads) for work in WORKS.values()):
        speeds.append(speed)
        click.echo(
            f"{speed.work:<9} {speed.backend:<8} {speed.device}: start {speed.start_seconds:.2f} s, "
            f"each call {1e3 * speed.call_seconds:.2f} ms, {_rate(speed.cells_per_second)} {UNITS[speed.work]}/s"
        )
    on_the_cpu = {speed.work: speed for speed in reversed(speeds) if speed.backend in backends.on_the_cpu()}
    for speed in speeds:
        cpu = on_the_cpu.get(speed.work)
        if cpu is not None and speed.backend in backends.on_devices():
            wins = (_worth(cpu, speed, count) for count in sorted({1, threads, usable_cores()}))
            click.echo(f"--backend auto takes {speed.backend} ({speed.device}) to {DOES[speed.work]} {'; '.join(wins)}")
    click.echo(f"The calibration is saved in {calibration.save(calibration.Calibration(speeds))}")
