"""Modules of the public interface by the names they had in 0.1: they import for one more release, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in `pairhmm`
    from typing import Any

# Old name: the modules that hold its names now.
_MOVED = {
    "pairhmm.batch": ("pairhmm.models.batch",),
    "pairhmm.call": ("pairhmm.commands.call",),
    "pairhmm.candidates": ("pairhmm.genomics.discovery",),
    "pairhmm.device_pool": ("pairhmm.engine.device_pool",),
    "pairhmm.exports": ("pairhmm.commands.exports",),
    "pairhmm.forward": ("pairhmm.commands.forward", "pairhmm.commands.forward_files"),
    "pairhmm.gather": ("pairhmm.commands.gather",),
    "pairhmm.genotypes": ("pairhmm.genomics.genotypes",),
    "pairhmm.haplotypes": ("pairhmm.genomics.haplotypes",),
    "pairhmm.io.read_blocks": ("pairhmm.io.alignments.read_blocks", "pairhmm.io.alignments.selection"),
    "pairhmm.likelihoods": ("pairhmm.commands.likelihoods",),
    "pairhmm.ploidy": ("pairhmm.genomics.ploidy",),
    "pairhmm.regions": ("pairhmm.genomics.regions",),
    "pairhmm.report": ("pairhmm.commands.report",),
    "pairhmm.runs": ("pairhmm.evidence.inputs", "pairhmm.evidence.opening", "pairhmm.evidence.run"),
    "pairhmm.scan": ("pairhmm.commands.scan", "pairhmm.commands.scan_files"),
    "pairhmm.scatter": ("pairhmm.commands.scatter",),
    "pairhmm.simulate": ("pairhmm.commands.simulate",),
    "pairhmm.validate": ("pairhmm.commands.validate",),
    "pairhmm.variants": ("pairhmm.genomics.variants",),
}


class _MovedModule(ModuleType):
    """A module under its old name. Where a function has that name too, the module can be called as the function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


class _Finder:
    # The base classes of importlib.abc would cost `import pairhmm` a third of its time.
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in _MOVED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _MovedModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        homes = _MOVED[module.__name__]
        told = f"{module.__name__} is {' and '.join(homes)} now, and goes with the next release"
        warnings.warn(told, FutureWarning, stacklevel=2)
        for home in homes:
            found = vars(import_module(home)).items()
            module.__dict__.update({name: value for name, value in found if not name.startswith("__")})


def install() -> None:
    """Let the old names be imported."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
