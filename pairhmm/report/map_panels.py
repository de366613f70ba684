"""The tables of `pairhmm map` in a report: read, held against the run's samples, and as figures of each sample."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pairhmm.errors import InputError
from pairhmm.report.distances import ShownDistances
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.map_tables import read_distances, read_pairs, read_positions, read_sample_checks
from pairhmm.report.parts import Column, ReportPart, Value
from pairhmm.report.placement import ShownMap
from pairhmm.report.relatedness import SampleCheck, ShownPairs, flag_summary

CHECK_COLUMNS = {
    "contamination": ("Contam. %", "Reads from another individual, percent", "{:,.2f}"),
    "flags": ("Flags", "What is suspected of the sample: swap?, duplicate, parent-child, contaminated", ""),
}
DISTANCE_COLUMNS = {
    "nearest": ("Nearest", "The sample with the least Mash distance", ""),
    "distance": ("Distance", "Mash distance to the nearest sample", "{:,.5f}"),
}
NO_FLAG = "none"
"""What MultiQC shows of a sample without flags."""


@dataclass(slots=True)
class MapTables(ReportPart):
    """What the tables of `pairhmm map` say.

    Attributes
    ----------
    positions : ShownMap or None
    distances : ShownDistances or None
    pairs : ShownPairs or None
    checks : dict of str to SampleCheck
        By sample.
    """

    positions: ShownMap | None = None
    distances: ShownDistances | None = None
    pairs: ShownPairs | None = None
    checks: dict[str, SampleCheck] = field(default_factory=dict)

    @property
    def samples(self) -> list[str]:
        placed = (one.sample for one in self.positions.samples) if self.positions is not None else ()
        measured = self.distances.samples if self.distances is not None else ()
        paired = self.pairs.samples if self.pairs is not None else ()
        return list(dict.fromkeys([*self.checks, *paired, *measured, *placed]))

    @property
    def columns(self) -> Mapping[str, Column]:
        return (CHECK_COLUMNS if self.checks else {}) | (DISTANCE_COLUMNS if self.distances is not None else {})

    def figures(self, sample: str) -> Mapping[str, Value]:
        values: dict[str, Value] = {}
        check = self.checks.get(sample)
        if check is not None:
            share = check.contamination
            values["contamination"] = None if share is None else 100 * share
            values["flags"] = ", ".join(check.flags) or NO_FLAG
        nearest = self.distances.nearest(sample) if self.distances is not None else None
        if nearest is not None:
            values["nearest"], values["distance"] = nearest[0], nearest[1].mash
        return values

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        has_flags = self.pairs is not None or bool(self.checks)
        return {
            "map": self.positions.for_page() if self.positions is not None else None,
            "distances": self.distances.for_page() if self.distances is not None else None,
            "pairs": self.pairs.for_page() if self.pairs is not None else None,
            "checks": [_row(check) for check in self.checks.values()],
            "flags": flag_summary(self.pairs, list(self.checks.values())) if has_flags else None,
        }


def _row(check: SampleCheck) -> list[float | str | None]:
    numbers = check.sites, check.depth, check.heterozygosity, check.contamination, check.low, check.high
    return [check.sample, *numbers, ",".join(check.flags)]


def read_map_tables(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> MapTables:
    """Read the tables.

    Parameters
    ----------
    inputs : ReportInputs
    known : collection of str
        The samples of the rest of the run. Without any, the tables' own are the report's.

    Raises
    ------
    InputError
        For a file that is no such table, and for a sample that the run does not have.
    """
    tables = MapTables()
    if inputs.sample_checks is not None:
        tables.checks = {check.sample: check for check in read_sample_checks(inputs.sample_checks)}
        _check_known(inputs.sample_checks, tables.checks, known, "the run")
    if inputs.pairs is not None:
        tables.pairs = read_pairs(inputs.pairs)
        _check_known(inputs.pairs, tables.pairs.samples, known, "the run")
        _check_known(inputs.pairs, tables.pairs.samples, tables.checks, f"{inputs.sample_checks}")
    if inputs.distances is not None:
        tables.distances = read_distances(inputs.distances)
        _check_known(inputs.distances, tables.distances.samples, known, "the run")
    if inputs.map is not None:
        tables.positions = read_positions(inputs.map)
        _check_known(inputs.map, (one.sample for one in tables.positions.samples), known, "the run")
    return tables


def _check_known(path: str, samples: Iterable[str], known: Collection[str], where: str) -> None:
    others = [sample for sample in samples if sample not in known] if known else []
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        rule = f"has sample {others[0]}{more}, which {where} does not have"
        raise InputError(path, "", rule, "give tables of the same samples")
