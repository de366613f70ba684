"""`pairhmm devices`: which backends run here."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
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


@dataclass(frozen=True, slots=True)
class Device:
    """A backend, and whether it runs on this machine.

    Attributes
    ----------
    backend : str
    available : bool
    detail : str
        What it runs on.
    devices : tuple of str
        Name and size of each device that ``--device`` can choose, in the order of their indices.
    reason, cure : str
        What is missing, and how to get it.
    """

    backend: str
    available: bool
    detail: str
    devices: tuple[str, ...]
    reason: str
    cure: str


def devices() -> list[Device]:
    """Every backend of this version, fastest first."""
    known = []
    for name in backends.names():
        status = _status(name)
        known.append(Device(name, status.available, status.detail, status.devices, status.reason, status.cure))
    return known


def _status(name: str) -> Status:
    try:
        return backends.status(name)
    except InputError as error:
        return Status(False, reason=f"{error.path}={error.record}: {error.rule}", cure=error.cure)


def instruction_sets() -> dict[str, bool]:
    """Instruction sets of this build, slowest first, and whether this machine has each."""
    return dict(cpu.instruction_sets())


UNITS = {calibration.FORWARD: "cells", calibration.PLACE: "token sets", calibration.DISTANCES: "words of pairs"}
DOES = {calibration.FORWARD: "score", calibration.PLACE: "draw a map", calibration.DISTANCES: "compare sketches"}

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
    listed, levels = devices(), instruction_sets()
    if as_json:
        click.echo(json.dumps({"backends": [asdict(device) for device in listed], "simd_levels": levels}, indent=2))
        return
    for device in listed:
        state = f"available  {device.detail}" if device.available else f"missing    {device.reason}; {device.cure}"
        click.echo(f"{device.backend:<10} {state}")
        for index, description in enumerate(device.devices):
            label = f"{device.backend}:{index}"
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
