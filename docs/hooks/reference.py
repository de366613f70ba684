"""MkDocs: the references of the command line and of Python, from the objects themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import rich_click as click
from mkdocs.structure.pages import Page
from rich_click.rich_panel import RichOptionPanel, construct_panels

import pairhmm
from pairhmm.cli.main import cli


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Append every command to the page of commands, and every public name to that of the Python API."""
    if page.file.src_uri == "commands.md":
        return "\n".join([markdown, *_described(cli, "pairhmm")])
    if page.file.src_uri == "api.md":
        return "\n".join([markdown, *_public_names()])
    return markdown


def _public_names() -> Iterator[str]:
    """Functions, errors and other classes, each with what mkdocstrings replaces by its docstring."""
    names = [name for name in dir(pairhmm) if name != "__version__"]
    functions = [name for name in names if inspect.isfunction(getattr(pairhmm, name))]
    errors = [name for name in names if name not in functions and issubclass(getattr(pairhmm, name), Exception)]
    classes = [name for name in names if name not in (*functions, *errors)]
    for title, group in (("Functions", functions), ("Classes", classes), ("Errors", errors)):
        yield f"\n## {title}\n"
        yield from (f"::: pairhmm.{name}\n" for name in group)


def _described(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """A command's lines of Markdown, then those of its subcommands."""
    context = click.RichContext(command, info_name=name, parent=parent, **command.context_settings)
    yield f"\n## {context.command_path}\n"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```\n{usage}\n```\n"
    yield _prose(command.help or "")
    for panel in construct_panels(command, context, context.make_formatter()):
        if isinstance(panel, RichOptionPanel):
            yield from _table(panel.name, list(panel.options), context)
    if examples := command.examples:
        yield "\n".join(["\nExamples:\n", "```", *examples, "```", ""])
    if isinstance(command, click.Group):
        for subcommand in command.list_commands(context):
            # The list may hold stand-ins: what is run is what resolving a command line gives.
            found = command.resolve_command(context, [subcommand])[1]
            if found is not None:
                yield from _described(found, subcommand, context)


def _table(title: str, names: list[str], context: click.RichContext) -> Iterator[str]:
    """The options of a panel; each name is one that the option has."""
    rows = []
    for option in context.command.get_params(context):
        record = option.get_help_record(context)
        if record and {option.name, *option.opts, *option.secondary_opts} & set(names):
            rows.append(f"| <code>{_escaped(record[0])}</code> | {_escaped(record[1])} |")
    if rows:
        yield "\n".join([f"\n| {_escaped(title)} | |", "|---|---|", *rows, ""])


def _prose(text: str) -> str:
    """Help as Markdown."""
    return "\n\n".join(map(_escaped, re.split(r"\n\s*\n", inspect.cleandoc(text))))


def _escaped(text: str) -> str:
    """Text in which Markdown and HTML find no markup, on one line."""
    return re.sub(r"[\\`*_<>&|\[\]]", lambda found: f"&#{ord(found[0])};", " ".join(text.split()))
