"""`pairhmm workflow`: the Snakemake workflow that comes with pairhmm, and the check of the options that it gives."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import rich_click as click

from pairhmm.cli.help_style import CommandGroup
from pairhmm.cli.main import SHARED_OPTIONS
from pairhmm.commands import COMMANDS

EXAMPLES = ("snakemake -s $(pairhmm workflow path)/Snakefile -c 2 --configfile config.yaml",)

_INPUT = "INPUT"
# What the shell puts in place of these is not known here.
_EXPANDED = frozenset("$`*?~")


@click.group("workflow", cls=CommandGroup, examples=EXAMPLES)
def command() -> None:
    """Find the Snakemake workflow that comes with pairhmm."""


@command.command("path", examples=("ls $(pairhmm workflow path)", *EXAMPLES))
def path() -> None:
    """Print the folder of the workflow."""
    click.echo(workflow_folder())


def workflow_folder() -> Path:
    """Where the workflow's Snakefile, rules and profiles are: in the package, or beside it in a checkout."""
    packed = files("pairhmm") / "workflows"
    return Path(str(packed)) if packed.is_dir() else Path(str(files("pairhmm"))).parent / "workflows"


def why_wrong(command: str, text: str, required: Sequence[str] = ()) -> str:
    """What is wrong with options; empty where nothing is.

    Parameters
    ----------
    command : str
        Such as ``call`` or ``map sketch``.
    text : str
        The options as a shell takes them. They are not looked at where the shell would expand them.
    required : sequence of str
        Options that the command can't do without, which the workflow gives.

    Raises
    ------
    InputError
        For a file that an option names and that can't be used.
    """
    try:
        words = [word for word in shlex.split(text) if word not in SHARED_OPTIONS]
    except ValueError as error:
        return f"{error}: {text}"
    if _EXPANDED.intersection(text):
        return ""
    verb = _command(command)
    names = [one.name for one in verb.params if isinstance(one, click.Argument)]
    arguments = [*required, *words, *(_INPUT for _ in names)]
    try:
        with verb.make_context(command, arguments, help_option_names=[]) as context:
            given = [word for name in names for word in context.params[name or ""]]
    except click.ClickException as error:
        return " ".join(error.format_message().removesuffix(".").split())
    return next((f"{word!r} is no option" for word in given if word != _INPUT), "")


def _command(name: str) -> click.Command:
    first, *below = name.split()
    command: click.Command = import_module(COMMANDS[first]).command
    for word in below:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command
