"""Reads BAI and CSI indexes as arrays. Every count and bin number is checked, since htslib does not check them.

SAM specification, section 5.2; CSI specification. Offsets are virtual: 48 bits of a block's place in the file, and 16
of a place in the unpacked block. All coordinates are 0-based half-open.
"""

from __future__ import annotations

import gzip
import struct
from typing import IO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pairhmm.files import formats

# A .bai has the bins of a .csi with these parameters.
_BAI_SHIFT, _BAI_DEPTH = 14, 5
LONGEST_FOR_BAI = 1 << _BAI_SHIFT + 3 * _BAI_DEPTH
"""The longest contig that a .bai knows. Longer ones need a .csi."""

# Limits: contigs of at most 2^44 bases, and bin numbers that fit 31 bits.
_LONGEST, _DEEPEST = 44, 9
# Bytes of the file between two places, below which reading on is faster than a jump.
_NEAR = 1 << 16
_COUNT_WORDS, _CHUNK_WORDS = 2, 4


class DamagedIndexError(ValueError):
    """An index is not as its specification has it, or contradicts itself. The message says where."""


class ContigReads(NamedTuple):
    """The numbers of a contig's reads, and the virtual offset where they end."""

    mapped: int
    unmapped: int
    end: int


class BamIndex(NamedTuple):
    """Where the reads of each contig lie in a BAM file.

    Attributes
    ----------
    shift, depth : int
        The smallest bins have ``2**shift`` bases; there are ``depth`` levels above them.
    bin_contig, bin_number : int64 (bins,)
    chunk_bin : int64 (chunks,)
        Index into the bins.
    begin, end : uint64 (chunks,)
        Virtual offsets.
    reads : dict of int to ContigReads
        What is told of a contig's reads; older indices lack it.
    words : uint32
        The file without its head, as 32-bit words.
    starts_at : int64 (contigs,)
        Index into `words` of each contig's table of offsets in a .bai; empty for a .csi.
    bin_at : int64 (bins,)
        Index into `words` of each bin.
    unplaced_reads : int
        Reads without a contig; 0 in older indices.
    """

    contigs: int
    shift: int
    depth: int
    bin_contig: NDArray[np.int64]
    bin_number: NDArray[np.int64]
    chunk_bin: NDArray[np.int64]
    begin: NDArray[np.uint64]
    end: NDArray[np.uint64]
    reads: dict[int, ContigReads]
    words: NDArray[np.uint32]
    starts_at: NDArray[np.int64]
    bin_at: NDArray[np.int64]
    unplaced_reads: int

    def starts(self, contig: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Positions on a contig, in order, and for each the offset before which no read reaches that position."""
        if len(self.starts_at):
            at = int(self.starts_at[contig])
            windows = np.arange(int(self.words[at]))
            return windows << self.shift, _offsets(self.words, at + 1 + 2 * windows)
        first, last = np.searchsorted(self.bin_contig, (contig, contig + 1))
        unique, index = np.unique(self.spans_of_bins(self.bin_number[first:last])[0], return_index=True)
        return unique, _offsets(self.words, self.bin_at[first:last][index] + 1)

    def all_starts(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """The `window` and the offset of each place that `starts` gives of any contig, in the order of windows."""
        if len(self.starts_at):
            at = self.starts_at
            counts = self.words[at].astype(np.int64)
            within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            contig = np.repeat(np.arange(len(at)), counts)
            return contig << self.window_bits | within, _offsets(self.words, np.repeat(at + 1, counts) + 2 * within)
        window = self.window(self.bin_contig, self.spans_of_bins(self.bin_number)[0])
        offsets = _offsets(self.words, self.bin_at + 1)
        order = np.lexsort((offsets, window))
        return window[order], offsets[order]

    @property
    def window_bits(self) -> int:
        """Bits of a `window` below the contig's number."""
        return 3 * self.depth + 1

    def window(self, contig: NDArray[np.int64], position: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of the smallest bins' intervals, which rise from contig to contig."""
        windows: NDArray[np.int64] = contig << self.window_bits | position >> self.shift
        return windows

    def mapped_reads(self, contig: int) -> int:
        """The number of mapped reads on a contig; 0 in older indices."""
        return self.reads[contig].mapped if contig in self.reads else 0

    def places(self, contig: int, start: int, end: int) -> list[tuple[int, int]]:
        """Where the reads that overlap [start, end) of a contig lie: (begin, end) as virtual offsets, in order.

        Others lie there, too.
        """
        if contig >= self.contigs:
            return []
        first, last = np.searchsorted(self.bin_contig, (contig, contig + 1))
        number = self.bin_number[first:last]
        overlaps = np.zeros(len(number), dtype=bool)
        for level in range(self.depth + 1):
            shift = self.shift + 3 * (self.depth - level)
            begins, ends = bins(level) + (start >> shift), bins(level) + (end - 1 >> shift)
            overlaps |= (number >= begins) & (number <= min(ends, bins(level + 1) - 1))
        one, two = np.searchsorted(self.chunk_bin, (first, last))
        chosen = one + np.flatnonzero(overlaps[self.chunk_bin[one:two] - first])
        least = np.uint64(self.before(contig, start))
        chosen = chosen[self.end[chosen] > least]
        chosen = chosen[np.argsort(self.begin[chosen], kind="stable")]
        begin, behind = np.maximum(self.begin[chosen], least), np.maximum.accumulate(self.end[chosen])
        # The first 48 bits are the address of a block.
        apart = (begin[1:] >> 16).astype(np.int64) - (behind[:-1] >> 16).astype(np.int64) >= _NEAR
        firsts = np.flatnonzero(np.append(True, apart)[: len(begin)])
        lasts = np.append(firsts[1:], len(begin))[: len(firsts)] - 1
        return list(zip(begin[firsts].tolist(), behind[lasts].tolist(), strict=True))

    def before(self, contig: int, position: int) -> int:
        """A virtual offset before which no read of a contig reaches a position; the last that the index tells."""
        if contig >= self.contigs:
            return 0
        positions, offsets = self.starts(contig)
        return int(offsets[: np.searchsorted(positions, position, "right")].max(initial=0))

    def spans_of_bins(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The intervals of positions that bins cover: starts and ends."""
        edges = np.array([bins(level + 1) for level in range(self.depth + 1)])
        level = np.searchsorted(edges, numbers, side="right")
        shift = self.shift + 3 * (self.depth - level)
        start = numbers - np.append(0, edges)[level] << shift
        return start, start + (1 << shift)


def bins(levels: int) -> int:
    """Number of bins in so many levels; each level has eight times as many bins as the one above it."""
    return ((1 << 3 * levels) - 1) // 7


def open_unzipped(path: str) -> IO[bytes]:
    """The bytes of an index, which may be gzipped."""
    with open(path, "rb") as raw:
        is_zipped = raw.read(2) == formats.GZIP
    return cast(IO[bytes], gzip.open(path, "rb")) if is_zipped else open(path, "rb")


def read_bam_index(path: str) -> BamIndex:
    """Read a .bai or .csi.

    Raises ValueError, OSError, EOFError, zlib.error for anything that is not as the specification has it.
    """
    with open_unzipped(path) as file:
        data = file.read()
    shift, depth, body = _BAI_SHIFT, _BAI_DEPTH, 4
    is_csi = data[:4] == b"CSI\1"
    if is_csi:
        if len(data) < 16:
            raise DamagedIndexError("it ends early")
        shift, depth, auxiliary = struct.unpack_from("<3i", data, 4)
        body = 16 + auxiliary
        if auxiliary < 0 or not (shift > 0 and 0 <= depth <= _DEEPEST and shift + 3 * depth <= _LONGEST):
            raise DamagedIndexError("impossible bins")
    elif data[:4] != b"BAI\1":
        raise DamagedIndexError("neither BAI nor CSI")
    words = np.frombuffer(data, "<u4", offset=body, count=max(0, (len(data) - body) // 4))
    return _parsed(words, shift, depth, is_csi)


def _parsed(words: NDArray[np.uint32], shift: int, depth: int, is_csi: bool) -> BamIndex:
    # CSI puts an offset between a bin's number and the count of its chunks; BAI has a table of them behind the bins.
    head = 4 if is_csi else 2
    bin_at, bins_of, linear_at, unplaced = _walk(words, head, is_csi)
    bin_contig = np.repeat(np.arange(len(bins_of)), bins_of)
    number = words[bin_at].astype(np.int64)
    chunks = words[bin_at + head - 1].astype(np.int64)
    # This is not a bin. It holds where the contig's reads lie in the file, and how many are mapped.
    counts = bins(depth + 1) + 1
    is_count = number == counts
    if np.any(number[~is_count] >= bins(depth + 1)) or np.any(chunks[is_count] != _COUNT_WORDS):
        raise DamagedIndexError("impossible bins")
    plain = ~is_count
    chunk_bin = np.repeat(np.cumsum(plain)[plain] - 1, chunks[plain])
    within = np.arange(len(chunk_bin)) - np.repeat(np.cumsum(chunks[plain]) - chunks[plain], chunks[plain])
    chunk_at = np.repeat(bin_at[plain] + head, chunks[plain]) + _CHUNK_WORDS * within
    begin, end = _offsets(words, chunk_at), _offsets(words, chunk_at + 2)
    if np.any(begin > end):
        raise DamagedIndexError("a chunk ends before it begins")
    count_at = bin_at[is_count] + head
    told = (_offsets(words, count_at + word).tolist() for word in (4, 6, 2))
    reads = dict(zip(bin_contig[is_count].tolist(), map(ContigReads, *told), strict=True))
    return BamIndex(
        len(bins_of),
        shift,
        depth,
        bin_contig[plain],
        number[plain],
        chunk_bin,
        begin,
        end,
        reads,
        words,
        linear_at,
        bin_at[plain],
        unplaced,
    )


def _walk(
    words: NDArray[np.uint32], head: int, is_csi: bool
) -> tuple[NDArray[np.int64], list[int], NDArray[np.int64], int]:
    """Where each bin stands, how many each contig has, where a .bai's tables of offsets stand, and the last number."""
    # Single numbers come three times as fast from a memoryview as from an array.
    view = words.astype(np.uint32).data
    bin_at: list[int] = []
    bins_of: list[int] = []
    linear_at: list[int] = []
    at = 1
    try:
        for _ in range(view[0]):
            bins_of.append(view[at])
            at += 1
            for _ in range(bins_of[-1]):
                bin_at.append(at)
                at += head + _CHUNK_WORDS * view[at + head - 1]
            if not is_csi:
                linear_at.append(at)
                at += 1 + 2 * view[at]
    except IndexError as error:
        raise DamagedIndexError("it ends early") from error
    # The last two words count the reads without a position. Older indices lack them, and bamtools writes zeros.
    if at > len(view) or (len(view) - at not in (0, 2) and any(view[at:])):
        raise DamagedIndexError("it ends early, or has more than it says")
    unplaced = view[at] | view[at + 1] << 32 if len(view) - at >= 2 else 0
    return np.array(bin_at, dtype=np.int64), bins_of, np.array(linear_at, dtype=np.int64), unplaced


def _offsets(words: NDArray[np.uint32], at: NDArray[np.int64]) -> NDArray[np.uint64]:
    low, high = words[at].astype(np.uint64), words[at + 1].astype(np.uint64)
    offsets: NDArray[np.uint64] = low | high << np.uint64(32)
    return offsets
