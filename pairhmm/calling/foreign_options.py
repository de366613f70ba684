"""Other tools' names of options, on the command line: the error names ours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import rich_click as click

from pairhmm.calling.foreign_names import HINTS
from pairhmm.cli.help_style import Command

if TYPE_CHECKING:
    from collections.abc import Iterator


class AlignmentsCommand(Command):
    """A command that reads alignments. It knows other tools' names of its options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Another tool's option is a UsageError that names ours."""
        for name, value in _options(args):
            hint = self._hint(name, value)
            if hint is not None:
                raise click.UsageError(hint, ctx)
        return super().parse_args(ctx, args)

    def _hint(self, name: str, value: str) -> str | None:
        if name == "-R" and re.search(r"\.(fa|fna|fasta)(\.gz)?$", value):
            return f"-R takes a BED file, and {value} is a reference: that is -f."
        own = {flag for param in self.params for flag in (param.name, *param.opts, *param.secondary_opts)}
        if name in own:
            return None
        return next(
            (
                f"No such option '{name}'. {hint}"
                for names, (target, hint) in HINTS.items()
                if name in names and target in own
            ),
            None,
        )


def _options(args: list[str]) -> Iterator[tuple[str, str]]:
    """The arguments that look like options, each with what follows it or is assigned to it."""
    end = args.index("--") if "--" in args else len(args)
    for arg, after in zip(args[:end], [*args[1:], ""], strict=False):
        if arg.startswith("-"):
            name, is_assigned, value = arg.partition("=")
            yield name, value if is_assigned else after
