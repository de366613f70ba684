"""Lets functions take the fields of option dataclasses as keywords, in addition to the objects themselves.

`call(..., threads=2, ploidy=1)` is `call(..., options=RunOptions(threads=2), genotypes=GenotypeOptions(ploidy=1))`. The
typed dictionaries below, and those beside the options of other commands, are for editors and type checkers; a test
compares them with the dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import cache
from typing import Any, TypedDict, TypeVarTuple, get_type_hints

from pairhmm.engine import Choice
from pairhmm.evidence.molecules import MoleculeOptions
from pairhmm.evidence.stream import EvidenceOptions
from pairhmm.genomics.discovery import CandidateOptions
from pairhmm.genomics.pedigree import Pedigree
from pairhmm.genomics.ploidy import Ploidies, PloidyRule
from pairhmm.genomics.regions import RegionOptions
from pairhmm.io.alignments.molecules import Families
from pairhmm.io.alignments.selection import ReadSelection
from pairhmm.models.gatk import GatkOptions, IndelQualities, PcrModel
from pairhmm.models.profile import ProfileModel
from pairhmm.models.str_model import StrModel

Groups = TypeVarTuple("Groups")


class RunKeywords(TypedDict, total=False):
    """The fields of `RunOptions` and of the option dataclasses in it."""

    reads: ReadSelection
    excluded_flags: int
    min_mapq: int
    default_base_quality: int | None
    model: GatkOptions
    profile: ProfileModel | None
    molecules: MoleculeOptions
    join_mates: bool
    families: Families
    insertion_quality: int
    deletion_quality: int
    gap_quality: int
    indel_tags: bool
    pcr_indel_model: PcrModel
    indel_qualities: IndelQualities | None
    str_model: StrModel | None
    cap_by_mapping_quality: bool
    base_quality_threshold: int | None
    score_floor: float | None
    error_rate: float | None
    joining: RegionOptions
    join_distance: int
    max_span: int
    max_alleles: int
    flank: int
    min_flank: int
    pad: int
    evidence: EvidenceOptions
    max_haplotypes: int
    max_depth: int
    max_cells: int
    discovery: CandidateOptions
    min_base_quality: int
    min_snv_count: int
    min_indel_count: int
    min_snv_fraction: float
    min_indel_fraction: float
    assembly: bool
    backend: str | Choice
    threads: int
    chunk_size: int


class CallKeywords(RunKeywords, total=False):
    """The fields of `RunOptions` and of `GenotypeOptions`."""

    ploidy: int
    snv_prior: float
    indel_prior: float
    pedigree: Pedigree | None
    ploidies: Ploidies
    of_sample: Mapping[str, int]
    sex_of: Mapping[str, str]
    rules: Sequence[PloidyRule]


def with_keywords(function: str, keywords: Mapping[str, object], *options: *Groups) -> tuple[*Groups]:
    """Apply keywords to option objects.

    Parameters
    ----------
    function : str
        Name of the function, for messages.
    keywords : mapping
        Values by the names of fields of the options, or of option dataclasses inside them.
    *options : dataclasses

    Returns
    -------
    tuple
        The options with those values, in their order.

    Raises
    ------
    TypeError
        For a keyword that is not a field. The message suggests the nearest one.
    OptionError
        For a value that the option can't have.
    """
    kinds: list[Any] = [type(one) for one in options]
    known = [name for kind in kinds for name in keyword_types(kind)]
    for name in keywords:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}"
            raise TypeError(f"{function}() has no option {name!r}; {hint}")
    return tuple(_changed(one, keywords) for one in options)


@cache
def keyword_types(options: type) -> dict[str, Any]:
    """Names and types of the fields of an option dataclass, and of the option dataclasses inside it."""
    found = {}
    for name, kind in get_type_hints(options).items():
        found[name] = kind
        if isinstance(kind, type) and is_dataclass(kind):
            found |= keyword_types(kind)
    return found


def _changed(options: Any, keywords: Mapping[str, object]) -> Any:
    changes: dict[str, object] = {}
    for name, kind in get_type_hints(type(options)).items():
        value = keywords.get(name, getattr(options, name))
        if isinstance(kind, type) and is_dataclass(kind) and keywords.keys() & keyword_types(kind).keys():
            value = _changed(value, keywords)
        if value is not getattr(options, name):
            changes[name] = value
    return replace(options, **changes) if changes else options
