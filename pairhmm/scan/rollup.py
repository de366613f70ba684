"""Coverage of each signature by a file's matching tiles: breadth, depth, and whether the signature is present."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.scan.base import REVERSE, ScanOptions, Tiling
from pairhmm.scan.tiles import masked_tiles
from pairhmm.sequences.letters import ANY
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures

LEAST_READS = 3
"""Reads that match no other signature as well, which a call needs."""

TIMES_CHANCE = 10
"""A call needs this many times the reads that are expected by chance."""

DEPTH_PARTS = 200
"""Equal parts of a signature whose mean depths are told; a shorter one has a part for each letter."""

_HASH_BASE = 0x9E3779B97F4A7C15

PRESENT, WEAK, ABSENT = "present", "weak", "absent"


@dataclass(frozen=True, slots=True)
class SignatureCoverage:
    """A signature in a file: a row of the summary of a scan of tiles."""

    signature: str
    length: int  # letters
    reads: int  # records with a match
    # Share of these that match another signature as well or better: in as many letters. None without reads.
    ambiguous: float | None
    # Tiles that were matched, and tiles that it has.
    tiles: int
    all_tiles: int
    breadth: float  # share of its letters other than N that matched tiles cover
    depth: float  # how many reads cover such a letter, on average
    quality: float | None  # mean Phred quality of the letters that match; None without any
    identity: float | None  # share of columns that do not differ, where neither side is N
    expected: float  # matches that are expected by chance
    call: str  # `PRESENT`; `WEAK`, with reads but not enough; or `ABSENT`
    reason: str  # what a weak signature lacks
    masked: int = 0  # tiles that were not searched for, because of their low complexity
    depths: tuple[float, ...] = ()  # mean depth of each of its `DEPTH_PARTS`, from end to end; none without reads


@dataclass(frozen=True, slots=True)
class TaxonReads:
    """Reads of all files, as a classifier counts them: each is of one taxon, of several, or of none."""

    own: NDArray[np.int64]  # [signatures]: of the first signature of each taxon, the reads that match that taxon best
    shared: int  # reads that match several taxa equally well
    unmatched: int


def call_rule(min_breadth: float) -> str:
    """The rule of a call, in words."""
    return (
        f"present: at least {LEAST_READS} reads that match no other signature as well, a breadth of at least"
        f" {min_breadth:g}, and at least {TIMES_CHANCE} times the matches expected by chance"
    )


class Rollup:
    """Adds up the runs of one file. Memory grows with the signatures, not with the file."""

    def __init__(self, signatures: Signatures, tiling: Tiling, options: ScanOptions, min_breadth: float) -> None:
        self._signatures, self._tiling, self._options = signatures, tiling, options
        self._min_breadth = min_breadth
        count = len(signatures)
        self._taxon = first_of_taxa(signatures)
        self._own, self._shared, self._records = np.zeros(count, dtype=np.int64), 0, 0
        self._first_tile = np.concatenate(([0], np.cumsum(tiling.tiles(signatures.lengths))))
        self._depth_steps = np.zeros(len(signatures.letters) + 1, dtype=np.int64)
        self._tile_steps = np.zeros(int(self._first_tile[-1]) + 1, dtype=np.int64)
        self._reads, self._ambiguous = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._sums = np.zeros((4, count), dtype=np.int64)  # letters, qualities, informative and differing columns
        self._letters = np.zeros(16, dtype=np.int64)
        self._masked = masked_tiles(signatures, tiling)
        self._windows = 0
        self._has_qualities = True

    def add(self, samples: Samples, runs: NDArray[np.void]) -> None:
        """Add whole records and their runs."""
        lengths = np.diff(samples.offset)
        self._records += len(lengths)
        self._windows += int(np.maximum(0, lengths - self._tiling.length + 1).sum())
        self._letters += np.bincount(samples.letters, minlength=16)
        self._has_qualities &= samples.qualities is not None or not len(samples.letters)
        if not len(runs):
            return
        for total, field in zip(self._sums, ("length", "total", "informative", "mismatches"), strict=True):
            np.add.at(total, runs["signature"], runs[field])
        self._add_depth(runs)
        first = self._first_tile[runs["signature"]] + runs["place"] // self._tiling.step
        np.add.at(self._tile_steps, first, 1)
        np.add.at(self._tile_steps, first + runs["tiles"], -1)
        self._add_reads(runs)

    def _add_depth(self, runs: NDArray[np.void]) -> None:
        """Add the letters of the signatures that runs cover. Runs of one diagonal may overlap: they count once."""
        end = runs["start"] + runs["length"]
        is_reverse = runs["strand"] == REVERSE
        diagonal = np.where(is_reverse, runs["place"] + end, runs["place"] - runs["start"])
        again = np.zeros(len(runs), dtype=bool)
        again[1:] = diagonal[1:] == diagonal[:-1]
        for field in ("segment", "signature", "strand"):
            again[1:] &= runs[field][1:] == runs[field][:-1]
        overlap = np.zeros(len(runs), dtype=np.int64)
        overlap[1:] = np.where(again[1:], np.maximum(0, end[:-1] - runs["start"][1:]), 0)
        # On the reverse strand, the first letters of a read lie at the end of what it covers.
        begin = self._signatures.offset[runs["signature"]] + runs["place"] + np.where(is_reverse, 0, overlap)
        np.add.at(self._depth_steps, begin, 1)
        np.add.at(self._depth_steps, begin + runs["length"] - overlap, -1)

    def _add_reads(self, runs: NDArray[np.void]) -> None:
        """Count reads, and those that match another signature in as many letters or more."""
        pairs, covered = _covered(runs, len(self._signatures))
        segment, signature = np.divmod(pairs, len(self._signatures))
        np.add.at(self._reads, signature, 1)
        starts = np.flatnonzero(np.concatenate(([True], segment[1:] != segment[:-1])))
        sizes = np.diff(np.concatenate((starts, [len(segment)])))
        most = np.repeat(np.maximum.reduceat(covered, starts), sizes)
        ties = np.repeat(np.add.reduceat(covered == most, starts), sizes)
        np.add.at(self._ambiguous, signature[(covered < most) | (ties > 1)], 1)
        best = np.flatnonzero(covered == most)
        firsts = np.searchsorted(best, starts)
        taxon = self._taxon[signature[best]]
        lowest, highest = (extreme.reduceat(taxon, firsts) for extreme in (np.minimum, np.maximum))
        np.add.at(self._own, lowest[lowest == highest], 1)
        self._shared += int(np.count_nonzero(lowest != highest))

    def taxon_reads(self) -> TaxonReads:
        """The reads of each taxon."""
        return TaxonReads(self._own, self._shared, self._records - int(self._own.sum()) - self._shared)

    def rows(self) -> list[SignatureCoverage]:
        """All signatures, the most abundant first: by depth, then by their order."""
        depth = np.cumsum(self._depth_steps[:-1])
        tiles = np.cumsum(self._tile_steps[:-1]) > 0
        rows = [self._row(index, depth, tiles) for index in range(len(self._signatures))]
        return sorted(rows, key=lambda row: (-row.depth, -row.reads))

    def _row(self, index: int, depth: NDArray[np.int64], tiles: NDArray[np.bool_]) -> SignatureCoverage:
        begin, end = self._signatures.offset[index : index + 2]
        known = self._signatures.letters[begin:end] != ANY
        here = depth[begin:end][known]
        seen = tiles[self._first_tile[index] : self._first_tile[index + 1]]
        reads, ambiguous = int(self._reads[index]), int(self._ambiguous[index])
        letters, qualities, informative, differing = (int(total) for total in self._sums[:, index])
        breadth = float(np.count_nonzero(here)) / len(here) if len(here) else 0.0
        masked = int(self._masked[index])
        expected = self._expected(self._signatures.letters[begin:end], len(seen) - masked)
        lacks = self._lacks(reads, reads - ambiguous, breadth, expected)
        return SignatureCoverage(
            signature=self._signatures.names[index],
            length=int(end - begin),
            reads=reads,
            ambiguous=ambiguous / reads if reads else None,
            tiles=int(np.count_nonzero(seen)),
            all_tiles=len(seen),
            breadth=breadth,
            depth=float(here.mean()) if len(here) else 0.0,
            quality=qualities / letters if letters and self._has_qualities else None,
            identity=1 - differing / informative if informative else None,
            expected=expected,
            call=ABSENT if not reads else WEAK if lacks else PRESENT,
            reason="; ".join(lacks) if reads else "",
            masked=masked,
            depths=_mean_of_parts(depth[begin:end]) if reads else (),
        )

    def _lacks(self, reads: int, own_reads: int, breadth: float, expected: float) -> list[str]:
        """Reasons why a signature is not called."""
        lacks = []
        if own_reads < LEAST_READS:
            lacks.append(f"{own_reads} {'read' if own_reads == 1 else 'reads'} of its own")
        if breadth < self._min_breadth:
            lacks.append(f"breadth below {self._min_breadth:g}")
        if reads < TIMES_CHANCE * expected:
            lacks.append(f"below {TIMES_CHANCE} times chance")
        return lacks

    def _expected(self, letters: NDArray[np.uint8], tiles: int) -> float:
        """Matches by chance, if letters were independent and as frequent as they are in the reads and the signature."""
        strands = 2 if self._options.both_strands else 1
        equal = _chance_of_a_column(self._letters, np.bincount(letters, minlength=16))
        length = self._tiling.length
        chance = sum(
            math.comb(length, k) * equal ** (length - k) * (1 - equal) ** k
            for k in range(self._options.max_mismatches + 1)
        )
        return self._windows * tiles * strands * chance


def first_of_taxa(signatures: Signatures) -> NDArray[np.int64]:
    """Of each signature the first one of its taxon, int64[signatures]. One without a taxon's number is its own."""
    first: dict[int, int] = {}
    taxids = (signatures.taxid(index) for index in range(len(signatures)))
    return np.array([first.setdefault(taxid, index) if taxid else index for index, taxid in enumerate(taxids)])


