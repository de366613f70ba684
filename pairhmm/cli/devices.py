"""`pairhmm devices`: which backends run here."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.common import threads_option


@click.command("devices")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option(
    "--calibrate",
    "calibrates",
    is_flag=True,
    help="Measure from which size on each device is done before the CPU, and keep it for --backend auto.",
)
@threads_option
def command(as_json: bool, calibrates: bool, threads: int) -> None:
    """Say which backends run here and on what devices, and what the others lack."""
    if calibrates:
        _calibrate(threads)
        return
    import json
    from dataclasses import asdict

    from pairhmm.commands.devices import devices, simd_levels

    found, levels = devices(), simd_levels()
    if as_json:
        click.echo(json.dumps({"backends": [asdict(device) for device in found], "simd_levels": levels}, indent=2))
        return
    for device in found:
        state = f"available  {device.detail}" if device.available else f"missing    {device.reason}; {device.cure}"
        click.echo(f"{device.backend:<10} {state}")
        for index, description in enumerate(device.devices):
            label = f"{device.backend}:{index}"
            click.echo(f"{label:<10} {'':<10} {description}")
    told = (f"{name}{'' if runs else ' (not on this machine)'}" for name, runs in levels.items())
    click.echo(f"{'SIMD':<10} {', '.join(told) or 'none compiled'}; PAIRHMM_CPU=LEVEL forces one")


def _calibrate(threads: int) -> None:
    from pairhmm import backends
    from pairhmm.bench.calibrate import measure
    from pairhmm.engine import calibration

    speeds = []
    for speed in measure(threads):
        speeds.append(speed)
        click.echo(
            f"{speed.backend:<8} {speed.device}: starts in {speed.start_seconds:.2f} s, "
            f"a call {1e3 * speed.call_seconds:.2f} ms, {speed.cells_per_second / 1e9:,.1f} GCUPS"
        )
    cpu = next((speed for speed in speeds if speed.backend == backends.on_the_cpu()[0]), None)
    for speed in speeds:
        if cpu is not None and speed is not cpu:
            cells = calibration.crossover(cpu, speed)
            told = "never" if cells is None else f"from {cells:,} cells on"
            click.echo(f"--backend auto takes {speed.backend} ({speed.device}) {told}")
    click.echo(f"kept in {calibration.save(calibration.Calibration(speeds))}")
