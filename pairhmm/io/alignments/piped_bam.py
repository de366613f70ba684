"""A BAM file through a pipe: its header for pysam, and its records for the compiled part."""

from __future__ import annotations

import io
from collections.abc import Generator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

from pairhmm.io.alignments.unpacked_bam import UnpackedBam, read_header
from pairhmm.io.files.background import prefetch
from pairhmm.io.files.bgzf_blocks import Block, blocks_from


@dataclass(frozen=True, slots=True)
class PipedBam:
    """A pipe of which the header was read.

    Attributes
    ----------
    header : bytes
        A BAM file without records, not packed.
    stream : UnpackedBam
        The records.
    """

    header: bytes
    stream: UnpackedBam


class HeldPipe:
    """A pipe that can be read from its beginning again, as long as it holds what was read."""

    def __init__(self, pipe: io.BufferedIOBase) -> None:
        self._pipe, self._held = pipe, list[bytes]()
        self._holds = True

    def read_on(self, address: int, size: int) -> bytes:
        """The next bytes, wherever they are; none at the end."""
        piece = self._pipe.read(size)
        if self._holds:
            self._held.append(piece)
        return piece

    def let_go(self) -> None:
        """Hold no more."""
        self._holds, self._held = False, []

    def again(self) -> BinaryIO:
        """All bytes, from the first one on."""
        return io.BufferedReader(_Again(b"".join(self._held), self._pipe))


class _Again(io.RawIOBase):
    def __init__(self, held: bytes, pipe: io.BufferedIOBase) -> None:
        self._held, self._pipe = io.BytesIO(held), pipe

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._held.readinto(buffer) or self._pipe.readinto(buffer)


def piped_bam(pipe: HeldPipe, reads_ahead: bool) -> PipedBam | None:
    """Read the header; None where there is none, or none that is whole.

    Parameters
    ----------
    pipe : HeldPipe
    reads_ahead : bool
        A thread unpacks blocks while the caller works.
    """
    batches = blocks_from(pipe.read_on, 0)
    blocks, size = read_header(batches)
    if not size:
        return None
    pipe.let_go()
    data = b"".join(block.data for block in blocks)
    rest = prefetch(batches) if reads_ahead else batches
    return PipedBam(data[:size], UnpackedBam(_with_first(data[size:], rest), 0, None, lambda: None))


def _with_first(first: bytes, rest: Generator[list[Block]]) -> Generator[list[Block]]:
    yield from chain([[Block(0, first)]], rest)
