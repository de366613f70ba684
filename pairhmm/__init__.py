"""Read x haplotype likelihoods and genotypes with a pair hidden Markov model.

The functions have the names of the commands: `forward`, `likelihoods`, `call`, `consensus`, `fit`, `profiles`,
`scatter`, `gather`, `scan`, `align`, `warp`, `sketch`, `distances`, `relate`, `report`, `validate` and `simulate`, and
there is `forward_backward`; docs/python.md tells of them. Each is imported on first use, so that `import pairhmm` stays
cheap.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> object:
    if name == "__version__":
        try:
            return import_module("pairhmm._version").version
        except ImportError:
            return "unknown"  # a checkout that is not installed
    homes = _homes()
    if name == "__all__":
        return sorted((*homes, "__version__"))
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)


def __dir__() -> list[str]:
    return sorted((*_homes(), "__version__"))


@cache
def _homes() -> dict[str, str]:
    """The module of each public name. Type checkers read the same file."""
    # Not by `ast`: every start comes here, for the imports of this package's folders.
    with open(f"{__file__}i", encoding="utf-8") as stub:
        imports = [line.split() for line in stub if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in imports}


class _Package(ModuleType):
    """Keeps `pairhmm.scan` a function: importing `pairhmm.scan.api` would put the folder of that name in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not isinstance(value, ModuleType) or name not in _homes():
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
