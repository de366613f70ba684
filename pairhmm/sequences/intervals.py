"""Intervals as users write them (`chr:begin-end`, BED, Picard), 0-based half-open here, and names of contigs."""

from __future__ import annotations

import logging
import operator
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pairhmm.errors import InputError
from pairhmm.files.output_folders import whole_folder
from pairhmm.files.text_lines import read_lines

log = logging.getLogger(__name__)

_COORDINATES = re.compile(r"(.+):([0-9,]+)(-[0-9,]*)?", re.DOTALL)
_BRACES = re.compile(r"\{(.+)\}(?::([0-9,]+)(-[0-9,]*)?)?", re.DOTALL)
_SEPARATOR = re.compile(r"[:\s]")
MOST_DIGITS = 18
"""The most digits of a position. Every such number fits 64 bits."""
_FARTHEST = 10**MOST_DIGITS
_LONGEST_SHOWN, _SHOWN = 100, 3
_HALF_OPEN = "positions here are 0-based half-open"
_BED_HEADERS = ("track", "browser")
_VCF = "##fileformat=VCF"
_END = re.compile(rf"(?:^|;)END=([0-9]{{1,{MOST_DIGITS}}})(?:;|$)")


class Interval(NamedTuple):
    """An interval of a contig, 0-based half-open."""

    chrom: str
    start: int
    end: int


class _Reading(NamedTuple):
    """A contig, and the coordinates behind its name; None for all of it."""

    chrom: str
    begin: str | None
    end: str | None


def parse_region(text: str, contigs: Mapping[str, int], option: str = "-r", circles: Collection[str] = ()) -> Interval:
    """Parse `chr`, `chr:position`, `chr:begin-` or `chr:begin-end`, 1-based inclusive; numbers may have commas.

    `chr:100` is one position, as in bcftools and GATK; `chr:100-` goes to the end of the contig. Names may hold colons,
    which HLA contigs have. Braces around a name, as in htslib, say where it ends: `{chr:1}:5-9`.

    Raises InputError for an unknown contig, for a text that can be read in two ways, and for an interval that ends
    before it begins or lies outside the contig.

    `contigs`: contig lengths. `option`: the option that gave the text, for the message. `circles`: contigs that are
    circles. `chr:begin-end` goes over the origin of one if it ends before it begins, or behind the last base; the
    interval then ends behind the last base.
    """
    readings = list(_readings(text, contigs))
    if not readings:
        if option == "-r" and os.path.isfile(text):
            raise InputError(option, text, "is a file", "give a file of regions with -R")
        raise _not_a_region(text, contigs, option)
    if len(readings) > 1:
        chrom = readings[1].chrom
        part = _short(f"{{{chrom}}}{text.removeprefix(chrom)}")
        rule = f"is the name of a contig, and a part of contig {_short(chrom)!r}"
        raise InputError(option, _short(text), rule, f"write {_short(f'{{{text}}}')!r} or {part!r}")
    chrom, first, last = readings[0]
    length = contigs[chrom]
    if first is None:
        return Interval(chrom, 0, length)
    begin = _number(first)
    end = begin if last is None else _FARTHEST if last == "-" else _number(last[1:])
    is_circle = chrom in circles and last not in (None, "-")
    if begin is None or end is None or begin < 1 or not (begin <= end or (is_circle and end >= 1)):
        raise _not_an_interval(text, option)
    if end == begin - 1:
        cure = f"write {chrom} for the whole circle, or mend the range"
        raise InputError(option, _short(text), "ends just before it begins", cure)
    if begin > length:
        raise InputError(option, text, f"outside {chrom}, which has {length} bases", "choose a region inside")
    if is_circle:
        return Interval(chrom, begin - 1, end + length if end < begin else min(end, begin - 1 + length))
    return Interval(chrom, begin - 1, min(end, length))


def place_interval(place: tuple[str, int, int], contigs: Mapping[str, int], circles: Collection[str] = ()) -> Interval:
    """The interval of a contig's name, a start and an end, 0-based half-open. On one of `circles` it may pass the end.

    Raises InputError for one that does not lie on a contig.
    """
    chrom, start, end = place
    try:
        interval = Interval(chrom, operator.index(start), operator.index(end))
    except TypeError:
        raise InputError("regions", str(place), "not (contig, start, end)", "give whole numbers") from None
    if not 0 <= interval.start < interval.end:
        raise InputError("regions", str(place), "an interval without a base", _HALF_OPEN)
    check_inside(interval, "regions", str(place), contigs, circles)
    return interval


