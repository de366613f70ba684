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
CONSENSUS = "Consensus"
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
    CONSENSUS,
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
"""Settings of every command. Ranges follow the help text: a column of their own would cut off names."""

INDENT = "  "


class _Page:
    """The parts of a command's help page that do not come from its options."""

    params: list[click.Parameter]

    def __init__(self, *args: Any, examples: Sequence[str] = (), **settings: Any) -> None:
        settings.setdefault("context_settings", CONTEXT_SETTINGS)
        super().__init__(*args, **settings)
        self.examples = tuple(examples)
        for param in self.params:
            if isinstance(param.type, OutputFile):
                # Some files are read as soon as their option is: outputs are known before.
                param.is_eager = True

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Arguments and options, panel by panel."""
        params: list[click.Parameter] = super().get_params(ctx)  # type: ignore[misc]
        return sorted(params, key=lambda param: PANELS.index(getattr(param, "panel", None) or HELP))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they are typed."""
        if self.examples:
            from rich.text import Text

            lines = "".join(f"{INDENT}{line}\n" for example in self.examples for line in example.splitlines())
            formatter.write(Text(f" Examples:\n\n{lines}", no_wrap=True, overflow="ignore"))


class Command(_Page, click.RichCommand):
    """A command with examples, which are lines for the shell."""


class CommandGroup(_Page, click.RichGroup):  # type: ignore[misc]
    """A group of commands with examples. Its commands are `Command`s."""

    command_class = Command
