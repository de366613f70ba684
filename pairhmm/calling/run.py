"""An open run, which scores its regions one after the other. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.scored_region import Evidence
from pairhmm.calling.scoring import ReadScorer
from pairhmm.calling.stream import RegionStream
from pairhmm.calling.summary import FilteredReads, RunCounts
from pairhmm.calling.targets import Progress
from pairhmm.calling.timing import JOINING, USING, Timing
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.regions import Region

if TYPE_CHECKING:
    from pairhmm._cpu import ScoredRegions, SlipRates, SourceRates

Watch = Callable[[Region, float], None]
"""Called with each region once it is scored, and with the share of the run (0 to 1) that is then done."""

Batches = Iterator["ScoredRegions"]
"""Batches of scored regions, in order."""

Refine = Callable[["ScoredRegions"], "ScoredRegions"]
"""Changes scored regions before they are counted and used."""


@dataclass(slots=True)
class Run:
    """An open run, or an open shard of one.

    `requested` has its intervals; None stands for everywhere. `source_rates` and `slips` are what some reads show, if
    these were looked at.
    """

    inputs: RunInputs
    options: RunOptions
    samples: list[str]
    contigs: dict[str, int]
    requested: Sequence[Interval] | None
    stream: RegionStream
    blocks: Iterator[ReadBlock]
    scorer: ReadScorer
    progress: Progress
    timing: Timing
    source_rates: SourceRates | None = None
    slips: SlipRates | None = None
    filtered: FilteredReads = field(init=False)

    def __post_init__(self) -> None:
        self.filtered = FilteredReads(self.samples, self.stream.given is not None)

    def regions(self, watch: Watch | None = None, refine: Refine | None = None, filters_reads: bool = True) -> Batches:
        """Batches of scored regions, in order. Messages at the end say what was left out.

        `filters_reads` says that reads that fit no haplotype are left unused: they are announced as left out.
        """
        yield from self.counted(watch, refine)
        self.counts().announce(self.inputs, self.options, filters_reads)

    def counted(self, watch: Watch | None = None, refine: Refine | None = None) -> Batches:
        """The scored regions, as `regions` gives them, without the messages at the end."""
        with self.timing.clock.stage(JOINING):
            for scored in self.stream.run(self.blocks):
                regions = scored if refine is None else refine(scored)
                if watch is not None:
                    for region in [one.region for one in regions]:
                        watch(region, self.progress.share(region.chrom, region.end))
                self.timing.add(regions)
                self.filtered.add(regions)
                with self.timing.clock.stage(USING):
                    yield regions

    def evidence(self, regions: Batches) -> Iterator[Evidence]:
        """Each region as users get it."""
        is_joined = self.stream.joiner is not None
        return (Evidence.of(region, self.samples, is_joined) for batch in regions for region in batch)

    def counts(self) -> RunCounts:
        """All counts."""
        joiner = self.stream.joiner
        return RunCounts(
            stream=self.stream.counts,
            filtered=self.filtered,
            molecules=None if joiner is None else joiner.counts,
            bases=self.scorer.bases,
            lowered=self.scorer.lowered,
            tagged=self.scorer.tagged,
            timing=self.timing,
        )


Result = TypeVar("Result", covariant=True)
Use = Callable[[Batches, Run], Iterator[Result]]
"""Makes results of the scored regions of a run. It may look at the run before it takes the first region."""
