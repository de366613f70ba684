"""Ploidy of a sample, and of a sex in an interval (0-based half-open), which files in bcftools' format give."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.sequences.intervals import MOST_DIGITS

MOST_COPIES = 20
"""The highest ploidy that the command line and ploidy files may name."""


@dataclass(frozen=True, slots=True)
class PloidyRule:
    """The ploidy of a sex in an interval of a contig.

    `chrom`: ``*`` for all contigs and intervals without a rule of their own.
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

    def rules_of(self, sample: str, default: int) -> tuple[int, list[tuple[str, int, int, int]]]:
        """A sample's ploidy where no rule fits, and its rules, as native code takes them."""
        if sample in self.of_sample:
            return self.of_sample[sample], []
        sex = self.sex_of.get(sample)
        return default, [(one.chrom, one.start, one.end, one.ploidy) for one in self.rules if one.sex == sex]


# Haploid parts by contig and sex, 1-based inclusive: the Y chromosome, which females lack, the mitochondrion, and the X
# chromosome of males outside the pseudoautosomal regions. These are of GRCh37 60,001-2,699,520 and
# 154,931,044-155,260,560, of GRCh38 10,001-2,781,479 and 155,701,383-156,030,895.
_HUMAN: Mapping[str, Sequence[tuple[str, int, int, str, int]]] = {
    "GRCh37": (
        *(("X", 1, 60_000, "M", 1), ("X", 2_699_521, 154_931_043, "M", 1), ("X", 155_260_561, 155_270_560, "M", 1)),
        *(("Y", 1, 59_373_566, "M", 1), ("Y", 1, 59_373_566, "F", 0)),
        *(("MT", 1, 16_571, sex, 1) for sex in "MF"),
    ),
    "GRCh38": (
        *(("X", 1, 10_000, "M", 1), ("X", 2_781_480, 155_701_382, "M", 1), ("X", 156_030_896, 156_040_895, "M", 1)),
        *(("Y", 1, 57_227_415, "M", 1), ("Y", 1, 57_227_415, "F", 0)),
        *(("MT", 1, 16_569, sex, 1) for sex in "MF"),
    ),
}
_CONTIG_NAMES = {"X": ("X", "chrX"), "Y": ("Y", "chrY"), "MT": ("MT", "chrM")}

ASSEMBLIES = tuple(_HUMAN)
"""Human assemblies with rules for the sexes M and F."""


def read_ploidy(path: str | Path) -> list[PloidyRule]:
    """The rules of a file: lines ``CHROM FROM TO SEX PLOIDY``, 1-based inclusive; ``* * * SEX PLOIDY`` for the rest.

    One of `ASSEMBLIES` in place of a path has built-in rules.

    Raises InputError for a line that can't be used; names it.
    """
    if path in _HUMAN:
        rules = _HUMAN[str(path)]
        return [
            PloidyRule(name, begin - 1, end, sex, ploidy)
            for contig, begin, end, sex, ploidy in rules
            for name in _CONTIG_NAMES[contig]
        ]
    if not Path(path).exists():
        cure = f"check the path; built in are {' and '.join(_HUMAN)}"
        raise InputError(str(path), "", os.strerror(errno.ENOENT), cure)
    lines = enumerate(read_lines(str(path)), start=1)
    return [_rule(str(path), at, line.split()) for at, line in lines if line.strip() and not line.startswith("#")]


def _rule(path: str, number: int, cells: list[str]) -> PloidyRule:
    cure = "write CHROM FROM TO SEX PLOIDY, 1-based, or * * * SEX PLOIDY"
    if len(cells) != 5 or not cells[4].isdecimal() or len(cells[4]) > MOST_DIGITS or int(cells[4]) > MOST_COPIES:
        raise InputError(path, f"line {number}", f"not five cells with a ploidy up to {MOST_COPIES}", cure)
    chrom, begin, end, sex, ploidy = cells
    if chrom == "*":
        return PloidyRule(chrom, 0, 0, sex, int(ploidy))
    if not (_is_position(begin) and _is_position(end) and 1 <= int(begin) <= int(end)):
        raise InputError(path, f"line {number}", f"{begin}-{end} is no interval", cure)
    return PloidyRule(chrom, int(begin) - 1, int(end), sex, int(ploidy))


def _is_position(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_DIGITS
