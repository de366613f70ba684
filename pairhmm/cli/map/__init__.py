"""`pairhmm map`: which samples are alike, a module a step."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.map import relate, sketch
from pairhmm.cli.pages import CommandGroup


@click.group("map", cls=CommandGroup)
def command() -> None:
    """Find which samples are alike, swapped or contaminated."""


command.add_command(relate.command)
command.add_command(sketch.command)
