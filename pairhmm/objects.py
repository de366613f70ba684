"""The short repr of dataclasses that hold arrays."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

_LONGEST_TEXT, _MOST_ITEMS = 40, 4


def short_repr(self: Any) -> str:
    """The repr of a dataclass in a line or two; classes set it as their ``__repr__``."""
    shown = ", ".join(f"{field.name}={_shown(getattr(self, field.name))}" for field in fields(self) if field.repr)
    return f"{type(self).__name__}({shown})"


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype if value.dtype.names is None else 'records'}{list(value.shape)}"
    if isinstance(value, str | bytes) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]!r}... ({len(value)} in all)"
    if isinstance(value, list | tuple) and (len(value) > _MOST_ITEMS or any(map(_is_large, value))):
        return f"<{len(value)} of {type(value[0]).__name__}>"
    return repr(value)


def _is_large(value: object) -> bool:
    if isinstance(value, str | bytes):
        return len(value) > _LONGEST_TEXT
    return isinstance(value, np.ndarray) or is_dataclass(value)
