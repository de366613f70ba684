"""The data of a region's panel: the likelihood of each read given each haplotype, packed into few bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.sam import ReadKey
from pairhmm.likelihoods.reader import RegionLikelihoods
from pairhmm.report.page_writer import to_json
from pairhmm.report.pileup import Pileup, packed_rows
from pairhmm.variants.genotypes import INFORMATIVE

READS_SHOWN = 250
"""The most reads of a sample in a panel. Of more reads, every n-th is taken, in order of the haplotype they choose."""
MOST_READS = 500_000
"""The most reads of all panels together, which take 15 MB. Panels share them evenly, and the samples of a panel."""

PER_LOG10 = 100
"""Likelihoods are stored in 1/100 of a log10. Base qualities are coarser: one Phred is 1/10 of a log10."""
IMPOSSIBLE = 2**16 - 1
"""Stands for a haplotype that is 655 log10 or more behind a read's best."""
UNKNOWN_BEST = -(2**31)
"""Stands for the best likelihood of a read that no haplotype explains (-inf)."""

_MATE, _KNOWN, _REVERSE, _PRECISION_SHIFT = 0x3, 0x4, 0x8, 4
"""Bits of a read's flags in a panel: mate, found in an alignment file, reverse strand; precision from bit 4 on."""

_SAM_REVERSE = 0x10
"""SAM's flag of a read on the reverse strand."""


@dataclass(frozen=True, slots=True)
class HaplotypeChoice:
    """The haplotype that each read is likeliest from.

    Attributes
    ----------
    haplotype : int (reads,)
        Index of the best haplotype.
    margin : float64 (reads,)
        How far (log10) it is ahead of the next one.
    """

    haplotype: NDArray[np.int64]
    margin: NDArray[np.float64]

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Whether each read is informative, as AD counts it."""
        return self.margin > INFORMATIVE


ReadEvidence = tuple[int, int, float, list[list[Any]]]
"""Why a read is likelier from one haplotype (its number) than from the next, by so much (log10): the bases that decide.

Each base has its number in the part of the read that was scored, its letter, its Phred quality as in the alignment, its
expected log10 emission beside the first haplotype less that beside the second, P(it is inserted) for each, and the
expected number of letters that are deleted behind it for each.
"""


def choose_haplotypes(log10: NDArray[np.float64]) -> HaplotypeChoice:
    """The haplotype that each read is likeliest from."""
    if log10.shape[1] < 2:
        return HaplotypeChoice(np.zeros(len(log10), dtype=np.int64), np.zeros(len(log10)))
    known = np.where(np.isfinite(log10), log10, -1e9)
    ranked = np.sort(known, axis=1)
    return HaplotypeChoice(known.argmax(axis=1), ranked[:, -1] - ranked[:, -2])


def most_reads(panels: int, samples: int) -> int:
    """The most reads of a sample that are shown in a panel, of so many panels and of so many samples in this one."""
    return max(1, min(READS_SHOWN, MOST_READS // max(1, panels * samples)))


def panel_bytes(
    region: RegionLikelihoods,
    table: int,
    sample_numbers: Mapping[str, int],
    alignment: tuple[int, str, list[list[tuple[int, str, str]]]],
    places: Mapping[ReadKey, tuple[int, int]],
    explained: Mapping[int, ReadEvidence],
    pileup: Pileup | None = None,
    most: int = READS_SHOWN,
) -> bytes:
    """A region for `report/page/panel_data.js`: the length of a JSON header, the header, then arrays (little-endian).

    Parameters
    ----------
    table : int
        Index of the likelihood table.
    alignment : (int, str, list)
        0-based start and bases of the reference, and each haplotype's differences from it.
    places : mapping of ReadKey to (int, int)
        SAM flags and mapping quality of the reads that were found in alignment files.
    explained : mapping of int to ReadEvidence
        What decides for some reads, by their index.
    pileup : Pileup or None
        The bases of the reads that were found in alignment files, by `ReadKey`. None without such files.
    most : int
        The most reads of a sample that are shown.
    """
    start, reference, differences = alignment
    letters = "".join(reference[column - start] for column in pileup.columns.tolist()) if pileup is not None else ""
    groups, arrays = [], []
    samples = np.array([sample_numbers[name] for name in region.samples], dtype=np.int64)
    for sample in np.unique(samples).tolist():
        reads = np.flatnonzero(samples == sample)
        shown = _shown(region.log10[reads], most)
        header, array = _sample_reads(region, reads, shown, places, explained)
        arrays.append(array)
        if pileup is not None:
            keys = [(region.samples[read], region.names[read], region.mates[read]) for read in reads[shown].tolist()]
            array, header["insertions"] = packed_rows(pileup, keys, letters)
            arrays.append(array)
        groups.append({"sample": sample} | header)
    header = {
        "chrom": region.chrom,
        "start": region.start,
        "end": region.end,
        "table": table,
        "origin": start,
        "reference": reference,
        "variants": region.variants,
        "haplotypes": [
            {"name": name, "alleles": alleles, "differences": changes}
            for name, alleles, changes in zip(region.haplotypes, region.alleles, differences, strict=True)
        ],
        "columns": _runs(pileup.columns) if pileup is not None else None,
        "groups": groups,
    }
    text = to_json(header)
    return struct.pack("<I", len(text)) + text + b"".join(arrays)


def _shown(log10: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The indices of a sample's reads that are shown, in order of the haplotype they choose."""
    choice = choose_haplotypes(log10)
    order = np.lexsort((-choice.margin, choice.haplotype, ~choice.decided))
    return order if len(order) <= most else order[np.linspace(0, len(order) - 1, most).astype(int)]


