"""Reads `.in` files as batches of many groups, with the compiled reader or the one in `pairhmm.forward.pair_texts`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NoReturn, TextIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.forward.pair_texts import as_text, open_input, parse_groups, read_in
from pairhmm.models import gatk
from pairhmm.models.batch import Group, PairBatch, Qualities
from pairhmm.native import CURE, is_compiled, native
from pairhmm.sequences.letters import encode

log = logging.getLogger(__name__)

BLOCK_BYTES = 32 << 20
"""Bytes of text that are read at once, unless one group is longer. A batch takes about as much memory."""


def read_batches(path: str | Path, threads: int = 1, block_bytes: int = BLOCK_BYTES) -> Iterator[PairBatch]:
    """The groups of a `.in` file, in batches of the whole groups of about `block_bytes` bytes of text.

    InputError names a line that can't be used.
    """
    if not is_compiled():
        log.warning("%s is read and its scores are written in Python, slowly; %s", path, CURE)
        return _python_batches(path, block_bytes)
    return _compiled_batches(path, threads, block_bytes)


def _python_batches(path: str | Path, block_bytes: int) -> Iterator[PairBatch]:
    groups: list[Group] = []
    size = 0
    for group in read_in(path):
        groups.append(group)
        bases = sum(len(read.bases) for read in group.reads)
        size += len(Qualities.__dataclass_fields__) * bases + sum(map(len, group.haplotypes))
        if size >= block_bytes:
            yield PairBatch.from_groups(groups, gatk.START)
            groups, size = [], 0
    if groups:
        yield PairBatch.from_groups(groups, gatk.START)


def _compiled_batches(path: str | Path, threads: int, block_bytes: int) -> Iterator[PairBatch]:
    # text[:size] is the unused rest of the last block and what follows it in the file. Its first line is `line`.
    text = np.empty(block_bytes, dtype=np.uint8)
    size, line, is_end = 0, 1, False
    with open_input(path) as file:
        while not is_end or size:
            if size == len(text):
                text = np.concatenate([text, np.empty_like(text)])
            # A buffered file gives fewer bytes than asked for only at its end.
            size += file.readinto(text[size:].data)
            is_end = size < len(text)
            groups = native.GroupsText(text[:size], is_end)
            if groups.groups:
                yield _unpacked(path, groups, text, line, threads)
            elif groups.is_broken or (is_end and groups.end < size):
                _say_what_is_wrong(path, text[groups.end : size], line + groups.lines)
            left = text[groups.end : size].copy()
            text[: len(left)] = left
            size, line = len(left), line + groups.lines


def _unpacked(
    path: str | Path, groups: native.GroupsText, text: NDArray[np.uint8], line: int, threads: int
) -> PairBatch:
    group_read, group_haplotype = np.empty((2, groups.groups + 1), dtype=np.int64)
    read_offset = np.empty(groups.reads + 1, dtype=np.int64)
    haplotype_offset = np.empty(groups.haplotypes + 1, dtype=np.int64)
    haplotypes = np.empty(groups.letters, dtype=np.uint8)
    columns = np.empty((len(Qualities.__dataclass_fields__), groups.bases), dtype=np.uint8)
    offsets = (group_read, group_haplotype, read_offset, haplotype_offset)
    if groups.unpack(_letter_codes(), threads, *offsets, haplotypes, columns):
        return PairBatch(*offsets, haplotypes, gatk.START, Qualities(*columns))
    # The Python reader reports what is wrong. It also accepts fields with unusual separators.
    lines = _lines(text[: groups.end])
    return PairBatch.from_groups(list(parse_groups(path, lines, line)), gatk.START)


def _say_what_is_wrong(path: str | Path, text: NDArray[np.uint8], line: int) -> NoReturn:
    for _ in parse_groups(path, _lines(text), line):
        pass
    raise AssertionError(f"{path}: the compiled reader does not take what follows line {line}, and the other one does")


def _lines(text: NDArray[np.uint8]) -> TextIO:
    return as_text(BytesIO(text.tobytes()))


@cache
def _letter_codes() -> NDArray[np.uint8]:
    """uint8[256]: the code that `encode` gives each byte; 255 for bytes that it does not take."""
    codes = np.full(256, 255, dtype=np.uint8)
    for byte in range(256):
        with suppress(ValueError):
            codes[byte] = encode(bytes([byte]))[0]
    return codes
