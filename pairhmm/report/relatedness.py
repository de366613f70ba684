"""How samples are related, against the sheet, and what is flagged, for the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

PAIRS_SHOWN = 20_000
"""The most pairs that are drawn. Flagged pairs and those with a relation come first."""
UNRELATED = "unrelated"
_LOOSE = {"related": ("siblings", "parent-child")}
"""An expected relation that closer ones agree with."""


@dataclass(frozen=True, slots=True)
class SamplePair:
    """A row of the table of pairs that `pairhmm map relate` writes. None where the table has ``.``.

    Attributes
    ----------
    sites, ibs0, ibs2, shared_hets : int or None
        Sites where both are known; those with no, and with two alleles in common; those where both are heterozygous.
    expected, found : str or None
        A relation: by the sheet, and by the genotypes.
    note : str or None
        Why two samples of one individual differ.
    """

    samples: tuple[str, str]
    sites: int | None
    concordance: float | None
    ibs0: int | None
    ibs2: int | None
    shared_hets: int | None
    relatedness: float | None
    expected: str | None
    found: str | None
    flags: tuple[str, ...]
    note: str | None = None

    @property
    def contradicts(self) -> bool:
        """Whether the relation that was found is another than the sheet's."""
        if self.expected is None or self.found is None:
            return False
        return self.found != self.expected and self.found not in _LOOSE.get(self.expected, ())

    @property
    def stands_out(self) -> bool:
        return bool(self.flags) or self.contradicts


@dataclass(frozen=True, slots=True)
class SampleCheck:
    """A row of the table of samples that `pairhmm map relate` writes. None where the table has ``.``.

    Attributes
    ----------
    contamination, low, high : float or None
        Share of reads from another individual, 0 to 1, and its interval.
    """

    sample: str
    sites: int | None
    depth: float | None
    heterozygosity: float | None
    contamination: float | None
    low: float | None
    high: float | None
    flags: tuple[str, ...]


@dataclass(slots=True)
class ShownPairs:
    """Collects the rows of a table of pairs that the report shows.

    Attributes
    ----------
    samples : dict of str to None
        In the table's order.
    count : int
        Rows of the table.
    """

    samples: dict[str, None] = field(default_factory=dict)
    count: int = 0
    _telling: list[SamplePair] = field(default_factory=list)
    _others: list[SamplePair] = field(default_factory=list)
    _step: int = 1
    _other_count: int = 0

    def add(self, pair: SamplePair) -> None:
        self.count += 1
        self.samples.update(dict.fromkeys(pair.samples))
        if pair.stands_out or pair.found not in (None, UNRELATED):
            self._telling.append(pair)
            return
        # Every n-th unrelated pair is kept. n doubles when there are too many.
        if self._other_count % self._step == 0:
            self._others.append(pair)
        self._other_count += 1
        if len(self._others) > PAIRS_SHOWN:
            self._others, self._step = self._others[::2], 2 * self._step

    @property
    def shown(self) -> list[SamplePair]:
        """ShownPairs that stand out, then those with a relation, then evenly of the others."""
        telling = sorted(self._telling, key=lambda pair: not pair.stands_out)[:PAIRS_SHOWN]
        room = PAIRS_SHOWN - len(telling)
        step = -(-len(self._others) // room) if room else 0
        return telling + (self._others[::step] if step else [])

    def for_page(self) -> dict[str, Any]:
        """Columns of the pairs that are shown; the first `standing` of them stand out."""
        numbers = {sample: number for number, sample in enumerate(self.samples)}
        shown = self.shown
        return {
            "samples": list(self.samples),
            "count": self.count,
            "standing": sum(pair.stands_out for pair in shown),
            "rows": [
                [*(numbers[sample] for sample in pair.samples), *astuple(pair)[1:-2], ",".join(pair.flags), pair.note]
                for pair in shown
            ],
        }

    def flag_counts(self) -> dict[str, int]:
        """How many pairs have each flag."""
        return _counts(pair.flags for pair in self._telling)


def flag_summary(pairs: ShownPairs | None, checks: Sequence[SampleCheck]) -> dict[str, Any]:
    """The first screen: counts of samples and pairs by flag, and what was not looked at."""
    of_samples = _counts(check.flags for check in checks)
    of_pairs = pairs.flag_counts() if pairs is not None else {}
    names = dict.fromkeys([*of_samples, *of_pairs])
    return {
        "flags": [[name, of_samples.get(name, 0), of_pairs.get(name, 0)] for name in names],
        "pairs": pairs.count if pairs is not None else 0,
        "estimated": sum(check.contamination is not None for check in checks),
        "samples": len(checks),
    }


def _counts(flags: Iterable[Sequence[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for own in flags:
        for name in own:
            counts[name] = counts.get(name, 0) + 1
    return counts