def _readings(text: str, contigs: Mapping[str, int]) -> Iterator[_Reading]:
    """The ways to read a region. Of two, the first is the name of a contig."""
    braced = _BRACES.fullmatch(text)
    if braced and braced[1] in contigs:
        yield _Reading(*braced.groups())
        return
    if text in contigs:
        yield _Reading(text, None, None)
    match = _COORDINATES.fullmatch(text)
    if match and match[1] in contigs:
        yield _Reading(*match.groups())


def _not_a_region(text: str, contigs: Mapping[str, int], option: str) -> InputError:
    parts = text.split(",")
    if len(parts) > 1 and any(part.partition(":")[0] in contigs for part in parts):
        each = " ".join(f"{option} {part}" for part in parts[:_SHOWN])
        return InputError(option, _short(text), "more than one region", f"give each by itself: {each}")
    if any(text[: separator.start()] in contigs for separator in _SEPARATOR.finditer(text)):
        return _not_an_interval(text, option)
    match = _BRACES.fullmatch(text) or _COORDINATES.fullmatch(text)
    return no_contig(option, text, match[1] if match else text, contigs)


def _not_an_interval(text: str, option: str) -> InputError:
    return InputError(option, _short(text), "not an interval", "write chr:begin-end, 1-based, begin <= end")


def read_intervals(path: str | Path, contigs: Mapping[str, int], circles: Collection[str] = ()) -> list[Interval]:
    """Intervals of a file, merged and in the order of `contigs`.

    A file that begins with ``@`` is Picard's interval list (1-based inclusive). Of a VCF, the intervals are the
    reference bases of the records, of blocks of a gVCF those up to ``END``. Any other file is BED: its first three
    columns are 0-based half-open. The file may be gzipped; ``-`` is stdin. One without an interval is announced.
    Intervals of `circles` may go on behind the last base.

    Raises InputError for a line that can't be used, and names it; and for a region in place of a file.
    """
    if not os.path.lexists(path) and any(_readings(str(path), contigs)):
        raise InputError(_short(str(path)), "", "is a region, and no file of regions", "give it with -r")
    intervals = [interval for interval, _ in named_intervals(path, contigs, circles)]
    if not intervals:
        log.warning("%s: no region in it, so that nothing is asked for", path)
    return merge(intervals, list(contigs))


def named_intervals(
    path: str | Path, contigs: Mapping[str, int], circles: Collection[str] = ()
) -> list[tuple[Interval, str]]:
    """Each interval of a file, and its name; empty where it has none. Otherwise as `read_intervals`."""
    found, parse, name = [], bed_interval, 3
    for number, line in enumerate(read_lines(str(path)), start=1):
        if number == 1 and line.startswith(_VCF):
            parse, name = _vcf_line, 2
        elif number == 1 and line.startswith("@"):
            parse, name = _interval_list_line, 4
        cells = line.split()
        if is_bed_record(line, cells) and not line.startswith("@"):
            interval = parse(str(path), number, cells)
            check_inside(interval, str(path), f"line {number}", contigs, circles)
            found.append((interval, cells[name] if len(cells) > name else ""))
    return found


def write_beds(folder: str | Path, files: Mapping[str, Sequence[Interval]]) -> None:
    """Write intervals as BED files into one folder, by file name: all of them, or none. Makes a missing folder."""
    for name, intervals in files.items():
        _check_bed_names(Path(folder) / name, intervals)
    with whole_folder(folder, list(files), overwrite=True) as scratch:
        for name, intervals in files.items():
            lines = (f"{chrom}\t{start}\t{end}\n" for chrom, start, end in intervals)
            (scratch / name).write_text("".join(lines), encoding="utf-8")


def _check_bed_names(destination: str | Path, intervals: Sequence[Interval]) -> None:
    for chrom in dict.fromkeys(chrom for chrom, _, _ in intervals):
        if chrom.startswith("#") or chrom in _BED_HEADERS:
            rule = f"BED takes lines of contig {chrom!r} for comments"
            raise InputError(str(destination), "", rule, "rename it in the reference and in the alignments")


