"""The tables of `pairhmm map` in a report, read and compared with the samples of the run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from pairhmm.errors import InputError
from pairhmm.report.distances import ShownDistances, read_distances
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.named_table import UNKNOWN, NamedTable, list_of
from pairhmm.report.parts import Column, ReportPart, Value
from pairhmm.report.relatedness import (
    CONTAMINATION,
    Row,
    ShownPairs,
    flag_summary,
    read_pairs,
    read_sample_checks,
)

_POSITION_COLUMNS = ("sample", "x", "y", "exact_x", "exact_y", "neighbours")
_ABOVE = "##pairhmmMap"
CHECK_COLUMNS = {
    "contamination": ("Contam. %", "Reads from another individual, percent", "{:,.2f}"),
    "flags": ("Flags", "What is suspected of the sample: swap?, duplicate, parent-child, contaminated", ""),
}
DISTANCE_COLUMNS = {
    "nearest": ("Nearest", "The sample with the least Mash distance", ""),
    "distance": ("Distance", "Mash distance to the nearest sample", "{:,.5f}"),
}
NO_FLAG = "none"
"""MultiQC's text for a sample without flags."""


def read_positions(path: str) -> dict[str, Any]:
    """The table of `pairhmm map draw` as the page's JSON. Neighbours are compressed sparse rows.

    ``places`` are weighted and blended, and ``exact`` are by exact scaling; either may be None. ``projections`` are
    those of each group of properties, before weighting.

    Raises
    ------
    InputError
        For a file that is no such table, a sample that stands in it twice, and a neighbour that it lacks.
    """
    table = NamedTable(path, _POSITION_COLUMNS, "pairhmm map draw")
    numbers: dict[str, int] = {}
    groups: list[str] = []
    places, exact, projections, neighbours = [], [], [], []
    for row in table:
        groups = _groups(table.columns)
        name = row["sample"]
        if name in numbers:
            raise table.wrong(f"sample {name} stands in it twice", "give the table of one run")
        numbers[name] = len(numbers)
        is_unknown = row["x"] == row["y"] == UNKNOWN
        places.append(None if is_unknown else [table.known(row, "x"), table.known(row, "y")])
        pair = [table.number(row, "exact_x"), table.number(row, "exact_y")]
        exact.append(None if None in pair else pair)
        # A sample without properties of a group is at 0 there.
        projections.append([[table.number(row, f"{group}_{axis}") or 0.0 for axis in "xy"] for group in groups])
        neighbours.append(list_of(row["neighbours"]))
    weights, trust = (dict(_pairs_above(table, key)) for key in ("Weights", "Trustworthiness"))
    return {
        "samples": list(numbers),
        "groups": groups,
        "weights": [weights.get(name, 0.0) for name in groups],
        "alpha": _number_above(table, "Alpha"),
        "passes": int(_number_above(table, "Passes")),
        "trustworthiness": {name: trust.get(name) for name in ("map", "exact")},
        "places": places if all(places) else None,
        "exact": exact if any(exact) else None,
        "projections": [[own[group] for own in projections] for group in range(len(groups))],
        "neighbours": _numbers_of(path, numbers, neighbours),
        "offsets": list(accumulate(map(len, neighbours), initial=0)),
    }


def _numbers_of(path: str, numbers: Mapping[str, int], neighbours: Iterable[Sequence[str]]) -> list[int]:
    """The samples' neighbours, end to end."""
    for sample, own in zip(numbers, neighbours, strict=True):
        for name in own:
            if name not in numbers:
                rule = f"{name}, a neighbour of {sample}, has no line"
                raise InputError(path, "", rule, "give the whole table")
    return [numbers[name] for own in neighbours for name in own]


def _groups(columns: Sequence[str]) -> list[str]:
    """The groups of properties: columns GROUP_x and GROUP_y other than those of the map itself."""
    stems = (name.removesuffix("_x") for name in columns if name.endswith("_x"))
    return [stem for stem in stems if f"{stem}_y" in columns and stem not in ("exact", "cell")]


