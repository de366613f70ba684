"""An open run, which gives its scored regions one after the other. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.molecules import MoleculeCounts
from pairhmm.calling.run_options import RunInputs
from pairhmm.calling.scored_region import Evidence
from pairhmm.calling.scoring import ReadScorer
from pairhmm.calling.stream import EvidenceCounts, EvidenceStream
from pairhmm.calling.summary import Announcements, SetAside
from pairhmm.calling.targets import Extent
from pairhmm.calling.timing import JOINING, USING, Tally
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.regions import Region

Watch = Callable[[Region, float], None]
"""Called with each region once it is scored, and with the share of the run (0 to 1) that is then done."""


@dataclass(slots=True)
class Run:
    """An open run.

    Attributes
    ----------
    inputs : RunInputs
    samples : list of str
    contigs : dict of str to int
    stream : EvidenceStream
    blocks : iterator of ReadBlock
    scorer : ReadScorer
    extent : Extent
    tally : Tally
    min_base_quality : int
        The base quality that candidates need; 0 where they are given.
    told : Announcements
    """

    inputs: RunInputs
    samples: list[str]
    contigs: dict[str, int]
    stream: EvidenceStream
    blocks: Iterator[ReadBlock]
    scorer: ReadScorer
    extent: Extent
    tally: Tally
    min_base_quality: int = 0
    told: Announcements = field(init=False)

    def __post_init__(self) -> None:
        are_given = self.stream.given is not None
        self.told = Announcements(self.samples, are_given, self.tally, self.min_base_quality)

    def evidence(
        self,
        watch: Watch | None = None,
        refined: Callable[[Evidence], Evidence] | None = None,
        without_set_aside: bool = True,
    ) -> Iterator[Evidence]:
        """The scored regions, in order. Messages at the end say what was left out.

        Parameters
        ----------
        watch : callable, optional
            Called with each region once it is scored, and with the share of the run that is then done.
        refined : callable, optional
            Changes the evidence of each region before it is counted and given.
        without_set_aside : bool
            Whether reads that fit no haplotype are left unused. They are then announced as left out.
        """
        yield from self.counted(watch, refined)
        self.announce(without_set_aside)

    def counted(
        self, watch: Watch | None = None, refined: Callable[[Evidence], Evidence] | None = None
    ) -> Iterator[Evidence]:
        """The scored regions, as `evidence` gives them, without the messages at the end."""
        with self.tally.clock.stage(JOINING):
            for found in self.stream.run(self.blocks):
                evidence = found if refined is None else refined(found)
                evidence.samples = self.samples
                if watch is not None:
                    watch(evidence.region, self.extent.share(evidence.region.chrom, evidence.region.end))
                self.told.add(evidence)
                with self.tally.clock.stage(USING):
                    yield evidence

    def announce(self, without_set_aside: bool) -> None:
        """Write the messages at the end, once all regions are counted."""
        self.told.announce(self.stream.counts, self.stream.options.max_depth, self.scorer, without_set_aside)
        if self.stream.joiner is not None:
            self.stream.joiner.counts.announce(self.stream.joiner.options)

    def counts(self) -> RunCounts:
        """All counts."""
        joiner, scorer, tally = self.stream.joiner, self.scorer, self.tally
        return RunCounts(
            stream=self.stream.counts,
            fitting=self.told.fitting,
            molecules=None if joiner is None else joiner.counts,
            bases=scorer.bases,
            lowered=scorer.lowered,
            tagged=scorer.tagged,
            pairs=tally.pairs,
            seconds=tally.clock.seconds,
        )

    def add_counts(self, counts: RunCounts) -> None:
        """Add the counts of the next piece."""
        self.stream.counts.add(counts.stream)
        self.told.fitting.add_counts(counts.fitting)
        if self.stream.joiner is not None and counts.molecules is not None:
            self.stream.joiner.counts.add_counts(counts.molecules)
        self.scorer.bases += counts.bases
        self.scorer.lowered += counts.lowered
        self.scorer.tagged += counts.tagged
        self.tally.add_counts(counts.pairs, counts.seconds)


Result = TypeVar("Result", covariant=True)
Use = Callable[[Iterator[Evidence]], Iterator[Result]]
"""Makes something of the evidence of regions: it gets an iterator, and gives an iterator."""


@runtime_checkable
class UseOfReads(Protocol[Result]):
    """A use that looks at all reads, too: it is opened before they are read."""

    def opened(self, run: Run, places: Sequence[Interval]) -> Use[Result]:
        """What is used in place of it, for a run over places."""


def opened_use(use: Use[Result] | UseOfReads[Result], run: Run, places: Sequence[Interval] | None) -> Use[Result]:
    """What is to be used for a run over places, or over everything with None."""
    if not isinstance(use, UseOfReads):
        return use
    everything = [Interval(name, 0, length) for name, length in run.contigs.items()]
    return use.opened(run, everything if places is None else places)


class RunCounts(NamedTuple):
    """The counts of a run, or of a piece of one.

    Attributes
    ----------
    stream : EvidenceCounts
    fitting : SetAside
    molecules : MoleculeCounts or None
    bases, lowered, tagged : int
        Those of `ReadScorer`.
    pairs : int64 (precisions,)
    seconds : dict of str to float
        Those of `Tally`.
    """

    stream: EvidenceCounts
    fitting: SetAside
    molecules: MoleculeCounts | None
    bases: int
    lowered: int
    tagged: int
    pairs: np.ndarray[tuple[int], np.dtype[np.int64]]
    seconds: dict[str, float]
