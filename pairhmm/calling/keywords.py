"""Keywords that the functions of a run take, for type checkers. A test compares them with the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from pairhmm.alignments.molecules import Families
from pairhmm.alignments.primers import Primers
from pairhmm.alignments.selection import ReadSelection
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.stream import EvidenceOptions
from pairhmm.engine import Choice
from pairhmm.models.gatk import GatkOptions, IndelQualities, PcrModel
from pairhmm.models.profile import ProfileModel
from pairhmm.models.str_model import StrModel
from pairhmm.variants.pedigree import Pedigree
from pairhmm.variants.ploidy import Ploidies, PloidyRule
from pairhmm.variants.regions import RegionOptions


class RunKeywords(TypedDict, total=False):
    """The fields of `RunOptions` and of the option dataclasses in it."""

    reads: ReadSelection
    excluded_flags: int
    min_mapq: int
    samples: Sequence[str]
    default_base_quality: int | None
    circular: Sequence[str]
    primers: Primers | None
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
    trims_ends: bool
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
    window: int
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
    errors: Any
    padding: int
    stutter: bool
    backend: str | Choice
    threads: int
    chunk_size: int


class CallKeywords(RunKeywords, total=False):
    """The fields of `RunOptions` and of `GenotypeOptions`."""

    ploidy: int
    snv_prior: float
    indel_prior: float
    pedigree: Pedigree | None
    contamination: float
    contaminations: Mapping[str, float]
    mixture: bool
    ploidies: Ploidies
    of_sample: Mapping[str, int]
    sex_of: Mapping[str, str]
    rules: Sequence[PloidyRule]
