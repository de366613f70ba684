"""`pairhmm workflow`: the Snakemake workflow that comes with pairhmm."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.pages import CommandGroup
from pairhmm.commands.workflow import workflow_folder

EXAMPLES = ("snakemake -s $(pairhmm workflow path)/Snakefile -c 2 --configfile config.yaml",)


@click.group("workflow", cls=CommandGroup, examples=EXAMPLES)
def command() -> None:
    """Find the Snakemake workflow that comes with pairhmm."""


@command.command("path", examples=("ls $(pairhmm workflow path)", *EXAMPLES))
def path() -> None:
    """Print the folder of the workflow."""
    click.echo(workflow_folder())
