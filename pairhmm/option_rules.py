"""What the values of options must be; each is checked when its options are made."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from pairhmm.errors import OptionError


def check_whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raise OptionError unless `value` is a whole number from `least` to `most`."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise OptionError(name, value, f"is not a whole number {_range(least, most)}") from None
    if isinstance(value, bool) or number < least or (most is not None and number > most):
        raise OptionError(name, value, f"is not a whole number {_range(least, most)}")


def check_number(name: str, value: object, least: float, most: float | None = None) -> None:
    """Raise OptionError unless `value` is a finite number from `least` to `most`."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    is_number = not isinstance(value, bool | str | bytes)
    if not (is_number and math.isfinite(number) and number >= least and (most is None or number <= most)):
        raise OptionError(name, value, f"is not a number {_range(least, most)}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise OptionError unless `value` is one of `choices`."""
    if value not in choices:
        raise OptionError(name, value, f"is not one of {', '.join(choices)}")


def _range(least: float, most: float | None) -> str:
    return f"of at least {least:g}" if most is None else f"from {least:g} to {most:g}"
