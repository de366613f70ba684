"""Where the reads of an indexed alignment file are, by its index alone: nothing of the reads is decoded.

A BAM's index holds the number of reads of each contig, and where in the file those of stretches of 16,384 bases or more
begin (SAM specification, section 5.2; CSI specification). A CRAM's lists its slices with their sizes (CRAM
specification, section 12). All coordinates are 0-based half-open.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.io.alignment_sources import OpenAlignments

# A block of a BAM file holds at most this much, unpacked.
_BLOCK_SIZE = 1 << 16
# A .bai is a .csi of these parameters.
_BAI_SHIFT, _BAI_DEPTH = 14, 5


@dataclass(frozen=True, slots=True)
class ReadDensity:
    """How many reads a contig has, and where.

    Attributes
    ----------
    edges : int64 (stretches + 1,)
        Positions; the reads of a stretch are taken to be spread evenly.
    before : float64 (stretches + 1,)
        Reads before each edge: a CRAM's in bytes.
    """

    edges: NDArray[np.int64]
    before: NDArray[np.float64]

    def upto(self, position: int) -> float:
        """Reads before a position, about."""
        return float(np.interp(position, self.edges, self.before))


def read_densities(source: OpenAlignments) -> dict[str, ReadDensity]:
    """The density of each contig that has reads.

    Raises
    ------
    InputError
        Where the file has no index that can be read.
    """
    path = _index_path(source)
    read = _cram_densities if path.endswith(".crai") else _bam_densities
    contigs, lengths = source.file.references, source.file.lengths
    try:
        return {contigs[number]: density for number, density in read(path, lengths)}
    except (OSError, EOFError, struct.error, ValueError, IndexError, zlib.error) as error:
        raise InputError(path, "", "can't be read as an index", f"run samtools index {source.path}") from error


def _index_path(source: OpenAlignments) -> str:
    stem = os.path.splitext(source.path)[0]
    endings = (".crai",) if source.file.is_cram else (".bai", ".csi")
    for path in (f"{name}{ending}" for name in (source.path, stem) for ending in endings):
        if os.path.exists(path):
            return path
    raise InputError(source.path, "", "has no index, which pieces need", f"run samtools index {source.path}")


def _bam_densities(path: str, lengths: Sequence[int]) -> Iterator[tuple[int, ReadDensity]]:
    """Contig number and density, from where the reads behind some positions begin in the file."""
    known = list(_bam_offsets(path))
    blocks = np.unique([offset >> 16 for _, _, _, offsets in known for offset in offsets.tolist()])
    # A packed block's size, about; where the whole file is one, only the places in it count.
    size = int(np.diff(blocks).min()) if len(blocks) > 1 else 1
    for number, reads, positions, offsets in known:
        places = (offsets >> 16) + (offsets & _BLOCK_SIZE - 1) * (size / _BLOCK_SIZE)
        places = np.maximum.accumulate(places)
        edges = np.append(np.minimum(positions, lengths[number]), lengths[number])
        yield number, ReadDensity(edges, reads * (places - places[0]) / max(places[-1] - places[0], 1e-9))


_Offsets = tuple[int, int, NDArray[np.int64], NDArray[np.int64]]


def _bam_offsets(path: str) -> Iterator[_Offsets]:
    """Contig number, its reads, positions, and where the reads from each on begin; one offset more, where they end.

    Offsets are virtual: 48 bits of a block's place in the file, and 16 of a place in the unpacked block.
    """
    with open(path, "rb") as raw:
        is_csi = raw.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rb") if is_csi else open(path, "rb") as file:
        data = file.read()
    at = 4
    shift, depth = _BAI_SHIFT, _BAI_DEPTH
    if data[:4] == b"CSI\1":
        shift, depth, auxiliary = struct.unpack_from("<3i", data, at)
        at += 12 + auxiliary
    elif data[:4] != b"BAI\1":
        raise ValueError("neither BAI nor CSI")
    (contigs,) = struct.unpack_from("<i", data, at)
    at += 4
    for number in range(contigs):
        offset_of, reads, end = {}, 0, 0
        (bins,) = struct.unpack_from("<i", data, at)
        at += 4
        for _ in range(bins):
            (bin_number,) = struct.unpack_from("<I", data, at)
            (first,) = struct.unpack_from("<Q", data, at + 4)
            at += 12 if is_csi else 4
            (chunks,) = struct.unpack_from("<i", data, at)
            if bin_number == _bins(depth + 1) + 1:
                # Not a bin: where the contig's reads lie in the file, and how many are mapped.
                _, end, reads, _ = struct.unpack_from("<4Q", data, at + 4)
            elif is_csi:
                offset_of[_start_of_bin(bin_number, shift, depth)] = first
            at += 4 + 16 * chunks
        if not is_csi:
            (linear,) = struct.unpack_from("<i", data, at)
            offsets = struct.unpack_from(f"<{linear}Q", data, at + 4)
            offset_of = {window << shift: offset for window, offset in enumerate(offsets)}
            at += 4 + 8 * linear
        positions = sorted(position for position, offset in offset_of.items() if offset)
        if reads and positions:
            in_order = [*(offset_of[position] for position in positions), end]
            yield number, reads, np.array(positions, dtype=np.int64), np.array(in_order, dtype=np.int64)


def _bins(levels: int) -> int:
    """Bins of so many levels, each of which has eight times as many as the one above it."""
    return ((1 << 3 * levels) - 1) // 7


def _start_of_bin(number: int, shift: int, depth: int) -> int:
    level = next(level for level in range(depth + 1) if number < _bins(level + 1))
    return number - _bins(level) << shift + 3 * (depth - level)


def _cram_densities(path: str, lengths: Sequence[int]) -> Iterator[tuple[int, ReadDensity]]:
    """Contig number and density, from its slices' sizes."""
    slices: dict[int, list[tuple[int, int, int]]] = {}
    with gzip.open(path, "rt") as lines:
        for line in lines:
            contig, start, span, _, _, size = map(int, line.split())
            if contig >= 0:
                slices.setdefault(contig, []).append((start - 1, start - 1 + span, size))
    for number, found in slices.items():
        first, last, size = np.array(found, dtype=np.int64).T
        first, last = np.clip(first, 0, lengths[number]), np.clip(last, 0, lengths[number])
        per_base = size / np.maximum(last - first, 1)
        edges = np.unique(np.concatenate([[0], first, last, [lengths[number]]]))
        steps = np.zeros(len(edges))
        np.add.at(steps, np.searchsorted(edges, first), per_base)
        np.add.at(steps, np.searchsorted(edges, last), -per_base)
        yield number, ReadDensity(edges, np.concatenate([[0.0], np.cumsum(np.cumsum(steps)[:-1] * np.diff(edges))]))
