"""BAM byte by byte, sound and not: a reference of random letters, and reads with a heterozygous SNV at `SITE`."""

from __future__ import annotations

import os
import random
import struct
import zlib
from pathlib import Path

import pysam

LENGTH, READ, SITE = 3000, 100, 1500
LETTERS = "".join(random.Random(21).choices("ACGT", k=LENGTH))
REF = LETTERS[SITE]
ALT = "A" if REF != "A" else "C"
HEAD = b"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:3000\n"
END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
CODES = {"A": 1, "C": 2, "G": 4, "T": 8}


def bgzipped(data: bytes) -> bytes:
    packed = b""
    for first in range(0, len(data), 60_000):
        block = data[first : first + 60_000]
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        body = deflate.compress(block) + deflate.flush()
        packed += b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(body) + 25) + body
        packed += struct.pack("<II", zlib.crc32(block), len(block))
    return packed + END


def record(
    name: bytes, start: int, quality: int = 40, tags: bytes = b"", alt: bool = False, contig: int = 0, of: str = LETTERS
) -> bytes:
    """A read of the contig's letters `of`; with `alt`, of the other allele at `SITE`."""
    bases = list(of[start : start + READ])
    if alt and start <= SITE < start + READ:
        bases[SITE - start] = "A" if of[SITE] != "A" else "C"
    codes = [CODES[letter] for letter in bases]
    packed = bytes(high << 4 | low for high, low in zip(codes[::2], codes[1::2], strict=True))
    head = struct.pack("<iiBBHHHiiii", contig, start, len(name) + 1, 60, 4681, 1, 0, READ, -1, -1, 0)
    body = head + name + b"\0" + struct.pack("<I", READ << 4) + packed + bytes([quality]) * READ + tags
    return struct.pack("<i", len(body)) + body


def reads(**given: object) -> list[bytes]:
    """40 reads over the site, every second one with the other allele."""
    return [record(b"r%d" % number, SITE - 70 + number, alt=number % 2 == 1, **given) for number in range(40)]


def write_bam(path: str, records: list[bytes], text: bytes = HEAD, contigs: tuple = ((b"q", LENGTH),)) -> None:
    data = b"BAM\1" + struct.pack("<i", len(text)) + text + struct.pack("<i", len(contigs))
    for name, length in contigs:
        data += struct.pack("<i", len(name) + 1) + name + b"\0" + struct.pack("<i", length)
    Path(os.fsdecode(path)).write_bytes(bgzipped(data + b"".join(records)))


def write_reference(path: str, **contigs: str) -> None:
    Path(path).write_text("".join(f">{name}\n{letters}\n" for name, letters in (contigs or {"q": LETTERS}).items()))
    pysam.faidx(str(path))
