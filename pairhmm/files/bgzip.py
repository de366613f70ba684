"""Writes bgzipped text, and its index."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

import pysam

from pairhmm.files.background import BackgroundWriter
from pairhmm.files.bgzf import BGZF_END, deflate

# The highest position that a .tbi can hold. Longer contigs need a .csi.
LONGEST_FOR_TBI = 2**29
BLOCK_TEXT = 0xFF00
"""Bytes of text in each block but the last."""
_HEAD = BGZF_END[:16]
# Text that is compressed at once, and handed to the thread at once.
_TEXT_AT_ONCE = 16 * BLOCK_TEXT
# A byte that UTF-8 never has, so that nothing in a text matches this dictionary.
_NOT_TEXT = b"\xff"
_DICTIONARY = 8 * _NOT_TEXT


class PackedText(NamedTuple):
    """Text as blocks of BGZF, each of `BLOCK_TEXT` bytes but the last; `size` is the bytes of text."""

    blocks: Sequence[bytes]
    size: int

    @classmethod
    def of(cls, text: bytes) -> Self:
        """Compress a text."""
        return cls([_block(text[at : at + BLOCK_TEXT]) for at in range(0, len(text), BLOCK_TEXT)], len(text))


class BgzipText:
    """A bgzipped text file. A failed write raises OSError.

    `threads`: with two or more, text is compressed and written in a thread of its own. The bytes are the same.
    """

    def __init__(self, path: Path, threads: int = 1) -> None:
        self._out = open(path, "wb")  # noqa: SIM115 (__exit__ closes it)
        self._behind = BackgroundWriter(threads)
        self._held: list[bytes] = []
        self._held_size = 0
        # Where each block begins, in the text and in the file; the end of both so far, too.
        self._begins, self._addresses = [0], [0]
        self.size = 0
        """Bytes of text so far."""

    def write(self, text: str | bytes) -> None:
        """Append text."""
        data = text.encode() if isinstance(text, str) else text
        self._held.append(data)
        self._held_size += len(data)
        self.size += len(data)
        if self._held_size >= _TEXT_AT_ONCE:
            self._pass_on(self._held_size - self._held_size % BLOCK_TEXT)

    def write_apart(self, text: bytes | PackedText) -> None:
        """Append text in blocks of its own, which may be packed already."""
        self._pass_on(self._held_size)
        self.size += text.size if isinstance(text, PackedText) else len(text)
        self._behind.run(lambda: self._put(text if isinstance(text, PackedText) else PackedText.of(text)))

    def virtual_offset(self, at: int) -> int:
        """The virtual offset (SAM specification, section 4.1.1) of a byte of text, once the file is closed."""
        block = bisect_right(self._begins, at) - 1
        return self._addresses[block] << 16 | at - self._begins[block]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *unused: object) -> None:
        try:
            with self._behind:
                if kind is None:
                    self._pass_on(self._held_size)
            if kind is None:
                self._out.write(BGZF_END)
                self._out.flush()
        finally:
            # The file's buffer could not be written: that error is already being raised.
            with suppress(OSError):
                self._out.close()

    def _pass_on(self, size: int) -> None:
        text = b"".join(self._held)
        self._held, self._held_size = [text[size:]], len(text) - size
        self._behind.run(lambda: self._put(PackedText.of(text[:size])))

    def _put(self, text: PackedText) -> None:
        begin = self._begins[-1]
        for number, block in enumerate(text.blocks, 1):
            self._out.write(block)
            self._begins.append(begin + min(number * BLOCK_TEXT, text.size))
            self._addresses.append(self._addresses[-1] + len(block))


def _block(text: bytes) -> bytes:
    """A block of BGZF."""
    packed = _deflated(text)
    size = len(_HEAD) + 2 + len(packed) + 8
    ends = ((size - 1, 2), (deflate.crc32(text), 4), (len(text), 4))
    total, checksum, length = (number.to_bytes(width, "little") for number, width in ends)
    return _HEAD + total + packed + checksum + length


def _deflated(text: bytes) -> bytes:
    """Compressed text: the same bytes in every process. Text that does not become smaller is stored, and fits a block.

    isal (1.9.1, levels 1 and 2) puts the third position of its input under a hash of the address of its state, where
    it begins without history. Then a match at the beginning is found or missed by chance. With a dictionary it does
    have a history.
    """
    if deflate is zlib or _NOT_TEXT in text:
        return zlib.compress(text, zlib.Z_BEST_SPEED, -zlib.MAX_WBITS)
    packer = deflate.compressobj(zlib.Z_BEST_SPEED, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_DICTIONARY)
    packed: bytes = packer.compress(text) + packer.flush()
    return packed


def index_table(path: Path, first: int, furthest: int) -> None:
    """Index a table whose columns `first` to ``first + 2`` are contig, start and end, 0-based half-open."""
    csi = furthest > LONGEST_FOR_TBI
    pysam.tabix_index(
        str(path),
        force=True,
        seq_col=first,
        start_col=first + 1,
        end_col=first + 2,
        zerobased=True,
        meta_char="#",
        csi=csi,
    )
