"""Read x haplotype likelihoods and genotypes with a pair hidden Markov model.

The functions have the names of the commands: `forward`, `likelihoods`, `call`, `scatter`, `gather`, `scan`, `report`,
`validate` and `simulate`; docs/python.md tells of them. Each is imported on first use, so that `import pairhmm` stays
cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairhmm.batch import Group, PairBatch, Read, Scores
    from pairhmm.call import Site, call, write_calls
    from pairhmm.engine import Choice
    from pairhmm.errors import BackendUnavailable, InputError, OptionError, PairhmmError
    from pairhmm.evidence import Evidence
    from pairhmm.exports import calls_to_pandas, likelihoods_to_pandas, write_vcf
    from pairhmm.forward import forward, make_read
    from pairhmm.gather import gather
    from pairhmm.genotypes import GenotypeOptions
    from pairhmm.likelihoods import likelihoods, write_likelihoods
    from pairhmm.models.gatk import GatkOptions
    from pairhmm.report import ReportInputs, report
    from pairhmm.runs import RunOptions
    from pairhmm.scan import scan
    from pairhmm.scanning.batch import ScanOptions
    from pairhmm.scatter import scatter
    from pairhmm.simulate import simulate
    from pairhmm.validate import validate

__all__ = [
    "BackendUnavailable",
    "Choice",
    "Evidence",
    "GatkOptions",
    "GenotypeOptions",
    "Group",
    "InputError",
    "OptionError",
    "PairBatch",
    "PairhmmError",
    "Read",
    "ReportInputs",
    "RunOptions",
    "ScanOptions",
    "Scores",
    "Site",
    "__version__",
    "call",
    "calls_to_pandas",
    "forward",
    "gather",
    "likelihoods",
    "likelihoods_to_pandas",
    "make_read",
    "report",
    "scan",
    "scatter",
    "simulate",
    "validate",
    "write_calls",
    "write_likelihoods",
    "write_vcf",
]

_VERBS = ("call", "forward", "gather", "likelihoods", "report", "scan", "scatter", "simulate", "validate")

_HOMES = {
    **{verb: f"pairhmm.{verb}" for verb in _VERBS},
    **dict.fromkeys(("Site", "write_calls"), "pairhmm.call"),
    **dict.fromkeys(("calls_to_pandas", "likelihoods_to_pandas", "write_vcf"), "pairhmm.exports"),
    "Choice": "pairhmm.engine",
    "Evidence": "pairhmm.evidence",
    "GenotypeOptions": "pairhmm.genotypes",
    "RunOptions": "pairhmm.runs",
    "make_read": "pairhmm.forward",
    "write_likelihoods": "pairhmm.likelihoods",
    "GatkOptions": "pairhmm.models.gatk",
    "ReportInputs": "pairhmm.report",
    "ScanOptions": "pairhmm.scanning.batch",
    **dict.fromkeys(("Group", "PairBatch", "Read", "Scores"), "pairhmm.batch"),
    **dict.fromkeys(("BackendUnavailable", "InputError", "OptionError", "PairhmmError"), "pairhmm.errors"),
}


class _Package(ModuleType):
    """A verb and its module share a name; the attribute of the package is the verb, however its module was imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _VERBS and isinstance(value, ModuleType):
            return  # The import system binds a submodule to its parent here: __getattr__ gives the function instead.
        super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("pairhmm")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


sys.modules[__name__].__class__ = _Package
