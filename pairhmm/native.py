"""The compiled part of the package. Where it is missing, its first use says so, and how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pairhmm.errors import CompiledPartMissing

__all__ = ["CURE", "Missing", "is_compiled", "native", "require_compiled"]

CURE = "install a C++ compiler (apt install g++) and then pairhmm again, or install its wheel"


class Missing:
    """Stands in for the compiled part, so that modules that use it can be imported without it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # doctest, inspect and copy look for these
            raise AttributeError(name)
        self.refuse("this")

    def refuse(self, what: str) -> NoReturn:
        raise CompiledPartMissing(what, self.reason, CURE)


if TYPE_CHECKING:
    from pairhmm import _cpu as native
else:
    try:
        import pairhmm._cpu as native
    except ModuleNotFoundError:
        native = Missing("which is not installed")
    except ImportError as error:
        native = Missing(f"which does not load ({error})")


def is_compiled() -> bool:
    """Whether the compiled part is installed."""
    return not isinstance(native, Missing)


def require_compiled(what: str) -> None:
    """Raise CompiledPartMissing, with `what` as its subject, unless the compiled part is installed."""
    if isinstance(native, Missing):
        native.refuse(what)
