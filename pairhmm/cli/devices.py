"""`pairhmm devices`: which backends run here."""

from __future__ import annotations

import rich_click as click


@click.command("devices")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(as_json: bool) -> None:
    """Say which backends run here and on what devices, and what the others lack."""
    import json
    from dataclasses import asdict

    from pairhmm.devices import devices, simd_levels

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
