"""How samples are related, against the sheet, and what is flagged, for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pairhmm.report.named_table import UNKNOWN, NamedTable, list_of, text_of

PAIRS_SHOWN = 20_000
"""The most pairs that are drawn. Flagged pairs and those with a relation come first."""
UNRELATED = "unrelated"
_LOOSE = {"related": ("siblings", "parent-child")}
"""An expected relation that closer ones agree with."""
_PAIR_COLUMNS = (
    *("sample_1", "sample_2", "sites", "concordance", "ibs0", "ibs2", "shared_hets", "relatedness"),
    *("expected", "found", "flags"),
)
_SAMPLE_COLUMNS = (
    *("sample", "sites", "depth", "heterozygosity"),
    *("contamination", "contamination_low", "contamination_high", "flags"),
)
Row = list[Any]
CONTAMINATION = 4
"""Where a row of the samples' checks has it. The first is the sample's name, the last its flags, with commas."""


def contradicts(expected: str | None, found: str | None) -> bool:
    """Whether the relation that was found is another than the sheet's."""
    if expected is None or found is None:
        return False
    return found != expected and found not in _LOOSE.get(expected, ())


@dataclass(slots=True)
class ShownPairs:
    """Collects the rows of a table of pairs that the report shows.

    Attributes
    ----------
    samples : dict of str to int
        Number of each sample.
    count : int
        Rows of the table.
    flags : Counter of str
        Pairs that have each flag.
    """

    samples: dict[str, int] = field(default_factory=dict)
    count: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    _standing: list[Row] = field(default_factory=list)
    _related: list[Row] = field(default_factory=list)
    _others: list[Row] = field(default_factory=list)
    _step: int = 1
    _other_count: int = 0

    def add(self, names: Iterable[str], figures: Row, expected: str | None, found: str | None, told: Row) -> None:
        """Add a row. `told` has its flags, with commas, and why two samples of one individual differ."""
        self.count += 1
        numbers = [self.samples.setdefault(name, len(self.samples)) for name in names]
        flags = list_of(told[0])
        self.flags.update(flags)
        row = [*numbers, *figures, expected, found, ",".join(flags), told[1]]
        if flags or contradicts(expected, found):
            self._standing.append(row)
        elif found not in (None, UNRELATED):
            self._related.append(row)
        else:
            self._add_other(row)

    def _add_other(self, row: Row) -> None:
        """Every n-th unrelated pair is kept. n doubles when there are too many."""
        if self._other_count % self._step == 0:
            self._others.append(row)
        self._other_count += 1
        if len(self._others) > PAIRS_SHOWN:
            self._others, self._step = self._others[::2], 2 * self._step

    def for_page(self) -> dict[str, Any]:
        """Pairs that stand out (`standing` of them), then those with a relation, then evenly of the others."""
        telling = (self._standing + self._related)[:PAIRS_SHOWN]
        room = PAIRS_SHOWN - len(telling)
        step = -(-len(self._others) // room) if room else 0
        return {
            "samples": list(self.samples),
            "count": self.count,
            "standing": min(len(self._standing), PAIRS_SHOWN),
            "rows": telling + (self._others[::step] if step else []),
        }


def read_pairs(path: str) -> ShownPairs:
    """The table of pairs of `pairhmm map relate`."""
    table = NamedTable(path, _PAIR_COLUMNS, "pairhmm map relate")
    pairs = ShownPairs()
    for row in table:
        ibs0, ibs2, hets = (table.count(row, name) for name in ("ibs0", "ibs2", "shared_hets"))
        figures = [table.count(row, "sites"), table.number(row, "concordance"), ibs0, ibs2, hets]
        figures.append(table.number(row, "relatedness"))
        relations = text_of(row["expected"]), text_of(row["found"])
        told = [row["flags"], text_of(row.get("note", UNKNOWN))]
        pairs.add((row["sample_1"], row["sample_2"]), figures, *relations, told)
    return pairs


def read_sample_checks(path: str) -> dict[str, Row]:
    """The rows of the table of samples of `pairhmm map relate`, by sample."""
    table = NamedTable(path, _SAMPLE_COLUMNS, "pairhmm map relate --sample-table")
    checks: dict[str, Row] = {}
    for row in table:
        name = row["sample"]
        if name in checks:
            raise table.wrong(f"sample {name} stands in it twice", "give the table of one run")
        numbers = (table.number(row, column) for column in _SAMPLE_COLUMNS[2:-1])
        checks[name] = [name, table.count(row, "sites"), *numbers, ",".join(list_of(row["flags"]))]
    return checks


def flag_summary(pairs: ShownPairs | None, checks: Iterable[Row]) -> dict[str, Any]:
    """The first screen: counts of samples and pairs by flag, and what was not looked at."""
    rows = list(checks)
    of_samples = Counter(flag for row in rows for flag in list_of(row[-1]))
    of_pairs = pairs.flags if pairs is not None else Counter[str]()
    names = dict.fromkeys([*of_samples, *of_pairs])
    return {
        "flags": [[name, of_samples[name], of_pairs[name]] for name in names],
        "pairs": pairs.count if pairs is not None else 0,
        "estimated": sum(row[CONTAMINATION] is not None for row in rows),
        "samples": len(rows),
    }
