"""What `--verbose` says of a run: each region, how its pairs were scored, and the seconds that each stage took."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

import numpy as np

from pairhmm.batch import PRECISIONS
from pairhmm.evidence import Evidence
from pairhmm.models.gatk import GatkOptions, set_aside

log = logging.getLogger(__name__)

READING, JOINING, SCORING, USING = "reading", "regions and haplotypes", "scoring", "genotypes and output"

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


class StageClock:
    """Seconds of stages that may lie within each other: each counts its own alone.

    Parameters
    ----------
    now : callable
        Seconds.

    Attributes
    ----------
    seconds : dict of str to float
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self._now = now
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the block as the stage `name`."""
        self._credit()
        self._open.append(name)
        try:
            yield
        finally:
            self._credit()
            self._open.pop()

    def items(self, name: str, items: Iterable[_Item]) -> Iterator[_Item]:
        """The items; what it takes to get each is the stage `name`."""
        source = iter(items)
        while True:
            with self.stage(name):
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item

    def calls(self, name: str, function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        """The function; its calls are the stage `name`."""

        def timed(*args: _Given.args, **given: _Given.kwargs) -> _Result:
            with self.stage(name):
                return function(*args, **given)

        return timed

    def _credit(self) -> None:
        now = self._now()
        if self._open:
            self.seconds[self._open[-1]] = self.seconds.get(self._open[-1], 0.0) + now - self._since
        self._since = now


@dataclass(slots=True)
class Tally:
    """What a run has done; it costs next to nothing where nobody listens.

    Attributes
    ----------
    model : GatkOptions
        Which reads fit no haplotype.
    clock : StageClock
    set_aside : int
        Reads that fit no haplotype of their region.
    pairs : int64 (precisions,)
        Scored pairs of each precision.
    """

    model: GatkOptions
    clock: StageClock = field(default_factory=StageClock)
    set_aside: int = 0
    pairs: np.ndarray[tuple[int], np.dtype[np.int64]] = field(
        default_factory=lambda: np.zeros(len(PRECISIONS), dtype=np.int64)
    )

    def add(self, evidence: Evidence) -> None:
        """Count a region, and tell of it."""
        if not log.isEnabledFor(logging.DEBUG):
            return
        unused = int(set_aside(evidence.log10, evidence.length, self.model).sum())
        pairs = np.bincount(evidence.precision.reshape(-1), minlength=len(PRECISIONS))
        self.set_aside += unused
        self.pairs += pairs
        region = evidence.region
        log.debug(
            "%s:%d-%d: %d candidates, %d haplotypes, %d reads, %d set aside, %d pairs rescued",
            region.chrom,
            region.start + 1,
            region.end,
            len(region.variants),
            len(evidence.haplotypes),
            len(evidence.names),
            unused,
            int(pairs[1:].sum()),
        )

    def tell(self) -> None:
        """What all of it was; at the end of a run."""
        pairs = ", ".join(f"{count} in {name}" for name, count in zip(PRECISIONS, self.pairs.tolist(), strict=True))
        log.debug("%d reads set aside, that fit no haplotype (--error-rate)", self.set_aside)
        log.debug("pairs: %s (float32 but for long reads and what underflows there)", pairs)
        log.debug("seconds: %s", ", ".join(f"{name} {spent:.2f}" for name, spent in self.clock.seconds.items()))
