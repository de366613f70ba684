"""The types of options and arguments that are files.

Each file is told of when the command line is read, so that no command can forget to guard an input against its outputs.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

import rich_click as click

from pairhmm.io.files.destinations import note_output
from pairhmm.io.files.inputs import taken


class InputFile(click.Path):
    """A file that is read.

    Parameters
    ----------
    names : collection of str
        Values that are no files.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        # Readers say in one line what is wrong with a file.
        super().__init__(readable=False)
        self.names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if path not in self.names and not (ctx is not None and ctx.resilient_parsing):
            taken(os.fsdecode(path))
        return path


class OutputFile(click.Path):
    """A file that is written."""

    def __init__(self) -> None:
        super().__init__(readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if param is not None and not (ctx is not None and ctx.resilient_parsing):
            note_output(param.opts[0], os.fsdecode(path))
        return path


INPUT_FILE = InputFile()
OUTPUT_FILE = OutputFile()
