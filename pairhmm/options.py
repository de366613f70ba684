"""Rules for the values of options. Option dataclasses check them when they are made; the command line shows them.

A rule is written once, in the type of a field: ``min_mapq: Annotated[int, Within(0, 255)]``, or a ``Literal``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVarTuple, Union, get_args, get_origin, get_type_hints

from pairhmm.errors import OptionError

LARGEST = 2**31 - 1
"""The highest whole number where nothing else bounds it: compiled code counts in 32 bits in places."""


@dataclass(frozen=True, slots=True)
class Within:
    """The range of a number, both ends included, as a part of its type: ``Annotated[int, Within(0, 93)]``."""

    least: float
    most: float = LARGEST


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that the type of an option sets for its values.

    `type`: ``int``, ``float``, ``bool`` or ``str``; ``object`` for anything else. `is_optional`: None is a value, too.
    `choices`: those of a ``Literal``.
    """

    type: type
    is_optional: bool = False
    within: Within | None = None
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: object) -> None:
        """Raise OptionError, with the option's name, unless it may have this value."""
        if value is None and self.is_optional:
            return
        if self.choices:
            check_choice(name, value, self.choices)
        elif self.within is not None and self.type is int:
            check_whole(name, value, int(self.within.least), int(self.within.most))
        elif self.within is not None:
            check_number(name, value, self.within.least, self.within.most)


@cache
def rules_of(options: Any) -> Mapping[str, Rule]:
    """The rules of the fields of an option dataclass, or of the parameters of a function, by their names."""
    return {name: _rule(kind) for name, kind in get_type_hints(options, include_extras=True).items()}


def _rule(kind: Any) -> Rule:
    within = None
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
        within = next((note for note in notes if isinstance(note, Within)), None)
    if get_origin(kind) is Literal:
        return Rule(str, choices=get_args(kind))
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    plain = [type_ for type_ in (int, float, bool, str) if type_ in kinds]
    return Rule(plain[0] if len(plain) == 1 else object, NoneType in kinds, within)


def check_fields(options: object) -> None:
    """Raise OptionError unless every field of an option dataclass has a value that its type allows."""
    kind: Any = type(options)
    for name, rule in rules_of(kind).items():
        rule.check(name, getattr(options, name))


def check_arguments(function: object, values: Mapping[str, object]) -> None:
    """Raise OptionError unless the arguments of a function have values that their types allow."""
    for name, rule in rules_of(function).items():
        if name in values:
            rule.check(name, values[name])


def check_whole(name: str, value: object, least: int, most: int = LARGEST) -> None:
    """Raise OptionError unless `value` is a whole number from `least` to `most`."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise OptionError(name, value, f"is not a whole number {_range(least, most)}") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise OptionError(name, value, f"is not a whole number {_range(least, most)}")


def check_number(name: str, value: object, least: float, most: float = LARGEST) -> None:
    """Raise OptionError unless `value` is a number from `least` to `most`, and not NaN."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    is_number = not isinstance(value, bool | str | bytes)
    if not (is_number and least <= number <= most):
        raise OptionError(name, value, f"is not a number {_range(least, most)}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise OptionError unless `value` is one of `choices`."""
    if value not in choices:
        raise OptionError(name, value, f"is not one of {', '.join(choices)}")


def _range(least: float, most: float) -> str:
    return f"from {least} to {most}"


Groups = TypeVarTuple("Groups")


def with_keywords(function: str, keywords: Mapping[str, object], *options: *Groups) -> tuple[*Groups]:
    """Apply keywords to option objects.

    `call(..., threads=2, ploidy=1)` is `call(..., options=RunOptions(threads=2), genotypes=GenotypeOptions(ploidy=1))`.
    Beside the options of a command stands a typed dictionary of these keywords.

    Parameters
    ----------
    function : str
        Name of the function, for messages.
    keywords : mapping
        Values by the names of fields of the options, or of option dataclasses inside them.

    Returns
    -------
    tuple
        The options with those values, in their order.

    Raises
    ------
    TypeError
        For a keyword that is not a field. The message suggests the one that is meant (`keyword_meant` of the options),
        or the nearest one.
    OptionError
        For a value that the option can't have.
    """
    kinds: list[Any] = [type(group) for group in options]
    known = [name for kind in kinds for name in keyword_types(kind)]
    for name in keywords:
        if name not in known:
            from difflib import get_close_matches

            near = _meant(name, kinds) or next(iter(get_close_matches(name, known, n=1)), None)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(sorted(known))}"
            raise TypeError(f"{function}() has no option {name!r}; {hint}")
    return tuple(_changed(group, keywords) for group in options)


def _meant(name: str, kinds: Sequence[Any]) -> str | None:
    return next((kind.keyword_meant(name) for kind in kinds if hasattr(kind, "keyword_meant")), None)


@cache
def keyword_types(options: type) -> dict[str, Any]:
    """Names and types of the fields of an option dataclass, and of the option dataclasses inside it."""
    types = {}
    for name, kind in get_type_hints(options).items():
        types[name] = kind
        if isinstance(kind, type) and is_dataclass(kind):
            types |= keyword_types(kind)
    return types


def _changed(options: Any, keywords: Mapping[str, object]) -> Any:
    changes: dict[str, object] = {}
    for name, kind in get_type_hints(type(options)).items():
        value = keywords.get(name, getattr(options, name))
        if isinstance(kind, type) and is_dataclass(kind) and keywords.keys() & keyword_types(kind).keys():
            value = _changed(value, keywords)
        if value is not getattr(options, name):
            changes[name] = value
    return replace(options, **changes) if changes else options
