"""An open run, which gives its scored regions one after the other. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pairhmm.evidence.announcements import Announcements
from pairhmm.evidence.extent import Extent
from pairhmm.evidence.inputs import RunInputs
from pairhmm.evidence.region_evidence import Evidence
from pairhmm.evidence.scoring import ReadScorer
from pairhmm.evidence.stream import EvidenceStream
from pairhmm.evidence.tally import JOINING, USING, Tally
from pairhmm.genomics.blocks import ReadBlock
from pairhmm.genomics.regions import Region

Watch = Callable[[Region, float], None]
"""Called with each region once it is scored, and with the share of the run (0 to 1) that is then done."""


@dataclass(slots=True)
class Run:
    """An open run.

    Attributes
    ----------
    inputs : RunInputs
    backend : str
        Labels of the devices that score.
    samples : list of str
    contigs : dict of str to int
    stream : EvidenceStream
    blocks : iterator of ReadBlock
    scorer : ReadScorer
    extent : Extent
    tally : Tally
    """

    inputs: RunInputs
    backend: str
    samples: list[str]
    contigs: dict[str, int]
    stream: EvidenceStream
    blocks: Iterator[ReadBlock]
    scorer: ReadScorer
    extent: Extent
    tally: Tally

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
        told = Announcements(self.samples, self.stream.given is not None, self.tally)
        with self.tally.clock.stage(JOINING):
            for found in self.stream.run(self.blocks):
                evidence = found if refined is None else refined(found)
                evidence.samples = self.samples
                if watch is not None:
                    watch(evidence.region, self.extent.share(evidence.region.chrom, evidence.region.end))
                told.add(evidence)
                with self.tally.clock.stage(USING):
                    yield evidence
        told.announce(self.stream.counts, self.stream.options.max_depth, self.scorer, without_set_aside)
        if self.stream.joiner is not None:
            self.stream.joiner.counts.announce(self.stream.joiner.options)
