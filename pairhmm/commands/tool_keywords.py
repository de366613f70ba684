"""Keywords of the functions that neither call nor make likelihoods, as typed dictionaries (`keywords` has the others).

They stand apart because the types of their values come from packages that a call need not import.
"""

from __future__ import annotations

from typing import TypedDict

from pairhmm.aligning.scoring import Mode, Overhang
from pairhmm.interface.arguments import AnyPath, Paths, Texts
from pairhmm.sketching.sketches import SchemeName
from pairhmm.warping.batch import WarpMode


class ScanKeywords(TypedDict, total=False):
    """The fields of `ScanOptions`."""

    both_strands: bool
    max_mismatches: int
    min_informative: int
    min_score: float
    min_mean: float
    every_match: bool


class SketchKeywords(TypedDict, total=False):
    """The fields of `SketchOptions`."""

    scheme: SchemeName
    k: int
    slots: int | None
    bits: int | None
    min_count: int | None


class AlignKeywords(TypedDict, total=False):
    """The fields of `Scoring`."""

    match: int
    mismatch: int
    gap_open: int
    gap_extend: int
    mode: Mode
    overhang: Overhang


class WarpKeywords(TypedDict, total=False):
    """The fields of `WarpOptions`."""

    mode: WarpMode
    band: int | None


class ReportKeywords(TypedDict, total=False):
    """The fields of `ReportInputs`."""

    reference: AnyPath | None
    calls: AnyPath | None
    likelihoods: Paths
    alignments: Paths
    hits: Paths
    signatures: AnyPath | None
    timings: Paths
    hits_samples: Texts
    scan_summaries: Paths
    fit: AnyPath | None
    fit_rounds: AnyPath | None
    map: AnyPath | None
    distances: AnyPath | None
    pairs: AnyPath | None
    sample_checks: AnyPath | None
    sheet: AnyPath | None
    info: Texts