def merge(intervals: Sequence[Interval], contigs: Sequence[str]) -> list[Interval]:
    """Sort intervals by contig and position, and join those that overlap or touch."""
    rank = {name: number for number, name in enumerate(contigs)}
    merged: list[Interval] = []
    for interval in sorted(intervals, key=lambda interval: (rank[interval.chrom], interval.start, interval.end)):
        last = merged[-1] if merged else None
        if last is not None and last.chrom == interval.chrom and interval.start <= last.end:
            merged[-1] = Interval(last.chrom, last.start, max(last.end, interval.end))
        else:
            merged.append(interval)
    return merged


def no_contig(place: str, record: str, name: str, contigs: Mapping[str, int]) -> InputError:
    """The error for a contig that the reference lacks."""
    other = same_contig(name, contigs)
    cure = f"the reference names it {other!r}" if other is not None else f"contigs are {listed(contigs)}"
    return InputError(place, _short(record), f"no contig {_short(name)!r}", cure)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _number(text: str) -> int | None:
    digits = text.replace(",", "")
    return int(digits) if 0 < len(digits) <= MOST_DIGITS else None


def is_bed_record(line: str, cells: Sequence[str]) -> bool:
    """Whether a line of a BED file is an interval, and neither a comment nor a header."""
    return bool(cells) and not line.startswith("#") and cells[0] not in _BED_HEADERS


def bed_interval(path: str, number: int, cells: Sequence[str]) -> Interval:
    """The interval of a line of a BED file. InputError where it is none; names the line."""
    place = f"line {number}"
    if len(cells) < 3 or not all(map(_is_number, cells[1:3])):
        raise InputError(path, place, "not `chrom start end`", "BED is tab-separated, 0-based")
    start, end = int(cells[1]), int(cells[2])
    if start >= end:
        base = max(1, end)
        cure = f"BED is 0-based half-open: base {base} is {base - 1} {base}; take 1 from each start of a 1-based file"
        if start > end:
            cure = "write start < end; over the origin of a circle (--circular), end is behind the last base"
        raise InputError(path, place, f"{start}-{end} is an interval without a base", cure)
    return Interval(cells[0], start, end)


def _interval_list_line(path: str, number: int, cells: Sequence[str]) -> Interval:
    if len(cells) < 3 or not all(map(_is_number, cells[1:3])) or not 1 <= int(cells[1]) <= int(cells[2]):
        cure = "an interval list is tab-separated, 1-based inclusive"
        raise InputError(path, f"line {number}", "not `chrom start end strand name`", cure)
    return Interval(cells[0], int(cells[1]) - 1, int(cells[2]))


def _vcf_line(path: str, number: int, cells: Sequence[str]) -> Interval:
    if len(cells) < 8 or not _is_number(cells[1]) or int(cells[1]) < 1:
        raise InputError(path, f"line {number}", "not a record of a VCF", "check the file with bcftools view")
    start = int(cells[1]) - 1
    block_end = _END.search(cells[7])
    return Interval(cells[0], start, int(block_end[1]) if block_end else start + len(cells[3]))


def check_inside(
    interval: Interval, path: str, place: str, contigs: Mapping[str, int], circles: Collection[str] = ()
) -> None:
    """Require that an interval, from some place of a file, is inside a contig, or goes once around one of `circles`."""
    chrom, start, end = interval
    if chrom not in contigs:
        raise no_contig(path, place, chrom, contigs)
    length = contigs[chrom]
    if start >= length or end > (start + length if chrom in circles else length):
        rule = f"{start}-{end} is not inside {chrom}, which has {length} bases"
        raise InputError(path, place, rule, _HALF_OPEN)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


_LISTED = 3


def listed(names: Collection[str]) -> str:
    """The first few names, for a message."""
    return ", ".join(islice(names, _LISTED)) + (", ..." if len(names) > _LISTED else "")


def same_contig(name: str, contigs: Iterable[str]) -> str | None:
    """The contig that has the same name except for case, for a `chr` at the start, and for MT in place of M."""
    return next((contig for contig in contigs if _bare(contig) == _bare(name)), None)


def _bare(contig: str) -> str:
    bare = contig.lower().removeprefix("chr")
    return "m" if bare == "mt" else bare
