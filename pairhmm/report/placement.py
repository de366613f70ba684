"""The map of samples for the report: positions, what they are blended from, and how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PlacedSample:
    """A row of the table of positions that `pairhmm map draw` writes.

    Attributes
    ----------
    sample : str
    place : (float, float) or None
        On the map, weighted and blended; None where no two samples are more alike than chance.
    exact : (float, float) or None
        By exact scaling; None where there is none.
    neighbours : tuple of str
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
    samples : sequence of PlacedSample
    groups : sequence of str
        Names of the groups of properties.
    weights : mapping of str to float
        Of the groups.
    alpha : float
        Share of the neighbours in each pass.
    passes : int
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
        numbers = {one.sample: number for number, one in enumerate(self.samples)}
        offsets = [0]
        for one in self.samples:
            offsets.append(offsets[-1] + len(one.neighbours))
        return {
            "samples": list(numbers),
            "groups": list(self.groups),
            "weights": [self.weights.get(name, 0.0) for name in self.groups],
            "alpha": self.alpha,
            "passes": self.passes,
            "trustworthiness": {name: self.trustworthiness.get(name) for name in ("map", "exact")},
            "places": [one.place for one in self.samples] if all(one.place for one in self.samples) else None,
            "exact": [one.exact for one in self.samples] if any(one.exact for one in self.samples) else None,
            "projections": [[one.groups[group] for one in self.samples] for group in range(len(self.groups))],
            "neighbours": [numbers[name] for one in self.samples for name in one.neighbours],
            "offsets": offsets,
        }
