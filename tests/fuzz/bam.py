"""BAM, taken apart to fields: records that no aligner writes, inside a file whose every checksum is right."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import bgzf
from mutate import EXTREMES, HOSTILE_FIELDS, chance, change_bytes, change_text, pick
from numpy.random import Generator

# SAM specification, section 4.2: refID pos l_read_name mapq bin n_cigar flag l_seq next_refID next_pos tlen.
_FIXED = struct.Struct("<iiBBHHHiiii")
_LENGTH = struct.Struct("<i")
_OPERATIONS = 9


@dataclass
class Record:
    """An alignment; None for a length leaves the right one."""

    ref_id: int
    pos: int
    mapq: int
    bin: int
    flag: int
    next_ref_id: int
    next_pos: int
    tlen: int
    name: bytes
    cigar: list[int]
    sequence: bytes
    quality: bytes
    tags: bytes
    bases: int
    name_length: int | None = None
    operations: int | None = None
    size: int | None = None

    def encode(self) -> bytes:
        """The record as BAM has it."""
        name_length = len(self.name) if self.name_length is None else self.name_length
        operations = len(self.cigar) if self.operations is None else self.operations
        fixed = _FIXED.pack(
            *(self.ref_id, self.pos, name_length & 255, self.mapq, self.bin, operations & 0xFFFF, self.flag),
            *(self.bases, self.next_ref_id, self.next_pos, self.tlen),
        )
        cigar = b"".join((operation % 2**32).to_bytes(4, "little") for operation in self.cigar)
        body = fixed + self.name + cigar + self.sequence + self.quality + self.tags
        return _LENGTH.pack(len(body) if self.size is None else self.size) + body


@dataclass
class Bam:
    """A file: text and binary header, and records."""

    text: bytes
    contigs: list[tuple[bytes, int]]
    records: list[Record]

    def encode(self) -> bytes:
        """The unpacked bytes."""
        header = b"BAM\1" + _LENGTH.pack(len(self.text)) + self.text + _LENGTH.pack(len(self.contigs))
        for name, length in self.contigs:
            header += _LENGTH.pack(len(name) + 1) + name + b"\0" + _LENGTH.pack(length)
        return header + b"".join(record.encode() for record in self.records)


def parse(payload: bytes) -> Bam:
    """Take a sound file apart."""
    size = _LENGTH.unpack_from(payload, 4)[0]
    text, at = payload[8 : 8 + size], 8 + size
    count, at = _LENGTH.unpack_from(payload, at)[0], at + 4
    contigs = []
    for _ in range(count):
        size = _LENGTH.unpack_from(payload, at)[0]
        name = payload[at + 4 : at + 3 + size]
        contigs.append((name, _LENGTH.unpack_from(payload, at + 4 + size)[0]))
        at += 8 + size
    records = []
    while at < len(payload):
        size = _LENGTH.unpack_from(payload, at)[0]
        records.append(_parse_record(payload[at + 4 : at + 4 + size]))
        at += 4 + size
    return Bam(text, contigs, records)


def _parse_record(body: bytes) -> Record:
    ref_id, pos, names, mapq, bin_, operations, flag, bases, next_ref, next_pos, tlen = _FIXED.unpack_from(body)
    at = _FIXED.size
    name, at = body[at : at + names], at + names
    cigar, at = list(struct.unpack_from(f"<{operations}I", body, at)), at + 4 * operations
    half = (bases + 1) // 2
    sequence, quality, tags = body[at : at + half], body[at + half : at + half + bases], body[at + half + bases :]
    return Record(ref_id, pos, mapq, bin_, flag, next_ref, next_pos, tlen, name, cigar, sequence, quality, tags, bases)


def _signed(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def _set_place(rng: Generator, record: Record) -> None:
    if chance(rng, 0.5):
        record.pos = _signed(pick(rng, (*EXTREMES, -5, 1990, 1999, 2000, 10**6)))
    if chance(rng, 0.5):
        record.ref_id = _signed(pick(rng, (-1, -1, 0, 1, 2, *EXTREMES)))
    if chance(rng, 0.2):
        record.next_ref_id, record.next_pos = _signed(pick(rng, EXTREMES)), _signed(pick(rng, EXTREMES))


def _set_flag(rng: Generator, record: Record) -> None:
    record.flag = pick(rng, (0, 4, 16, 0x100, 0x800, 0xFFFF, record.flag ^ 1 << int(rng.integers(16))))
    record.mapq = pick(rng, (0, 1, 19, 20, 254, 255))


def _set_cigar(rng: Generator, record: Record) -> None:
    """A CIGAR that spells as many bases as the read has, most times; lengths of 0 and operations of any kind in it."""
    left, cigar = record.bases, []
    while left > 0 and len(cigar) < 40:
        length = min(left, pick(rng, (0, 1, 2, 5, 30, left)))
        operation = pick(rng, (0, 0, 0, 1, 4, 7, 8))
        cigar.append(length << 4 | operation)
        left -= length
        if chance(rng, 0.3):
            between = pick(rng, (0, 1, 3, 100, 5000, 2**28 - 1))
            cigar.append(between << 4 | pick(rng, (2, 3, 5, 6)))
    if chance(rng, 0.2):
        cigar.insert(int(rng.integers(len(cigar) + 1)), int(rng.integers(2**32)))
    record.cigar = pick(rng, (cigar, cigar, cigar, [], cigar[::-1], [0], [record.bases << 4 | _OPERATIONS]))
    if chance(rng, 0.1):
        record.operations = pick(rng, (0, 1, 65535))


def _set_bases(rng: Generator, record: Record) -> None:
    kind = int(rng.integers(6))
    if kind == 0:
        record.sequence = rng.bytes(len(record.sequence))
    elif kind == 1:
        # Of as many as there are: the number of bases may be one that was changed before.
        record.quality = pick(rng, (b"\xff", b"\0", b"\x80")) * len(record.quality)
    elif kind == 2:
        record.quality = rng.bytes(len(record.quality))
    elif kind == 3:
        record.bases, record.sequence, record.quality = 0, b"", b""
    elif kind == 4:
        record.bases = _signed(pick(rng, (1, record.bases - 1, record.bases + 1, *EXTREMES)))
    else:
        record.sequence, record.quality, record.bases = record.sequence[:1], record.quality[:1], 1
        record.cigar = [1 << 4]


def _set_name(rng: Generator, record: Record) -> None:
    record.name = pick(rng, (b"", b"*", *HOSTILE_FIELDS))[:250] + pick(rng, (b"\0", b"\0", b"\0\0\0", b""))
    if chance(rng, 0.1):
        record.name_length = pick(rng, (0, 1, 255))


def _set_tags(rng: Generator, record: Record) -> None:
    group = pick(rng, (b"", b"none", *HOSTILE_FIELDS)) + b"\0"
    tag = pick(rng, (b"RGZ" + group, b"RGi\1\0\0\0", b"RGBi" + b"\xff" * 4, b"RGA", b"XX?", b"RGH0\0", b"RGB", b"RG"))
    record.tags = pick(rng, (tag, tag, record.tags + tag, change_bytes(rng, record.tags, 2)))


_RECORD_CHANGES: tuple[Callable[[Generator, Record], None], ...] = (
    *(_set_place, _set_place, _set_flag, _set_cigar, _set_cigar, _set_bases, _set_name, _set_tags),
)


def change_bam(rng: Generator, data: bytes) -> bytes:
    """A BAM file with changed header or records, packed soundly."""
    bam = parse(bgzf.unpack(data))
    if chance(rng, 0.15):
        _change_header(rng, bam)
    else:
        for _ in range(pick(rng, (1, 1, 2, 5, 200))):
            pick(rng, _RECORD_CHANGES)(rng, pick(rng, bam.records))
    if chance(rng, 0.5):
        bam.records.sort(key=lambda record: (record.ref_id % 2**32, record.pos))
    if bam.records and chance(rng, 0.05):
        pick(rng, bam.records).size = pick(rng, EXTREMES[:10])
    payload = bam.encode()
    if chance(rng, 0.1):
        payload = change_bytes(rng, payload, 2)
    return bgzf.pack(payload, pick(rng, (0xFF00, 5000, 700)))


def _change_header(rng: Generator, bam: Bam) -> None:
    if chance(rng, 0.7):
        bam.text = change_text(rng, bam.text)
    if chance(rng, 0.3):
        at = int(rng.integers(len(bam.contigs)))
        name, length = bam.contigs[at]
        bam.contigs[at] = pick(rng, ((pick(rng, HOSTILE_FIELDS), length), (name, _signed(pick(rng, EXTREMES)))))
    if chance(rng, 0.1):
        bam.contigs.append(pick(rng, bam.contigs))
    if chance(rng, 0.1):
        bam.records = []
