"""Coverage of targets in a report: how deep the reads of each sample lie on each target, and where they do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.selection import ReadSelection
from pairhmm.calling.run_options import EXCLUDED_FLAGS, MIN_MAPQ
from pairhmm.calling.targets import widened
from pairhmm.consensus.depth import contig_depths, depth_over
from pairhmm.errors import InputError
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import Column, ReportPart, Value, rounded
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval, named_intervals

TARGET_DEPTH = 20
"""The depth that bases of targets should have, unless another one is asked for."""
MIN_BASE_QUALITY = 10
"""Bases below this Phred quality do not count."""
_SELECTION = ReadSelection(EXCLUDED_FLAGS, MIN_MAPQ, default_base_quality=MIN_BASE_QUALITY)
MOST_ROWS = 2000
"""The most targets of samples that a report lists: those with the lowest share of bases with enough depth."""
MOST_GAPS = 20
"""The most gaps of a target that are listed."""


@dataclass(frozen=True, slots=True)
class CoveredTarget:
    """A target in a sample: its depths, and intervals whose depth is too low."""

    name: str
    place: Interval
    sample: str
    mean: float
    least: int
    share: float
    gaps: list[tuple[int, int]]

    def for_page(self, samples: Mapping[str, int]) -> list[Any]:
        gaps = [self.gaps[:MOST_GAPS], len(self.gaps)]
        told = [self.name, *self.place, samples[self.sample], rounded(self.mean), self.least]
        return [*told, rounded(self.share, 6), *gaps]


@dataclass(slots=True)
class _Sums:
    """Sums over the bases of a sample's targets, each base once."""

    bases: int = 0
    enough: int = 0
    depth: int = 0
    with_gaps: int = 0


@dataclass(slots=True)
class Targets(ReportPart):
    """The targets in each sample. `least` is the depth that their bases should have."""

    least: int
    count: int = 0
    sums: dict[str, _Sums] = field(default_factory=dict)
    covered: list[CoveredTarget] = field(default_factory=list)

    @property
    def samples(self) -> Sequence[str]:
        return list(self.sums)

    @property
    def columns(self) -> Mapping[str, Column]:
        if not self.sums:
            return {}
        return {
            "target_depth": ("Target depth", "Mean depth of the bases of targets", "{:,.1f}"),
            "target_share": (
                f"≥ {self.least}x %",
                f"Percentage of them with a depth of {self.least} or more",
                "{:,.2f}",
            ),
            "target_gaps": ("Gaps", f"Targets with bases below a depth of {self.least}", "{:,.0f}"),
        }

    def figures(self, sample: str) -> Mapping[str, Value]:
        if sample not in self.sums:
            return {}
        sums = self.sums[sample]
        share = 100 * sums.enough / sums.bases
        return {"target_depth": sums.depth / sums.bases, "target_share": share, "target_gaps": sums.with_gaps}

    def add(self, sample: str, chrom: str, depth: NDArray[np.uint32], own: Sequence[tuple[Interval, str]]) -> None:
        """Add the targets of a contig."""
        sums = self.sums[sample]
        # What passes the end of a circle is at its beginning.
        for place in widened([place for place, _ in own], 0, {chrom: len(depth)}, [chrom]):
            here = depth[place.start : place.end]
            sums.bases += len(here)
            sums.enough += int(np.count_nonzero(here >= self.least))
            sums.depth += int(here.sum(dtype=np.int64))
        for place, name in own:
            here = depth_over(depth, place.start, place.end)
            gaps = _runs(here < self.least, place.start)
            sums.with_gaps += bool(gaps)
            share = float((here >= self.least).mean())
            self.covered.append(CoveredTarget(name, place, sample, float(here.mean()), int(here.min()), share, gaps))

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        if not self.sums:
            return {"targets": None}
        shown = sorted(self.covered, key=lambda one: (one.share, one.mean))[:MOST_ROWS]
        sums = list(self.sums.values())
        return {
            "targets": {
                "least": self.least,
                "count": self.count,
                "rows": [one.for_page(samples) for one in shown],
                "of": len(self.covered),
                "samples": len(sums),
                "worst": min(one.enough / one.bases for one in sums),
                "gaps": max(one.with_gaps for one in sums),
            }
        }


def _runs(is_low: NDArray[np.bool_], start: int) -> list[tuple[int, int]]:
    """Runs of True, as intervals from `start` on."""
    steps = np.diff(np.concatenate(([False], is_low, [False])).astype(np.int8))
    begins, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    return list(zip((begins + start).tolist(), (ends + start).tolist(), strict=True))


def read_targets(inputs: ReportInputs, notes: list[str], least: int) -> Targets:
    """Read the depth of the targets of all samples of the alignments, contig by contig."""
    shown = Targets(least)
    if inputs.targets is None or inputs.reference is None:
        return shown
    with Reference(inputs.reference) as genome, AlignmentReader(inputs.alignments, genome, need_index=True) as reader:
        targets = named_intervals(inputs.targets, genome.contigs, inputs.circular)
        if not targets:
            raise InputError(inputs.targets, "", "no target in it", "give a BED file of targets")
        shown.count = len(targets)
        shown.sums = {sample: _Sums() for sample in reader.samples}
        by_contig: dict[str, list[tuple[Interval, str]]] = defaultdict(list)
        for target in targets:
            by_contig[target[0].chrom].append(target)
        regions = widened([place for place, _ in targets], 0, genome.contigs, inputs.circular)
        samples = range(len(reader.samples))
        selection = replace(_SELECTION, circular=inputs.circular)
        for chrom, depths in contig_depths(reader, samples, genome, selection, MIN_BASE_QUALITY, regions):
            own = by_contig.pop(chrom)
            for sample, depth in zip(reader.samples, depths, strict=True):
                shown.add(sample, chrom, depth, own)
        for chrom, own in by_contig.items():  # contigs without reads
            nothing = np.zeros(genome.contigs[chrom], dtype=np.uint32)
            for sample in reader.samples:
                shown.add(sample, chrom, nothing, own)
    if len(shown.covered) > MOST_ROWS:
        rule = f"of {len(shown.covered):,} targets of samples, those with the lowest coverage are listed"
        notes.append(f"{rule}: {MOST_ROWS:,}")
    return shown
