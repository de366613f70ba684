"""Timing for `--verbose`: each region, how its pairs were scored, and the seconds of each stage."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pairhmm.models.batch import PRECISIONS

if TYPE_CHECKING:
    from pairhmm._cpu import ScoredRegion, ScoredRegions

log = logging.getLogger(__name__)

READING, JOINING, SCORING, USING = "reading", "regions and haplotypes", "scoring", "genotypes and output"

_Item = TypeVar("_Item")


class StageClock:
    """Measures the seconds of stages. The time of a nested stage does not count for the outer one."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self._now = now
        self._open: list[str] = []
        self._since = 0.0

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Count the time of the block for the stage `name`."""
        return _Stage(self, name)

    def items(self, name: str, items: Iterable[_Item]) -> Iterator[_Item]:
        """Yield the items. The time that it takes to get each one counts for the stage `name`."""
        source = iter(items)
        while True:
            with self.stage(name):
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item

    def begin(self, name: str) -> None:
        """Begin a stage."""
        self._credit()
        self._open.append(name)

    def end(self) -> None:
        """End the stage that was begun last."""
        self._credit()
        self._open.pop()

    def _credit(self) -> None:
        now = self._now()
        if self._open:
            self.seconds[self._open[-1]] = self.seconds.get(self._open[-1], 0.0) + now - self._since
        self._since = now


class _Stage:
    """The time of a block; a class, since there are two blocks a region and generators take longer."""

    __slots__ = ("_clock", "_name")

    def __init__(self, clock: StageClock, name: str) -> None:
        self._clock, self._name = clock, name

    def __enter__(self) -> None:
        self._clock.begin(self._name)

    def __exit__(self, *unused: object) -> None:
        self._clock.end()


@dataclass(slots=True)
class Timing:
    """Counts the scored pairs of each precision, and logs regions. It is nearly free if these messages are off."""

    clock: StageClock = field(default_factory=StageClock)
    pairs: np.ndarray[tuple[int], np.dtype[np.int64]] = field(
        default_factory=lambda: np.zeros(len(PRECISIONS), dtype=np.int64)
    )

    def add(self, regions: ScoredRegions) -> None:
        """Count regions, and log a line about each."""
        if log.isEnabledFor(logging.DEBUG):
            for region in regions:
                self._add(region)

    def _add(self, scored: ScoredRegion) -> None:
        pairs = np.bincount(scored.precision.reshape(-1), minlength=len(PRECISIONS))
        self.pairs += pairs
        region = scored.region
        log.debug(
            "%s:%d-%d: %d candidates, %d haplotypes, %d reads, %d set aside, %d pairs rescued",
            region.chrom,
            region.start + 1,
            region.end,
            len(region.variants),
            len(scored.haplotypes),
            len(scored.set_aside),
            int(scored.set_aside.sum()),
            int(pairs[1:].sum()),
        )

    def add_counts(self, other: Timing) -> None:
        """Add the pairs and the seconds of a shard."""
        self.pairs += other.pairs
        for name, spent in other.clock.seconds.items():
            self.clock.seconds[name] = self.clock.seconds.get(name, 0.0) + spent

    def log(self) -> None:
        """Log the totals at the end of a run."""
        pairs = ", ".join(f"{count} in {name}" for name, count in zip(PRECISIONS, self.pairs.tolist(), strict=True))
        log.debug("pairs: %s (float32 but for long reads and what underflows there)", pairs)
        log.debug("seconds: %s", ", ".join(f"{name} {spent:.2f}" for name, spent in self.clock.seconds.items()))
