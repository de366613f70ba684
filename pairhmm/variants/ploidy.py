"""Ploidy: of a sample, and of a sex in an interval. Coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MOST_COPIES = 20
"""The highest ploidy that the command line and ploidy files may name."""


@dataclass(frozen=True, slots=True)
class PloidyRule:
    """The ploidy of a sex in an interval of a contig.

    Attributes
    ----------
    chrom : str
        ``*`` for all contigs and intervals without a rule of their own.
    start, end : int
    sex : str
    ploidy : int
    """

    chrom: str
    start: int
    end: int
    sex: str
    ploidy: int


@dataclass(frozen=True, slots=True)
class Ploidies:
    """Ploidies of samples that differ from the run's.

    Attributes
    ----------
    of_sample : mapping of str to int
        Ploidy of samples that have the same one everywhere.
    sex_of : mapping of str to str
        Sex of samples, as the rules name it.
    rules : sequence of PloidyRule
        The first rule that fits counts. Rules for ``*`` come after all others.
    """

    of_sample: Mapping[str, int] = field(default_factory=dict)
    sex_of: Mapping[str, str] = field(default_factory=dict)
    rules: Sequence[PloidyRule] = ()

    def of(self, sample: str, chrom: str, position: int, default: int) -> int:
        """A sample's ploidy at a position."""
        if sample in self.of_sample:
            return self.of_sample[sample]
        sex = self.sex_of.get(sample)
        ours = [rule for rule in self.rules if rule.sex == sex]
        here = [rule for rule in ours if rule.chrom == chrom and rule.start <= position < rule.end]
        fitting = [*here, *(rule for rule in ours if rule.chrom == "*")]
        return fitting[0].ploidy if fitting else default
