"""`pairhmm workflow`: the Snakemake workflow that comes with pairhmm."""

from __future__ import annotations

import rich_click as click


@click.group("workflow")
def command() -> None:
    """The Snakemake workflow that comes with pairhmm."""


@command.command("path")
def path() -> None:
    """Print the workflow's folder: snakemake -s $(pairhmm workflow path)/Snakefile."""
    from pairhmm.commands.workflow import workflow_folder

    click.echo(workflow_folder())
