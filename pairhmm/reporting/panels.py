"""A region as a panel shows it: what each read says of each haplotype, as few bytes as that takes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.genotypes import INFORMATIVE
from pairhmm.reporting.packing import to_json

READS_SHOWN = 250
"""Reads of a sample that a panel holds; of more, every n-th in the order of what they choose."""

PER_LOG10 = 100
"""Likelihoods are kept in hundredths of a log10: base qualities, a tenth of a log10 each, are coarser."""
IMPOSSIBLE = 2**16 - 1
"""Where a haplotype lies 655 log10 or more behind a read's best."""
UNKNOWN_BEST = -(2**31)
"""Best of a read that no haplotype explains (-inf)."""

_MATE, _KNOWN, _REVERSE, _PRECISION_SHIFT = 0x3, 0x4, 0x8, 4
_SAM_REVERSE = 0x10

ReadKey = tuple[str, str, int]
"""Sample, name and mate of a read."""


@dataclass(frozen=True, slots=True)
class RegionLikelihoods:
    """The likelihoods of a region, and what is known of its haplotypes.

    Attributes
    ----------
    chrom : str
    start, end : int
        0-based half-open.
    haplotypes, sequences, alleles : list of str
        Names, bases, and comma-separated alleles of the region's variants.
    variants : str
        As the haplotype table has them.
    samples, names : list of str
        One a read.
    mates : list of int
    log10 : float64 (reads, haplotypes)
        NaN where the table has no row.
    precision : uint8 (reads,)
        The highest code of a read's rows: what its hardest pair took.
    """

    chrom: str
    start: int
    end: int
    haplotypes: list[str]
    sequences: list[str]
    alleles: list[str]
    variants: str
    samples: list[str]
    names: list[str]
    mates: list[int]
    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class HaplotypeChoice:
    """What reads choose.

    Attributes
    ----------
    haplotype : int (reads,)
        The best one.
    margin : float64 (reads,)
        log10 that it lies before the next one.
    """

    haplotype: NDArray[np.int64]
    margin: NDArray[np.float64]

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Whether the read says something, as AD counts it."""
        return self.margin > INFORMATIVE


def choose_haplotypes(log10: NDArray[np.float64]) -> HaplotypeChoice:
    """The haplotype that each read is likeliest from.

    Parameters
    ----------
    log10 : float64 (reads, haplotypes)
    """
    if log10.shape[1] < 2:
        return HaplotypeChoice(np.zeros(len(log10), dtype=np.int64), np.zeros(len(log10)))
    known = np.where(np.isfinite(log10), log10, -1e9)
    ranked = np.sort(known, axis=1)
    return HaplotypeChoice(known.argmax(axis=1), ranked[:, -1] - ranked[:, -2])


def panel_bytes(
    region: RegionLikelihoods,
    table: int,
    sample_numbers: Mapping[str, int],
    alignment: tuple[int, str, list[list[tuple[int, str, str]]]],
    places: Mapping[ReadKey, tuple[int, int]],
) -> bytes:
    """A region for `report_page/panel_data.js`: the length of a JSON header, the header, and arrays (little-endian).

    Parameters
    ----------
    region : RegionLikelihoods
    table : int
        Which likelihood table it is from.
    sample_numbers : mapping of str to int
    alignment : (int, str, list)
        0-based start and bases of the reference, and each haplotype's differences from it.
    places : mapping of ReadKey to (int, int)
        SAM flags and mapping quality of reads that alignment files have.
    """
    start, reference, differences = alignment
    groups, arrays = [], []
    samples = np.array([sample_numbers[name] for name in region.samples], dtype=np.int64)
    for sample in np.unique(samples).tolist():
        header, array = _group(region, np.flatnonzero(samples == sample), sample, places)
        groups.append(header)
        arrays.append(array)
    header = {
        "chrom": region.chrom,
        "start": region.start,
        "end": region.end,
        "table": table,
        "origin": start,
        "reference": reference,
        "variants": region.variants,
        "haplotypes": [
            {"name": name, "alleles": alleles, "differences": own}
            for name, alleles, own in zip(region.haplotypes, region.alleles, differences, strict=True)
        ],
        "groups": groups,
    }
    text = to_json(header)
    return struct.pack("<I", len(text)) + text + b"".join(arrays)


def _group(
    region: RegionLikelihoods, reads: NDArray[np.intp], sample: int, places: Mapping[ReadKey, tuple[int, int]]
) -> tuple[dict[str, Any], bytes]:
    """The reads of one sample."""
    log10 = region.log10[reads]
    choice = choose_haplotypes(log10)
    decided = choice.decided
    order = np.lexsort((-choice.margin, choice.haplotype, ~decided))
    shown = order if len(order) <= READS_SHOWN else order[np.linspace(0, len(order) - 1, READS_SHOWN).astype(int)]
    header = {
        "sample": sample,
        "reads": len(reads),
        "shown": len(shown),
        "sums": [_rounded(value) for value in np.where(np.isnan(log10), 0.0, log10).sum(axis=0).tolist()],
        "chosen": np.bincount(choice.haplotype[decided], minlength=log10.shape[1]).tolist(),
        "undecided": int((~decided).sum()),
        "names": "\n".join(region.names[index] for index in reads[shown].tolist()),
    }
    best, behind = _quantised(log10[shown])
    flags, qualities = _places(region, reads[shown], places)
    return header, b"".join((best.tobytes(), behind.T.tobytes(), flags.tobytes(), qualities.tobytes()))


def _rounded(value: float) -> float | None:
    return round(value, 2) if np.isfinite(value) else None


def _quantised(log10: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
    """Each read's best, and how far each haplotype lies behind it, in 1 / PER_LOG10."""
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
        found = places.get((region.samples[index], region.names[index], mate))
        if found is not None:
            flag |= _KNOWN | (_REVERSE if found[0] & _SAM_REVERSE else 0)
            qualities[number] = found[1]
        flags[number] = flag
    return flags, qualities


Differences = Callable[[str, str, int], set[tuple[int, str, str]]]


def aligned_haplotypes(
    start: int, reference: str, sequences: Sequence[str], differences: Differences
) -> list[list[tuple[int, str, str]]]:
    """What each haplotype differs in from the reference: 0-based position, bases replaced, bases put in; sorted.

    Only what lies between the common beginning and the common end is aligned: the time goes with its square.

    Parameters
    ----------
    start : int
        0-based position of the reference's first base.
    reference : str
    sequences : sequence of str
    differences : callable
        ``differences(reference, sequence, start)``, as `pairhmm.evidence.given_haplotypes.find_differences`.
    """
    return [sorted(_differences(start, reference, sequence, differences)) for sequence in sequences]


_CONTEXT = 20
"""Common bases that are aligned too, so that an indel in a repeat can move to its left end."""


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
