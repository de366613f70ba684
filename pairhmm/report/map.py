"""The tables of `pairhmm map` in a report, read and compared with the samples of the run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.report.distances import SampleDistance, ShownDistances
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import Column, ReportPart, Value
from pairhmm.report.relatedness import SampleCheck, SamplePair, ShownPairs, flag_summary

Place = tuple[float, float]
UNKNOWN = "."
_DISTANCE_COLUMNS = ("sample_1", "sample_2", "jaccard", "mash_distance", "containment", "ani")
_PAIR_COLUMNS = (
    "sample_1",
    "sample_2",
    "sites",
    "concordance",
    "ibs0",
    "ibs2",
    "shared_hets",
    "relatedness",
    "expected",
    "found",
    "flags",
)
_SAMPLE_COLUMNS = (
    "sample",
    "sites",
    "depth",
    "heterozygosity",
    "contamination",
    "contamination_low",
    "contamination_high",
    "flags",
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


@dataclass(frozen=True, slots=True)
class PlacedSample:
    """A row of the table of positions that `pairhmm map draw` writes.

    Attributes
    ----------
    place : (float, float) or None
        On the map, weighted and blended; None where no two samples are more alike than chance.
    exact : (float, float) or None
        By exact scaling; None where there is none.
    groups : tuple of (float, float)
        Projection of each group of properties, before weighting. A group without properties of the sample is at 0.
    """

    sample: str
    place: Place | None
    exact: Place | None
    neighbours: tuple[str, ...]
    groups: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ShownMap:
    """The table of positions.

    Attributes
    ----------
    groups : sequence of str
        Names of the groups of properties.
    weights : mapping of str to float
        Of the groups.
    alpha : float
        Share of the neighbours in each pass.
    trustworthiness : mapping of str to float
        ``map`` and ``exact``, 0 to 1; what is unknown is missing.
    """

    samples: Sequence[PlacedSample]
    groups: Sequence[str]
    weights: Mapping[str, float]
    alpha: float
    passes: int
    trustworthiness: Mapping[str, float]

    def for_page(self) -> dict[str, Any]:
        """Columns: positions, and neighbours as compressed sparse rows."""
        numbers = {sample.sample: number for number, sample in enumerate(self.samples)}
        offsets = [0]
        for sample in self.samples:
            offsets.append(offsets[-1] + len(sample.neighbours))
        return {
            "samples": list(numbers),
            "groups": list(self.groups),
            "weights": [self.weights.get(name, 0.0) for name in self.groups],
            "alpha": self.alpha,
            "passes": self.passes,
            "trustworthiness": {name: self.trustworthiness.get(name) for name in ("map", "exact")},
            "places": [sample.place for sample in self.samples]
            if all(sample.place for sample in self.samples)
            else None,
            "exact": [sample.exact for sample in self.samples]
            if any(sample.exact for sample in self.samples)
            else None,
            "projections": [[sample.groups[group] for sample in self.samples] for group in range(len(self.groups))],
            "neighbours": [numbers[name] for sample in self.samples for name in sample.neighbours],
            "offsets": offsets,
        }


class _Table:
    """The rows of a table with named columns, as mappings of a column to its text.

    Attributes
    ----------
    above : dict of str to str
        Keys and values of lines ``##KEY=VALUE``, once the first row is read.
    columns : list of str
        Likewise.
    """

    def __init__(self, path: str, columns: Sequence[str], made_by: str) -> None:
        self.path = path
        self.above: dict[str, str] = {}
        self.columns: list[str] = []
        self.line = 0
        self._needed, self._made_by = columns, made_by

    def __iter__(self) -> Iterator[Mapping[str, str]]:
        for line in read_lines(self.path):
            self.line += 1
            if line.startswith("##"):
                key, _, value = line.removeprefix("##").partition("=")
                self.above[key] = value
            elif not self.columns:
                self._read_header(line)
            else:
                fields = line.split("\t")
                if len(fields) != len(self.columns):
                    rule = f"{len(fields)} fields where the header has {len(self.columns)}"
                    raise self.wrong(rule, "the file may be cut off")
                yield dict(zip(self.columns, fields, strict=True))
        if not self.columns:
            raise InputError(self.path, "", "is empty", f"give a table that {self._made_by} wrote")

    def _read_header(self, line: str) -> None:
        columns = line.removeprefix("#").split("\t")
        missing = [name for name in self._needed if name not in columns]
        if missing:
            raise self.wrong(f"has no column {', '.join(missing)}", f"give a table that {self._made_by} wrote")
        self.columns = columns

    def wrong(self, rule: str, cure: str) -> InputError:
        return InputError(self.path, f"line {self.line}", rule, cure)

    def number(self, text: str, column: str) -> float | None:
        """A number; None for an unknown one."""
        if text == UNKNOWN:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.wrong(f"{column} {text!r} is not a number", f"give a table that {self._made_by} wrote")
        return value

    def count(self, text: str, column: str) -> int | None:
        value = self.number(text, column)
        return None if value is None else int(value)

    def known(self, text: str, column: str) -> float:
        value = self.number(text, column)
        if value is None:
            raise self.wrong(f"{column} is missing", f"give a table that {self._made_by} wrote")
        return value


def read_distances(path: str) -> ShownDistances:
    """The table of `pairhmm map distances`."""
    table = _Table(path, _DISTANCE_COLUMNS, "pairhmm map distances")
    distances = ShownDistances()
    for row in table:
        jaccard, containment, ani = (table.number(row[name], name) for name in ("jaccard", "containment", "ani"))
        # A table where nothing is above chance has no figures.
        is_unknown = jaccard is containment is ani is None
        mash = (table.number if is_unknown else table.known)(row["mash_distance"], "mash_distance")
        distances.add(SampleDistance((row["sample_1"], row["sample_2"]), jaccard, mash, containment, ani))
    return distances


def read_pairs(path: str) -> ShownPairs:
    """The table of pairs of `pairhmm map relate`."""
    table = _Table(path, _PAIR_COLUMNS, "pairhmm map relate")
    pairs = ShownPairs()
    for row in table:
        sites, ibs0, ibs2, hets = (table.count(row[name], name) for name in ("sites", "ibs0", "ibs2", "shared_hets"))
        concordance, relatedness = (table.number(row[name], name) for name in ("concordance", "relatedness"))
        relations = _text(row["expected"]), _text(row["found"])
        names = row["sample_1"], row["sample_2"]
        marks = _flags(row["flags"]), _text(row.get("note", UNKNOWN))
        pairs.add(SamplePair(names, sites, concordance, ibs0, ibs2, hets, relatedness, *relations, *marks))
    return pairs


def read_sample_checks(path: str) -> list[SampleCheck]:
    """The table of samples of `pairhmm map relate`."""
    table = _Table(path, _SAMPLE_COLUMNS, "pairhmm map relate --sample-table")
    checks: dict[str, SampleCheck] = {}
    for row in table:
        name = row["sample"]
        if name in checks:
            raise table.wrong(f"sample {name} stands in it twice", "give the table of one run")
        depth, heterozygosity, share, low, high = (
            table.number(row[column], column) for column in _SAMPLE_COLUMNS[2:-1]
        )
        sites = table.count(row["sites"], "sites")
        checks[name] = SampleCheck(name, sites, depth, heterozygosity, share, low, high, _flags(row["flags"]))
    return list(checks.values())


def read_positions(path: str) -> ShownMap:
    """The table of `pairhmm map draw`.

    Raises
    ------
    InputError
        For a file that is no such table, a sample that stands in it twice, and a neighbour that it lacks.
    """
    table = _Table(path, _POSITION_COLUMNS, "pairhmm map draw")
    samples: dict[str, PlacedSample] = {}
    groups: list[str] = []
    for row in table:
        groups = _groups(table.columns)
        name = row["sample"]
        if name in samples:
            raise table.wrong(f"sample {name} stands in it twice", "give the table of one run")
        exact_x, exact_y = (table.number(row[column], column) for column in ("exact_x", "exact_y"))
        exact = None if exact_x is None or exact_y is None else (exact_x, exact_y)
        is_unknown = row["x"] == row["y"] == UNKNOWN
        place = None if is_unknown else (table.known(row["x"], "x"), table.known(row["y"], "y"))
        neighbours = tuple(row["neighbours"].split(",")) if row["neighbours"] not in (UNKNOWN, "") else ()
        xy = tuple((_or_zero(table, row, f"{group}_x"), _or_zero(table, row, f"{group}_y")) for group in groups)
        samples[name] = PlacedSample(name, place, exact, neighbours, xy)
    for sample in samples.values():
        for name in sample.neighbours:
            if name not in samples:
                rule = f"{name}, a neighbour of {sample.sample}, has no line"
                raise InputError(path, "", rule, "give the whole table")
    return _map(path, table.above, list(samples.values()), groups)


def _or_zero(table: _Table, row: Mapping[str, str], column: str) -> float:
    """A coordinate. A sample without properties of a group is at 0 there."""
    return table.number(row[column], column) or 0.0


def _groups(columns: Sequence[str]) -> list[str]:
    """The groups of properties: columns GROUP_x and GROUP_y other than those of the map itself."""
    stems = (name.removesuffix("_x") for name in columns if name.endswith("_x"))
    return [stem for stem in stems if f"{stem}_y" in columns and stem not in ("exact", "cell")]


def _map(path: str, above: Mapping[str, str], samples: Sequence[PlacedSample], groups: Sequence[str]) -> ShownMap:
    weights = _pairs_of(path, above, "Weights")
    alpha, passes = (_number_above(path, above, key) for key in ("Alpha", "Passes"))
    trust = _pairs_of(path, above, "Trustworthiness")
    return ShownMap(samples, groups, weights, alpha, int(passes), trust)


def _number_above(path: str, above: Mapping[str, str], key: str) -> float:
    text = above.get(f"pairhmmMap{key}", "")
    try:
        return float(text)
    except ValueError:
        rule = f"is {text!r}, which is not a number" if text else "is missing"
        raise InputError(path, f"{_ABOVE}{key}", rule, "give a table that pairhmm map draw wrote") from None


def _pairs_of(path: str, above: Mapping[str, str], key: str) -> dict[str, float]:
    """Values of ``NAME=NUMBER,NAME=NUMBER``; unknown ones are left out."""
    values: dict[str, float] = {}
    for part in filter(None, above.get(f"pairhmmMap{key}", "").split(",")):
        name, _, text = part.rpartition("=" if "=" in part else ":")
        try:
            values |= {} if text == UNKNOWN else {name: float(text)}
        except ValueError:
            rule = f"{part!r} is no name and number"
            raise InputError(path, f"{_ABOVE}{key}", rule, "give a table that pairhmm map draw wrote") from None
    return values


def _text(field: str) -> str | None:
    return None if field == UNKNOWN else field


def _flags(field: str) -> tuple[str, ...]:
    return () if field in (UNKNOWN, "") else tuple(field.split(","))


@dataclass(slots=True)
class MapTables(ReportPart):
    """The tables of `pairhmm map`.

    Attributes
    ----------
    checks : dict of str to SampleCheck
        By sample.
    """

    positions: ShownMap | None = None
    distances: ShownDistances | None = None
    pairs: ShownPairs | None = None
    checks: dict[str, SampleCheck] = field(default_factory=dict)

    @property
    def samples(self) -> list[str]:
        placed = (sample.sample for sample in self.positions.samples) if self.positions is not None else ()
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
    known : collection of str
        The samples of the rest of the run. Without any, the tables' own are the report's.
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
        _check_known(inputs.map, (sample.sample for sample in tables.positions.samples), known, "the run")
    return tables


def _check_known(path: str, samples: Iterable[str], known: Collection[str], where: str) -> None:
    others = [sample for sample in samples if sample not in known] if known else []
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        rule = f"has sample {others[0]}{more}, which {where} does not have"
        raise InputError(path, "", rule, "give tables of the same samples")
