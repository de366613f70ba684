"""`pairhmm bench`: speed and accuracy on this machine, a module a table."""

from __future__ import annotations

import rich_click as click

from pairhmm.bench import cli_dp as dp
from pairhmm.bench import cli_forward as forward
from pairhmm.bench import cli_map as map
from pairhmm.bench import cli_scan as scan
from pairhmm.cli.help_style import CommandGroup

EXAMPLES = (
    "pairhmm bench forward --lengths 100,1000",
    "pairhmm bench scan --backend cuda",
)


@click.group("bench", cls=CommandGroup, examples=EXAMPLES)
def command() -> None:
    """Measure speed and accuracy on this machine."""


command.add_command(forward.command)
command.add_command(scan.command)
command.add_command(dp.command)
command.add_command(map.command)
