"""Reads regions as users write them, `chr:begin-end` and BED files, as 0-based half-open intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pairhmm.errors import InputError
from pairhmm.io.files.inputs import opening
from pairhmm.io.files.outputs import listed_once, open_output
from pairhmm.io.sequences.contig_names import listed, same_contig

_COORDINATES = re.compile(r"(.+):([\d,]+)(?:-([\d,]*))?$")
MOST_DIGITS = 18
"""The most digits of a position. Every number of so many digits fits 64 bits."""
_LONGEST_SHOWN, _SHOWN = 100, 3


class Interval(NamedTuple):
    """An interval of a contig, 0-based half-open."""

    chrom: str
    start: int
    end: int


def parse_region(text: str, contigs: Mapping[str, int], option: str = "-r") -> Interval:
    """Parse `chr`, `chr:begin`, `chr:begin-` or `chr:begin-end`, 1-based inclusive, with or without commas in numbers.

    If the whole text is the name of a contig, it means that contig, even with colons, which HLA contigs have.
    `chr:100` goes to the end of the contig, as in samtools.

    Parameters
    ----------
    text : str
    contigs : mapping
        Contig lengths.
    option : str
        The option that gave the text, for the message.

    Raises
    ------
    InputError
        For an unknown contig, and for an interval that ends before it begins or lies outside the contig.
    """
    if text in contigs:
        return Interval(text, 0, contigs[text])
    found = _COORDINATES.match(text)
    if not found or found[1] not in contigs:
        parts = text.split(",")
        if len(parts) > 1 and any(part.partition(":")[0] in contigs for part in parts):
            each = " ".join(f"{option} {part}" for part in parts[:_SHOWN])
            raise InputError(option, _short(text), "more than one region", f"give each by itself: {each}")
        raise _no_contig(option, text, found[1] if found else text, contigs)
    chrom, length = found[1], contigs[found[1]]
    begin = _number(found[2])
    end = _number(found[3]) if found[3] else length
    if begin is None or end is None or begin < 1 or end < begin:
        raise InputError(option, _short(text), "not an interval", "write chr:begin-end, 1-based, begin <= end")
    if begin > length:
        raise InputError(option, text, f"outside {chrom}, which has {length} bases", "choose a region inside")
    return Interval(chrom, begin - 1, min(end, length))


def read_bed(path: str | Path, contigs: Mapping[str, int]) -> list[Interval]:
    """Intervals of a BED file (its first three columns, 0-based half-open), merged and in the order of `contigs`.

    Raises
    ------
    InputError
        For a line that can't be used; names it.
    """
    intervals = []
    opening(path)
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip() or line.startswith(("#", "track", "browser")):
                    continue
                intervals.append(_bed_line(str(path), number, line, contigs))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), "", "can't be read as BED", "check the path; BED is plain text") from error
    return merge(intervals, list(contigs))


def write_bed(destination: str | Path, intervals: Sequence[Interval]) -> None:
    """Write intervals as BED. Makes the folder if it is missing."""
    try:
        Path(destination).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(destination), "", error.strerror or str(error), "choose another -o") from error
    with open_output(destination) as out:
        out.writelines(f"{chrom}\t{start}\t{end}\n" for chrom, start, end in intervals)


def write_beds(folder: str | Path, files: Mapping[str, Sequence[Interval]]) -> None:
    """Write intervals as BED files into one folder, by file name. Makes the folder if it is missing."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), "", error.strerror or str(error), "choose another -o") from error
    with listed_once(Path(folder)):
        for name, intervals in files.items():
            write_bed(Path(folder) / name, intervals)


def merge(intervals: Sequence[Interval], contigs: Sequence[str]) -> list[Interval]:
    """Sort intervals by contig and position, and join those that overlap or touch."""
    rank = {name: number for number, name in enumerate(contigs)}
    merged: list[Interval] = []
    for interval in sorted(intervals, key=lambda one: (rank[one.chrom], one.start, one.end)):
        last = merged[-1] if merged else None
        if last is not None and last.chrom == interval.chrom and interval.start <= last.end:
            merged[-1] = Interval(last.chrom, last.start, max(last.end, interval.end))
        else:
            merged.append(interval)
    return merged


def _no_contig(place: str, record: str, name: str, contigs: Mapping[str, int]) -> InputError:
    other = same_contig(name, contigs)
    cure = f"the reference names it {other!r}" if other is not None else f"contigs are {listed(contigs)}"
    return InputError(place, _short(record), f"no contig {_short(name)!r}", cure)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _number(text: str) -> int | None:
    digits = text.replace(",", "")
    return int(digits) if 0 < len(digits) <= MOST_DIGITS else None


def _bed_line(path: str, number: int, line: str, contigs: Mapping[str, int]) -> Interval:
    fields = line.split()
    if len(fields) < 3 or not all(text.isdecimal() and len(text) <= MOST_DIGITS for text in fields[1:3]):
        raise InputError(path, f"line {number}", "not `chrom start end`", "BED is tab-separated, 0-based")
    chrom, start, end = fields[0], int(fields[1]), int(fields[2])
    if chrom not in contigs:
        raise _no_contig(path, f"line {number}", chrom, contigs)
    if start > end or end > contigs[chrom]:
        rule = f"{start}-{end} is not inside {chrom}, which has {contigs[chrom]} bases"
        raise InputError(path, f"line {number}", rule, "BED is 0-based half-open")
    return Interval(chrom, start, end)