def _runs(columns: NDArray[np.int64]) -> list[list[int]]:
    """Ascending positions as intervals, each with its first position and its length."""
    parts = np.split(columns, np.flatnonzero(np.diff(columns) != 1) + 1)
    return [[int(part[0]), len(part)] for part in parts if len(part)]


def _sample_reads(
    region: RegionLikelihoods,
    reads: NDArray[np.intp],
    shown: NDArray[np.int64],
    places: Mapping[ReadKey, tuple[int, int]],
    explained: Mapping[int, ReadEvidence],
) -> tuple[dict[str, Any], bytes]:
    """The header and the arrays of one sample's reads."""
    log10 = region.log10[reads]
    choice = choose_haplotypes(log10)
    decided = choice.decided
    header = {
        "reads": len(reads),
        "shown": len(shown),
        "sums": [_rounded(value) for value in np.where(np.isnan(log10), 0.0, log10).sum(axis=0).tolist()],
        "chosen": np.bincount(choice.haplotype[decided], minlength=log10.shape[1]).tolist(),
        "undecided": int((~decided).sum()),
        "names": "\n".join(region.names[index] for index in reads[shown].tolist()),
        "explained": [
            [number, *explained[index]] for number, index in enumerate(reads[shown].tolist()) if index in explained
        ],
    }
    best, behind = _quantised(log10[shown])
    flags, qualities = _places(region, reads[shown], places)
    return header, b"".join((best.tobytes(), behind.T.tobytes(), flags.tobytes(), qualities.tobytes()))


def _rounded(value: float) -> float | None:
    return round(value, 2) if np.isfinite(value) else None


def _quantised(log10: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
    """Each read's best likelihood, and how far each haplotype is behind it, in 1 / PER_LOG10 of a log10."""
    known = np.where(np.isnan(log10), -np.inf, log10)
    best = known.max(axis=1, keepdims=True, initial=-np.inf)
    finite = np.isfinite(best)
    top = np.where(finite, best, 0.0)
    behind = np.where(np.isfinite(known), top - np.where(np.isfinite(known), known, 0.0), np.inf)
    capped = np.minimum(behind * PER_LOG10, IMPOSSIBLE)
    tops = np.where(finite, np.rint(top * PER_LOG10), UNKNOWN_BEST)[:, 0]
    return tops.astype("<i4"), np.rint(capped).astype("<u2")


def _places(
    region: RegionLikelihoods, reads: NDArray[np.intp], places: Mapping[ReadKey, tuple[int, int]]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    flags, qualities = np.zeros(len(reads), np.uint8), np.zeros(len(reads), np.uint8)
    for number, index in enumerate(reads.tolist()):
        mate = region.mates[index]
        flag = mate & _MATE | int(region.precision[index]) << _PRECISION_SHIFT
        place = places.get((region.samples[index], region.names[index], mate))
        if place is not None:
            flag |= _KNOWN | (_REVERSE if place[0] & _SAM_REVERSE else 0)
            qualities[number] = place[1]
        flags[number] = flag
    return flags, qualities


Differences = Callable[[str, str, int], set[tuple[int, str, str]]]


def aligned_haplotypes(
    start: int, reference: str, sequences: Sequence[str], differences: Differences
) -> list[list[tuple[int, str, str]]]:
    """Differences of each haplotype from the reference: 0-based position, reference bases, haplotype bases; sorted.

    The common beginning and the common end are not aligned: an alignment's time grows with the square of its length.

    Parameters
    ----------
    start : int
        0-based position of the reference's first base.
    differences : callable
        ``differences(reference, sequence, start)``, as `pairhmm.align.haplotypes.find_differences`.
    """
    return [sorted(_differences(start, reference, sequence, differences)) for sequence in sequences]


_CONTEXT = 20
"""Common bases on either side that are aligned all the same, so that an indel in a repeat can be shifted left."""


def _differences(start: int, reference: str, sequence: str, differences: Differences) -> set[tuple[int, str, str]]:
    shortest = min(len(reference), len(sequence))
    head = 0
    while head < shortest and reference[head] == sequence[head]:
        head += 1
    tail = 0
    while tail < shortest - head and reference[-1 - tail] == sequence[-1 - tail]:
        tail += 1
    head, tail = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    return differences(reference[head : len(reference) - tail], sequence[head : len(sequence) - tail], start + head)
