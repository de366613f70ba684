"""Reads ploidy files in bcftools' format: the copies of each chromosome by sex."""

from __future__ import annotations

from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.sequences.intervals import MOST_DIGITS
from pairhmm.variants.ploidy import MOST_COPIES, PloidyRule


def read_ploidy(path: str | Path) -> list[PloidyRule]:
    """The rules of a file: lines ``CHROM FROM TO SEX PLOIDY``, 1-based inclusive; ``* * * SEX PLOIDY`` for the rest.

    Parameters
    ----------
    path : path

    Raises
    ------
    InputError
        For a line that can't be used; names it.
    """
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
