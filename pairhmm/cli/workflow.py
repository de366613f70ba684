"""`pairhmm workflow`: the Snakemake workflow that comes with pairhmm, and checks of its options and sample sheet."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from pairhmm.arguments import texts_of
from pairhmm.cli.help_style import CommandGroup
from pairhmm.cli.main import SHARED_OPTIONS, load_command
from pairhmm.errors import InputError

if TYPE_CHECKING:
    from pairhmm.files.sample_sheet import SheetRow

EXAMPLES = ("snakemake -s $(pairhmm workflow path)/Snakefile -c 2 --configfile config.yaml",)

_INPUT = "INPUT"
# The shell expands these, so the command line can't be read here.
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
    """Errors in options; empty if there are none.

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
    names = [param.name for param in verb.params if isinstance(param, click.Argument)]
    arguments = [*required, *words, *(_INPUT for _ in names)]
    try:
        with verb.make_context(command, arguments, help_option_names=[]) as context:
            values = [word for name in names for word in texts_of(context.params[name or ""])]
    except click.ClickException as error:
        return " ".join(error.format_message().removesuffix(".").split())
    return next((f"{word!r} is no option" for word in values if word != _INPUT), "")


def _command(name: str) -> click.Command:
    first, *below = name.split()
    command = load_command(first)
    for word in below:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command


def check_files(sheet: str | Path, rows: Sequence[SheetRow], reference: str = "") -> None:
    """Check the files that a sample sheet names by opening them; only headers and indexes are read.

    A missing index of the reference is made.

    Parameters
    ----------
    sheet : path
        For messages.
    rows : sequence of SheetRow
        From `read_sheet`.
    reference : str
        FASTA; empty where no row has alignments.

    Raises
    ------
    InputError
        For a file that is missing; for alignments that have no index, were made with another reference, or are of
        another sample.
    """
    for row in rows:
        for path in (*row.alignments, *row.reads):
            if not os.path.isfile(path):
                raise InputError(str(sheet), f"{row.place} ({row.sample})", f"no such file: {path}", "check the path")
    if not reference:
        return
    from pairhmm.alignments.opening import AlignmentReader
    from pairhmm.sequences.fasta import Reference

    with Reference(reference) as genome:
        for row in rows:
            for path in row.alignments:
                with AlignmentReader([path], genome, need_index=True) as reader:
                    if reader.samples != [row.sample]:
                        rule = f"{path} has {', '.join(map(repr, reader.samples))} in its read groups"
                        cure = "name the sample as its read groups do, or run samtools addreplacerg"
                        raise InputError(str(sheet), f"{row.place} ({row.sample})", rule, cure)