def _number_above(table: NamedTable, key: str) -> float:
    text = table.above.get(f"pairhmmMap{key}", "")
    try:
        return float(text)
    except ValueError:
        rule = f"is {text!r}, which is not a number" if text else "is missing"
        raise InputError(table.path, f"{_ABOVE}{key}", rule, table.cure) from None


def _pairs_above(table: NamedTable, key: str) -> Iterator[tuple[str, float]]:
    """Values of ``NAME=NUMBER,NAME=NUMBER``; unknown ones are left out."""
    for part in list_of(table.above.get(f"pairhmmMap{key}", "")):
        name, _, text = part.rpartition("=" if "=" in part else ":")
        if text == UNKNOWN:
            continue
        try:
            yield name, float(text)
        except ValueError:
            rule = f"{part!r} is no name and number"
            raise InputError(table.path, f"{_ABOVE}{key}", rule, table.cure) from None


@dataclass(slots=True)
class MapTables(ReportPart):
    """The tables of `pairhmm map`: `positions` are the page's JSON, and `checks` rows by sample."""

    positions: dict[str, Any] | None = None
    distances: ShownDistances | None = None
    pairs: ShownPairs | None = None
    checks: dict[str, Row] = field(default_factory=dict)

    @property
    def samples(self) -> list[str]:
        placed = self.positions["samples"] if self.positions is not None else ()
        measured = self.distances.samples if self.distances is not None else ()
        paired = self.pairs.samples if self.pairs is not None else ()
        return list(dict.fromkeys([*self.checks, *paired, *measured, *placed]))

    @property
    def columns(self) -> Mapping[str, Column]:
        return (CHECK_COLUMNS if self.checks else {}) | (DISTANCE_COLUMNS if self.distances is not None else {})

    def figures(self, sample: str) -> Mapping[str, Value]:
        values: dict[str, Value] = {}
        if sample in self.checks:
            check = self.checks[sample]
            share = check[CONTAMINATION]
            values["contamination"] = None if share is None else 100 * share
            values["flags"] = check[-1].replace(",", ", ") or NO_FLAG
        nearest = self.distances.nearest(sample) if self.distances is not None else None
        if nearest is not None:
            values["nearest"], values["distance"] = nearest
        return values

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        has_flags = self.pairs is not None or bool(self.checks)
        return {
            "map": self.positions,
            "distances": self.distances.for_page() if self.distances is not None else None,
            "pairs": self.pairs.for_page() if self.pairs is not None else None,
            "checks": list(self.checks.values()),
            "flags": flag_summary(self.pairs, self.checks.values()) if has_flags else None,
        }


def read_map_tables(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> MapTables:
    """Read the tables. `known` are the samples of the rest of the run. Without any, those of the tables count."""
    tables = MapTables()
    if inputs.sample_checks is not None:
        tables.checks = read_sample_checks(inputs.sample_checks)
        _check_known(inputs.sample_checks, tables.checks, known)
    if inputs.pairs is not None:
        tables.pairs = read_pairs(inputs.pairs)
        _check_known(inputs.pairs, tables.pairs.samples, known)
        _check_known(inputs.pairs, tables.pairs.samples, tables.checks, f"{inputs.sample_checks}")
    if inputs.distances is not None:
        tables.distances = read_distances(inputs.distances)
        _check_known(inputs.distances, tables.distances.samples, known)
    if inputs.map is not None:
        tables.positions = read_positions(inputs.map)
        _check_known(inputs.map, tables.positions["samples"], known)
    return tables


def _check_known(path: str, samples: Iterable[str], known: Collection[str], where: str = "the run") -> None:
    others = [sample for sample in samples if sample not in known] if known else []
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        rule = f"has sample {others[0]}{more}, which {where} does not have"
        raise InputError(path, "", rule, "give tables of the same samples")
