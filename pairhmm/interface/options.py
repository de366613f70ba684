"""Checks of option values, which run when the options are made."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from pairhmm.errors import OptionError

LARGEST = 2**31 - 1
"""The largest number of an option that has no limit of its own: some compiled code counts in 32 bits."""


def check_whole(name: str, value: object, least: int, most: int = LARGEST) -> None:
    """Raise OptionError unless `value` is a whole number from `least` to `most`."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise OptionError(name, value, f"is not a whole number {_range(least, most)}") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise OptionError(name, value, f"is not a whole number {_range(least, most)}")


def check_number(name: str, value: object, least: float, most: float = LARGEST) -> None:
    """Raise OptionError unless `value` is a number from `least` to `most`; NaN is none."""
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
