"""Pairs of sides, such as sequences or signals, whose matrices have cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray


class Sides(Protocol):
    """Queries, or targets: of each, its length."""

    def __len__(self) -> int: ...
    @property
    def lengths(self) -> NDArray[np.int64]:
        """Rows, or columns, of each one's matrix."""
        ...


AnySides = TypeVar("AnySides", bound=Sides)
AnyPairs = TypeVar("AnyPairs", bound="Pairs[Any]")


@dataclass(frozen=True, slots=True)
class Pairs(Generic[AnySides]):
    """Which query belongs to which target."""

    queries: AnySides
    targets: AnySides
    # The query and the target of each pair
    query_index: NDArray[np.int32]
    target_index: NDArray[np.int32]

    @classmethod
    def in_order(cls: type[AnyPairs], queries: AnySides, targets: AnySides) -> AnyPairs:
        """The first query with the first target, and so on."""
        each = np.arange(len(queries), dtype=np.int32)
        return cls(queries, targets, each, each)

    @classmethod
    def all_of(cls: type[AnyPairs], queries: AnySides, targets: AnySides) -> AnyPairs:
        """Every query with every target, a query's pairs together."""
        query, target = np.divmod(np.arange(len(queries) * len(targets), dtype=np.int64), len(targets))
        return cls(queries, targets, query.astype(np.int32), target.astype(np.int32))

    def __len__(self) -> int:
        return len(self.query_index)

    @property
    def cells_at_most(self) -> int:
        """Cells of all matrices if all sides were as long as the longest: found without a look at each pair."""
        longest = int(self.queries.lengths.max(initial=0)) * int(self.targets.lengths.max(initial=0))
        return longest * len(self)

    @property
    def cells(self) -> int:
        """Cells of all matrices."""
        return int(self.cells_of_each.sum())

    @property
    def cells_of_each(self) -> NDArray[np.int64]:
        """Cells of each pair's matrix (int64)."""
        return self.queries.lengths[self.query_index] * self.targets.lengths[self.target_index]

    def part(self: AnyPairs, begin: int, end: int) -> AnyPairs:
        """The pairs from `begin` to `end`, of the same sides."""
        return self.taken(slice(begin, end))

    def taken(self: AnyPairs, index: slice | NDArray[np.int64]) -> AnyPairs:
        """The pairs of an index, of the same sides."""
        return type(self)(self.queries, self.targets, self.query_index[index], self.target_index[index])
