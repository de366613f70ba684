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

_EVERYDAY = frozenset(
    [
        "alignments",
        "position",
        "reference",
        "candidates",
        "regions",
        "regions_file",
        "samples",
        "preset",
        "ploidy",
        "gvcf",
        "threads",
        "output",
    ]
)
"""The parameters that -h shows of a command with many."""
_MANY = 30
_IS_SHORT = "pairhmm.cli.help_style.is_short"

INDENT = "  "


def _everyday_help(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.meta[_IS_SHORT] = True
        click.echo(context.get_help(), color=context.color)
        click.echo(f" '{context.command_path} --help' shows all options.")
        context.exit()


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
        if len(self.params) > _MANY:
            self.params.append(
                click.RichOption(
                    ["-h", "everyday"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_everyday_help,
                    panel=HELP,
                    help="Show the options of every day, and exit.",
                )
            )

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Arguments and options, panel by panel."""
        params: list[click.Parameter] = super().get_params(ctx)  # type: ignore[misc]
        if ctx.meta.get(_IS_SHORT):
            params = [param for param in params if param.name in _EVERYDAY | {"help"}]
        return sorted(params, key=lambda param: PANELS.index(getattr(param, "panel", None) or HELP))

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """The names of the option that shows everything: without -h where that shows the options of every day."""
        names: list[str] = super().get_help_option_names(ctx)  # type: ignore[misc]
        return [name for name in names if name not in (name for param in self.params for name in param.opts)]

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option that shows everything."""
        option: click.Option | None = super().get_help_option(ctx)  # type: ignore[misc]
        if option and any(param.name == "everyday" for param in self.params):
            option.help = "Show all options, and exit."
        return option

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
