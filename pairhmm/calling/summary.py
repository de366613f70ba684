"""Messages at the end of a run: how much it scored, which reads it left out, and why."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pairhmm.calling.read_filter import SetAside
from pairhmm.calling.scored_region import Evidence
from pairhmm.calling.scoring import ReadScorer
from pairhmm.calling.stream import EvidenceCounts
from pairhmm.calling.timing import Tally

log = logging.getLogger(__name__)


class Announcements:
    """Counts what a run does, region by region, and announces it at the end.

    Parameters
    ----------
    samples : sequence of str
    haplotypes_given : bool
        Whether haplotypes were given. Regions where they fit few reads are then announced.
    tally : Tally
        Collects what ``--verbose`` reports.
    min_base_quality : int
        The base quality that candidates need; 0 where they are given.

    Attributes
    ----------
    fitting : SetAside
    """

    def __init__(self, samples: Sequence[str], haplotypes_given: bool, tally: Tally, min_base_quality: int) -> None:
        self.fitting = SetAside(list(samples), haplotypes_given)
        self._tally = tally
        self._min_base_quality = min_base_quality

    def add(self, evidence: Evidence) -> None:
        """Count a region."""
        self._tally.add(evidence)
        self.fitting.add(evidence)

    def announce(self, counts: EvidenceCounts, max_depth: int, scorer: ReadScorer, without_set_aside: bool) -> None:
        """Write all messages, once all regions are counted.

        Parameters
        ----------
        counts : EvidenceCounts
        max_depth : int
            The limit that the counts of capped reads refer to.
        scorer : ReadScorer
            Knows how many bases had their quality lowered, which may be why reads fit no haplotype, and how many reads
            have indel qualities of their own.
        without_set_aside : bool
            Whether reads that fit no haplotype were left unused.
        """
        if counts.highest_quality is not None and counts.highest_quality < self._min_base_quality:
            log.warning(
                "no read has a base of quality %d or more (--min-base-quality), so that no SNV is found; the highest"
                " quality is %d",
                self._min_base_quality,
                counts.highest_quality,
            )
        if counts.capped_reads:
            log.warning(
                "%d reads left out of %d regions deeper than %d reads a sample (--max-depth)",
                counts.capped_reads,
                counts.capped_regions,
                max_depth,
            )
        if scorer.tagged:
            log.info(
                "tags BI and BD of %d of %d reads are used as gap-open qualities (--no-indel-tags leaves them)",
                scorer.tagged,
                counts.reads,
            )
        self.fitting.announce_poor()
        if without_set_aside:
            self.fitting.announce(scorer)
        self._tally.tell()
        aside = f" ({self.fitting.set_aside} {'set aside' if without_set_aside else 'fit no haplotype'})"
        log.info("%d regions, %d reads%s, %d pairs", counts.regions, counts.reads, aside, counts.pairs)
