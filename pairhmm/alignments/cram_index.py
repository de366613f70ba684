"""Reads the index of a CRAM file, and checks that it belongs to that file (CRAM specification, sections 7 and 12)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np

from pairhmm.alignments.bam_index import open_unzipped
from pairhmm.alignments.index_checks import Contradiction
from pairhmm.sequences.arrays import distinct

# Containers that are looked up in the file, beside those that the index makes doubtful. Each costs a short read.
_LOOKED_UP = 256
# Bytes of a CRAM file's definition. Of a container's head: the most without its landmarks, and of each of these.
_CRAM_HEAD, _LONGEST_HEAD, _LANDMARK = 26, 64, 5
_UNMAPPED, _SEVERAL_CONTIGS = -1, -2


class CramSlice(NamedTuple):
    """A line of a .crai: contig number, 1-based start, length, offset of the container, offset of the slice in it."""

    contig: int
    start: int
    span: int
    container: int
    offset: int
    size: int


class _Container(NamedTuple):
    """The head of a container. Offsets of slices count from the end of the head."""

    contig: int
    start: int
    span: int
    records: int
    begin: int  # behind its head
    end: int
    slices: tuple[int, ...]


def read_cram_index(path: str) -> list[CramSlice]:
    """The lines of a .crai.

    Raises ValueError, OSError, EOFError, zlib.error for anything that is not as the specification has it.
    """
    with open_unzipped(path) as lines:
        slices = [CramSlice(*_six_numbers(line)) for line in lines]
    if any(line.contig < _SEVERAL_CONTIGS or line.container < _CRAM_HEAD or min(line[2:]) < 0 for line in slices):
        raise ValueError("impossible slices")
    return slices


def _six_numbers(line: bytes) -> Iterator[int]:
    fields = line.split()
    if len(fields) != len(CramSlice._fields) or not all(field.removeprefix(b"-").isdigit() for field in fields):
        raise ValueError("a line has other than six numbers")
    return map(int, fields)


def check_cram_index(slices: Sequence[CramSlice], raw: BinaryIO, contigs: int) -> None:
    """Require that an index has the contigs and the slices of its file."""
    size = os.fstat(raw.fileno()).st_size
    most = max((line.contig for line in slices), default=-1)
    if most >= contigs:
        raise Contradiction(f"it has {most + 1} contigs, the file {contigs}")
    if any(line.container + line.offset + line.size > size for line in slices):
        raise Contradiction("it leads beyond the file's end")
    raw.seek(4)
    version = raw.read(1)
    if version not in (b"\2", b"\3"):
        # Later versions of CRAM encode numbers in another way.
        return
    of_container: dict[int, list[CramSlice]] = {}
    for line in sorted(slices, key=lambda line: (line.container, line.offset)):
        of_container.setdefault(line.container, []).append(line)
    known = list(of_container)
    _check_between(raw, size, of_container, [_container(raw, _CRAM_HEAD, size).end])
    places = np.linspace(0, len(known) - 1, _LOOKED_UP).astype(np.int64) if known else np.empty(0, np.int64)
    picked = {known[at] for at in distinct(places).tolist()} | set(_doubted(of_container))
    ends = [_check_container(raw, size, at, of_container[at]) for at in sorted(picked)]
    _check_between(raw, size, of_container, ends)


def _doubted(of_container: dict[int, list[CramSlice]]) -> Iterator[int]:
    """Containers behind which there is more than the head of the next, and those that begin before earlier ones."""
    reached = (_UNMAPPED, 0)
    for (at, lines), (behind, following) in pairwise([*of_container.items(), (0, [])]):
        place = lines[0].contig, lines[0].start
        if place[0] >= 0 and place < reached:
            yield at
        reached = max(reached, place)
        end = max(at + line.offset + line.size for line in lines)
        if following and behind - end > _LONGEST_HEAD + _LANDMARK * len({line.offset for line in lines}):
            yield at


def _check_container(raw: BinaryIO, size: int, at: int, lines: Sequence[CramSlice]) -> int:
    """Compare a container with the lines of the index. Returns where it ends."""
    nowhere = Contradiction("no slice of the file begins where it says")
    container = _container(raw, at, size)
    if any(line.contig != container.contig for line in lines) and container.contig != _SEVERAL_CONTIGS:
        raise nowhere
    if {line.offset for line in lines} != set(container.slices):
        raise nowhere
    if any(container.begin + line.offset + line.size > container.end for line in lines):
        raise nowhere
    if container.contig >= 0:
        # A container of one slice begins and ends with it.
        start, end = min(line.start for line in lines), max(line.start + line.span for line in lines)
        if (start, end) != (container.start, container.start + container.span):
            raise Contradiction("its slices have reads of other places")
    return container.end


def _check_between(raw: BinaryIO, size: int, known: dict[int, list[CramSlice]], ends: Sequence[int]) -> None:
    """Require that the containers behind these ends are known, but for those without aligned reads."""
    for end in ends:
        at = end
        while at < size and at not in known:
            container = _container(raw, at, size)
            if container.records and container.contig != _UNMAPPED:
                raise Contradiction("it does not know all reads")
            at = container.end


def _container(raw: BinaryIO, at: int, size: int) -> _Container:
    """The head of a container.

    Raises Contradiction where there is none.
    """
    nowhere = Contradiction("no slice of the file begins where it says")
    raw.seek(4)
    has_checksum = raw.read(1) == b"\3"
    raw.seek(at)
    head, count = raw.read(_LONGEST_HEAD), 0
    try:
        length = int.from_bytes(head[:4], "little", signed=True)
        contig, place = _itf8(head, 4)
        start, place = _itf8(head, place)
        span, place = _itf8(head, place)
        records, place = _itf8(head, place)
        for _ in range(2):  # numbers of earlier records, and of bases, which earlier versions write in ITF8
            place = _behind_number(head, place)
        _, place = _itf8(head, place)
        count, place = _itf8(head, place)
        # A slice takes more bytes than its landmark.
        if not 0 <= count <= max(0, length):
            raise nowhere
        head += raw.read(_LANDMARK * count)
        slices = []
        for _ in range(count):
            landmark, place = _itf8(head, place)
            slices.append(landmark)
    except IndexError as error:
        raise nowhere from error
    if has_checksum:
        if zlib.crc32(head[:place]) != int.from_bytes(head[place : place + 4], "little"):
            raise nowhere
        place += 4
    if not 0 <= length <= size - at - place:
        raise nowhere
    return _Container(contig, start, span, records, at + place, at + place + length, tuple(slices))


def _itf8(data: bytes, at: int) -> tuple[int, int]:
    """A number of up to 32 bits, and where it ends."""
    more = next((bits for bits in range(4) if not data[at] & 0x80 >> bits), 4)
    if more < 4:
        value = int.from_bytes(bytes([data[at] & 0xFF >> more + 1]) + data[at + 1 : at + 1 + more], "big")
    else:
        high, last = int.from_bytes(data[at : at + 4], "big") & 0x0FFFFFFF, data[at + 4]
        value = high << 4 | last & 0x0F
    data[at + more]
    return value - (1 << 32) if value >> 31 else value, at + 1 + more


def _behind_number(data: bytes, at: int) -> int:
    """Where a number of up to 64 bits ends, in LTF8. Those of up to 28 bits are the same in ITF8."""
    return at + 1 + next((bits for bits in range(8) if not data[at] & 0x80 >> bits), 8)
