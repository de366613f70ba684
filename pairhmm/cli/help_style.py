"""Help pages: options in panels, with the same panels in the same order in every command, and examples at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rich_click as click

from pairhmm.cli.param_types import OutputFile

INPUT = "Input"
REGIONS = "Regions"
READS = "Reads"
DISCOVERY = "Discovery"
MODEL = "Model"
GENOTYPES = "Genotypes"
MATCHES = "Matches"
GENOME = "Genome"
SAMPLES = "Samples"
SKETCHES = "Sketches"
MAP = "Map"
MEASUREMENT = "Measurement"
COMPUTE = "Compute"
OUTPUT = "Output"
MESSAGES = "Messages"
HELP = "Help"

PANELS = (
    INPUT,
    REGIONS,
    READS,
    DISCOVERY,
    MODEL,
    GENOTYPES,
    MATCHES,
    GENOME,
    SAMPLES,
    SKETCHES,
    MAP,
    MEASUREMENT,
    COMPUTE,
    OUTPUT,
    MESSAGES,
    HELP,
)
"""All panels, in the order in which a help page shows them."""

CONTEXT_SETTINGS = {
    "help_option_names": ["-h", "--help"],
    "rich_help_config": {
        "options_panel_title": HELP,
        "options_table_column_types": ["opt_short", "opt_long", "metavar_short", "help"],
        "options_table_help_sections": ["help", "range", "default", "required"],
    },
}
"""Of the whole command line. Ranges stand behind the help: in a column of their own they would cut off names."""

INDENT = "  "


class _Page:
    """The parts of a command's help page that do not come from its options."""

    params: list[click.Parameter]

    def __init__(self, *args: Any, examples: Sequence[str] = (), **given: Any) -> None:
        given.setdefault("context_settings", CONTEXT_SETTINGS)
        super().__init__(*args, **given)
        self.examples = tuple(examples)
        for one in self.params:
            if isinstance(one.type, OutputFile):
                # Some files are read as soon as their option is: outputs are known before.
                one.is_eager = True

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Arguments and options, panel by panel."""
        found: list[click.Parameter] = super().get_params(ctx)  # type: ignore[misc]
        return sorted(found, key=lambda one: PANELS.index(getattr(one, "panel", None) or HELP))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they are typed."""
        if self.examples:
            from rich.text import Text

            lines = "".join(f"{INDENT}{line}\n" for example in self.examples for line in example.splitlines())
            formatter.write(Text(f" Examples:\n\n{lines}", no_wrap=True, overflow="ignore"))


class Command(_Page, click.RichCommand):
    """A command with examples.

    Attributes
    ----------
    examples : tuple of str
        Lines for the shell.
    """


class CommandGroup(_Page, click.RichGroup):  # type: ignore[misc]
    """A group of commands with examples; its commands are of the kinds of this module."""

    command_class = Command
