"""Command-line options made from a field of an option dataclass, or from a parameter of a function.

The field has the default, the range and the choices. An option has the field's name, so a command can pass on its
options by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any

import rich_click as click

from pairhmm.cli.help_style import OUTPUT
from pairhmm.cli.param_types import OUTPUT_FILE, Real, Whole
from pairhmm.options import LARGEST, Rule, rules_of

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(
    owner: object,
    name: str,
    *flags: str,
    panel: str,
    help: str,
    least: float | None = None,
    most: float | None = None,
    **settings: Any,
) -> Decorator:
    """An option that sets `name` of `owner`.

    Parameters
    ----------
    owner : dataclass instance or function
        Where the default, the range and the choices are: those of a field, or of a parameter.
    name : str
        Of the field or the parameter; the command gets the value under this name.
    *flags : str
        The option's names; by default ``--`` and `name` with dashes.
    panel, help : str
    least, most : float, optional
        A narrower range than the field's.
    **settings
        Passed on to `click.option`.

    Notes
    -----
    Where a field may be None but is not by default, 0 stands for None: it switches off what the field sets. Choices are
    listed behind the help, which calls them by the metavar.
    """
    rule, default = rules_of(_owner_type(owner))[name], default_of(owner, name)
    settings.setdefault("type", _type(rule, least, most))
    if rule.type is bool and not any("/" in flag for flag in flags):
        settings |= {"type": None, "is_flag": True}
    elif default is not None:
        settings = {"default": default, "show_default": True} | settings
    if rule.is_optional and default is not None:
        settings.setdefault("callback", _none_for_zero)
    if isinstance(settings["type"], click.Choice):
        help = f"{help} {settings['metavar']} is {either(settings['type'].choices)}."
    return click.option(*(flags or (flag_of(name),)), name, panel=panel, help=help, **settings)


def output_option(help: str, *, default: str | None = "-", required: bool = False) -> Decorator:
    """The option ``-o``, which names the file that a command writes: stdout by default."""
    # To click, None is a value like others: with it, no option is missing.
    value: dict[str, Any] = {} if required or default is None else {"default": default, "show_default": True}
    return click.option(
        "-o",
        "--output",
        **value,
        required=required,
        type=OUTPUT_FILE,
        metavar="FILE",
        panel=OUTPUT,
        help=help,
    )


def flag_of(name: str) -> str:
    """The option that sets a field or a parameter of this name."""
    return f"--{name.replace('_', '-')}"


def either(choices: Sequence[str]) -> str:
    """Choices in words: a, b or c."""
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))


def default_of(owner: Any, name: str) -> Any:
    """The value of a field, or the default of a class's field or a function's parameter; None where it has none."""
    if is_dataclass(owner) and not isinstance(owner, type):
        return getattr(owner, name)
    default = inspect.signature(owner).parameters[name].default
    return None if default is inspect.Parameter.empty else default


def _owner_type(owner: object) -> object:
    return type(owner) if is_dataclass(owner) else owner


def _type(rule: Rule, least: float | None = None, most: float | None = None) -> click.ParamType[Any] | None:
    if rule.choices:
        return click.Choice(rule.choices)
    lowest = least if least is not None or rule.within is None else rule.within.least
    highest = most if most is not None or rule.within is None else rule.within.most
    if rule.type is int and lowest is not None:
        return Whole(int(lowest), LARGEST if highest is None else int(highest))
    if rule.type is int:
        return click.INT
    return Real(lowest, None if highest == LARGEST else highest) if rule.type is float else None


def _none_for_zero(context: click.Context, parameter: click.Parameter, value: float) -> float | None:
    return value or None