def _mean_of_parts(depth: NDArray[np.int64]) -> tuple[float, ...]:
    parts = np.array_split(depth, min(DEPTH_PARTS, len(depth)))
    return tuple(float(part.mean()) for part in parts)


def _chance_of_a_column(some: NDArray[np.int64], others: NDArray[np.int64]) -> float:
    """How often two letters have a base in common, if they are drawn from these counts of sets."""
    if not some.sum() or not others.sum():
        return 0.0
    sets = np.arange(16)
    common = (sets[:, None] & sets) > 0
    return float((some / some.sum()) @ common @ (others / others.sum()))


def _covered(runs: NDArray[np.void], signatures: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each pair of segment and signature, as ``segment * signatures + signature``, and the letters that runs cover."""
    pair = runs["segment"] * signatures + runs["signature"]
    order = np.lexsort((runs["start"], pair))
    pair, start = pair[order], runs["start"][order]
    end = start + runs["length"][order]
    # The farthest end so far within each pair: pairs ascend, so that those of later ones are beyond all earlier ones.
    beyond = int(end.max()) + 1
    rank = np.concatenate(([0], np.cumsum(pair[1:] != pair[:-1]))) * beyond
    farthest = np.maximum.accumulate(rank + end)
    before = np.concatenate(([0], farthest[:-1]))
    new = np.maximum(0, rank + end - np.maximum(rank + start, before))
    starts = np.flatnonzero(np.concatenate(([True], pair[1:] != pair[:-1])))
    return pair[starts], np.add.reduceat(new, starts)


def repeated_tiles(signatures: Signatures, tiling: Tiling, both_strands: bool) -> tuple[int, int, int]:
    """How many tiles there are, how many of them occur more than once, and how many occur in several signatures.

    Tiles are equal if their letters are, or if one is the reverse complement of the other where both strands count.
    They are compared by their hashes of 64 bits, less the bits that number the signatures.
    """
    ends = np.cumsum(tiling.tiles(signatures.lengths))
    if not ends[-1]:
        return 0, 0, 0
    # A word holds both, so that sorting needs no argsort.
    owner_bits = np.uint64(len(signatures).bit_length())
    words = np.empty(int(ends[-1]), dtype=np.uint64)
    for index, end in enumerate(ends.tolist()):
        hashes = _tile_hashes(signatures.sequence(index), tiling, both_strands)
        words[end - len(hashes) : end] = hashes >> owner_bits << owner_bits | np.uint64(index)
    words.sort()
    follows = np.zeros(len(words) + 1, dtype=bool)
    np.equal(words[1:] >> owner_bits, words[:-1] >> owner_bits, out=follows[1:-1])
    is_repeated = follows[1:] | follows[:-1]
    repeated = words[is_repeated]
    if not len(repeated):
        return len(words), 0, 0
    starts = np.flatnonzero(~follows[:-1][is_repeated])
    stops = np.append(starts[1:], len(repeated))
    # The owners of a tile are in order: they differ if the first and the last one do.
    is_shared = repeated[starts] != repeated[stops - 1]
    return len(words), len(repeated), int((stops - starts)[is_shared].sum())


def _tile_hashes(letters: NDArray[np.uint8], tiling: Tiling, both_strands: bool) -> NDArray[np.uint64]:
    """The hash of each tile: the smaller one of both strands."""
    if len(letters) < tiling.length:
        return np.zeros(0, dtype=np.uint64)
    forward = _window_hashes(letters.astype(np.uint64), tiling.length)
    if both_strands:
        complement = (letters & 1) << 3 | (letters & 2) << 1 | (letters & 4) >> 1 | (letters & 8) >> 3
        reverse = _window_hashes(complement[::-1].astype(np.uint64), tiling.length)[::-1]
        forward = np.minimum(forward, reverse)
    # Tiles that differ in their last letter alone have neighbouring hashes: a product moves that to the highest bits.
    return forward[:: tiling.step] * np.uint64(_HASH_BASE)


def _window_hashes(letters: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """The polynomial hash, modulo 2**64, of each window: made from those of half its length."""
    hashes, size = letters, 1
    for bit in bin(length)[3:]:
        power = np.uint64(pow(_HASH_BASE, size, 1 << 64))
        hashes = hashes[: len(hashes) - size] * power + hashes[size:]
        size *= 2
        if bit == "1":
            hashes = hashes[: len(hashes) - 1] * np.uint64(_HASH_BASE) + letters[size : size + len(hashes) - 1]
            size += 1
    return hashes
