"""Read x haplotype likelihoods and genotypes with a pair hidden Markov model.

The functions have the names of the commands: `forward`, `likelihoods`, `call`, `fit`, `profiles`, `scatter`, `gather`,
`scan`, `align`, `warp`, `sketch`, `distances`, `relate`, `report`, `validate` and `simulate`, and there is
`forward_backward`; docs/python.md tells of them. Each is imported on first use, so that `import pairhmm` stays cheap.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # the name is enough: `typing` takes longer than the package
    from typing import Any

    from pairhmm.aligning.scoring import Scoring
    from pairhmm.commands.align import AlignedPair, align, align_scores
    from pairhmm.commands.align_haplotypes import write_haplotype_variants
    from pairhmm.commands.calibrate_str import calibrate_str, write_str_model
    from pairhmm.commands.call import call, write_calls
    from pairhmm.commands.exports import calls_to_pandas, likelihoods_to_pandas, write_vcf
    from pairhmm.commands.fit import fit
    from pairhmm.commands.forward import forward, make_read
    from pairhmm.commands.forward_backward import forward_backward
    from pairhmm.commands.gather import gather
    from pairhmm.commands.likelihoods import likelihoods, write_likelihoods
    from pairhmm.commands.map_distances import SampleDistances, distances, write_distances
    from pairhmm.commands.map_draw import draw_map, write_map
    from pairhmm.commands.map_relate import relate, write_relations
    from pairhmm.commands.map_sketch import sketch
    from pairhmm.commands.profiles import profiles, write_profiles
    from pairhmm.commands.report import report
    from pairhmm.commands.report_inputs import ReportInputs
    from pairhmm.commands.scan import scan
    from pairhmm.commands.scatter import scatter
    from pairhmm.commands.simulate import simulate
    from pairhmm.commands.validate import validate
    from pairhmm.commands.warp import warp
    from pairhmm.engine import Choice
    from pairhmm.errors import BackendUnavailable, InputError, OptionError, PairhmmError
    from pairhmm.evidence.genotyping import Site
    from pairhmm.evidence.inputs import RunOptions
    from pairhmm.evidence.molecules import MoleculeOptions
    from pairhmm.evidence.presets import preset_options
    from pairhmm.evidence.profiles import MadeProfile
    from pairhmm.evidence.region_evidence import Evidence
    from pairhmm.fitting.posterior import Posterior
    from pairhmm.genomics.genotypes import GenotypeOptions
    from pairhmm.models.batch import Group, PairBatch, Read, Scores
    from pairhmm.models.gatk import GatkOptions
    from pairhmm.placing.options import MapOptions
    from pairhmm.placing.sample_map import SampleMap
    from pairhmm.relating.relatedness import Relatedness, RelatedPair, RelatedSample
    from pairhmm.scanning.batch import ScanOptions
    from pairhmm.warping.batch import WarpOptions

__all__ = [
    "AlignedPair",
    "BackendUnavailable",
    "Choice",
    "Evidence",
    "GatkOptions",
    "GenotypeOptions",
    "Group",
    "InputError",
    "MadeProfile",
    "MapOptions",
    "MoleculeOptions",
    "OptionError",
    "PairBatch",
    "PairhmmError",
    "Posterior",
    "Read",
    "RelatedPair",
    "RelatedSample",
    "Relatedness",
    "ReportInputs",
    "RunOptions",
    "SampleDistances",
    "SampleMap",
    "ScanOptions",
    "Scores",
    "Scoring",
    "Site",
    "WarpOptions",
    "__version__",
    "align",
    "align_scores",
    "calibrate_str",
    "call",
    "calls_to_pandas",
    "distances",
    "draw_map",
    "fit",
    "forward",
    "forward_backward",
    "gather",
    "likelihoods",
    "likelihoods_to_pandas",
    "make_read",
    "preset_options",
    "profiles",
    "relate",
    "report",
    "scan",
    "scatter",
    "simulate",
    "sketch",
    "validate",
    "warp",
    "write_calls",
    "write_distances",
    "write_haplotype_variants",
    "write_likelihoods",
    "write_map",
    "write_profiles",
    "write_relations",
    "write_str_model",
    "write_vcf",
]

_HOMES = {
    "pairhmm.aligning.scoring": ("Scoring",),
    "pairhmm.commands.align": ("AlignedPair", "align", "align_scores"),
    "pairhmm.commands.align_haplotypes": ("write_haplotype_variants",),
    "pairhmm.commands.calibrate_str": ("calibrate_str", "write_str_model"),
    "pairhmm.commands.call": ("call", "write_calls"),
    "pairhmm.commands.exports": ("calls_to_pandas", "likelihoods_to_pandas", "write_vcf"),
    "pairhmm.commands.fit": ("fit",),
    "pairhmm.commands.forward": ("forward", "make_read"),
    "pairhmm.commands.forward_backward": ("forward_backward",),
    "pairhmm.commands.gather": ("gather",),
    "pairhmm.commands.likelihoods": ("likelihoods", "write_likelihoods"),
    "pairhmm.commands.map_distances": ("SampleDistances", "distances", "write_distances"),
    "pairhmm.commands.map_draw": ("draw_map", "write_map"),
    "pairhmm.commands.map_relate": ("relate", "write_relations"),
    "pairhmm.commands.map_sketch": ("sketch",),
    "pairhmm.commands.profiles": ("profiles", "write_profiles"),
    "pairhmm.commands.report": ("report",),
    "pairhmm.commands.report_inputs": ("ReportInputs",),
    "pairhmm.commands.scan": ("scan",),
    "pairhmm.commands.scatter": ("scatter",),
    "pairhmm.commands.simulate": ("simulate",),
    "pairhmm.commands.validate": ("validate",),
    "pairhmm.commands.warp": ("warp",),
    "pairhmm.engine": ("Choice",),
    "pairhmm.errors": ("BackendUnavailable", "InputError", "OptionError", "PairhmmError"),
    "pairhmm.evidence.genotyping": ("Site",),
    "pairhmm.evidence.inputs": ("RunOptions",),
    "pairhmm.evidence.molecules": ("MoleculeOptions",),
    "pairhmm.evidence.presets": ("preset_options",),
    "pairhmm.evidence.profiles": ("MadeProfile",),
    "pairhmm.evidence.region_evidence": ("Evidence",),
    "pairhmm.fitting.posterior": ("Posterior",),
    "pairhmm.genomics.genotypes": ("GenotypeOptions",),
    "pairhmm.models.batch": ("Group", "PairBatch", "Read", "Scores"),
    "pairhmm.models.gatk": ("GatkOptions",),
    "pairhmm.placing.options": ("MapOptions",),
    "pairhmm.placing.sample_map": ("SampleMap",),
    "pairhmm.relating.relatedness": ("RelatedPair", "RelatedSample", "Relatedness"),
    "pairhmm.scanning.batch": ("ScanOptions",),
    "pairhmm.warping.batch": ("WarpOptions",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        try:
            return import_module("pairhmm._version").version
        except ImportError:
            return "unknown"  # a checkout that is not installed
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
