"""Workloads of the device benchmarks: random regions with the shape and statistics of real ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.models import gatk, profile
from pairhmm.models.batch import Group, PairBatch, Qualities, Read
from pairhmm.models.partially_determined import DELETION_ENDS, DELETION_STARTS, FIRST_ALLELE, SNP
from pairhmm.sequences.arrays import offsets

GAP_QUALITY, INDEL_QUALITY = 10, 40
VARYING_GAP = (8, 14)
"""Lowest and highest gap quality (Phred) of workloads whose gap qualities vary."""

RATES_BY_COPIES = np.geomspace([1e-4, 1e-4], [1e-2, 1e-1], gatk.MOST_REPEATS).T
"""float64[2, 20]: MI and MD at a base in a tandem repeat of 1 to 20 copies. They are made up; fitted ones rise too."""

MOST_SUBSTITUTIONS = 3
UNDETERMINED_SNPS = 4
MOST_DELETED = 5
DELETION_MARGIN = 20
"""Bases at either end of a haplotype in which no deletion begins."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Regions of reads and the haplotypes that they come from."""

    # Number of regions, and of reads and haplotypes in each
    regions: int
    reads: int
    haplotypes: int
    # Bases of a read and of a haplotype
    read_length: int
    haplotype_length: int
    spread: int = 0  # Read lengths vary from read_length - spread (10 at least) to read_length
    deletions: bool = True  # Every third haplotype of a region lacks a few bases
    # Gap qualities are random along each read, from 8 to 14; otherwise they are 10 everywhere
    varying_gaps: bool = False
    noise: float = 0.0  # Share of the reads whose bases are random. The sums of their pairs are too small for float32.
    # Name of the profile model's parameters (`pairhmm.models.profile.preset`). The model takes the bases and base
    # qualities as they are. Empty for GATK's model.
    preset: str = ""
    # Haplotypes are partially determined: a region has `UNDETERMINED_SNPS` sites of SNPs and one deletion, and each
    # haplotype has flags at all of them but one
    flags: bool = False
    repeats: bool = False  # MI and MD of the profile model rise with the copies of a tandem repeat (`RATES_BY_COPIES`)


WORKLOADS = {
    "s150": Workload(2000, 100, 8, 150, 350),
    "s250": Workload(2000, 100, 8, 250, 400, spread=100),
    "s150-gcp": Workload(2000, 100, 8, 150, 350, varying_gaps=True),
    "s150-rescue": Workload(2000, 100, 8, 150, 350, noise=0.2),
    "s150-profile": Workload(2000, 100, 8, 150, 350, preset="normalised"),
    "s150-pdhmm": Workload(2000, 100, 8, 150, 350, deletions=False, flags=True),
    "s150-repeats": Workload(2000, 100, 8, 150, 350, preset="normalised", repeats=True),
}
"""The workloads by name. Each has 1.6 M pairs, with 84 G cells, or 128 G in s250."""


def make_workload(workload: Workload, seed: int | Sequence[int] = 1) -> PairBatch:
    """Make a batch of a workload's regions. The seed alone decides what is in it.

    The haplotypes of a region are copies of one random sequence, each with up to 3 substitutions, and every third with
    1 to 5 bases deleted. A read is a piece of one of them, with substitutions at the rate of its base qualities: Phred,
    the whole part of normal(34, 6) kept within 6 to 41. Insertion and deletion qualities are 40.
    """
    rng = np.random.default_rng(seed)
    letters, letter_counts = _haplotypes(rng, workload)
    haplotype_offset = offsets(letter_counts)

    count = workload.regions * workload.reads
    region = np.repeat(np.arange(workload.regions), workload.reads)
    source = region * workload.haplotypes + rng.integers(0, workload.haplotypes, count)
    shortest = max(10, workload.read_length - workload.spread) if workload.spread else workload.read_length
    lengths = np.minimum(rng.integers(shortest, workload.read_length + 1, count), letter_counts[source])
    starts = rng.integers(0, letter_counts[source] - lengths + 1)
    read_offset = offsets(lengths)
    bases = int(read_offset[-1])

    at = np.repeat(haplotype_offset[source] + starts - read_offset[:-1], lengths)
    at += np.arange(bases)
    quality = np.clip(34 + 6 * rng.standard_normal(bases, dtype=np.float32), 6, 41).astype(np.uint8)
    wrong = rng.random(bases, dtype=np.float32) < gatk.ERROR.astype(np.float32)[quality]
    read_bases = letters[at]
    read_bases[wrong] = (read_bases[wrong] + rng.integers(1, 4, np.count_nonzero(wrong), dtype=np.uint8)) % 4
    if workload.noise:
        noise = np.repeat(rng.random(count) < workload.noise, lengths)
        read_bases[noise] = rng.integers(0, 4, np.count_nonzero(noise), dtype=np.uint8)
    reads: dict[str, Any]
    if workload.preset:
        model = profile.preset(workload.preset)
        if workload.repeats:
            model = replace(model, by_copies=RATES_BY_COPIES)
        profiles = model.with_repeats(model.base_calls(read_bases, quality), read_offset)
        reads = {"start": model.start, "profiles": profiles}
    else:
        reads = {"start": gatk.START, "qualities": _with_gaps(rng, workload, read_bases, quality)}
    return PairBatch(
        group_read=np.arange(workload.regions + 1) * workload.reads,
        group_haplotype=np.arange(workload.regions + 1) * workload.haplotypes,
        read_offset=read_offset,
        haplotype_offset=haplotype_offset,
        haplotypes=letters,
        flags=_flags(rng, workload) if workload.flags else None,
        **reads,
    )


def _flags(rng: np.random.Generator, workload: Workload) -> NDArray[np.uint8]:
    """Flags of all haplotypes end to end. All haplotypes have one length."""
    flags = np.zeros((workload.regions, workload.haplotypes, workload.haplotype_length), dtype=np.uint8)
    region, haplotype = np.arange(workload.regions)[:, None], np.arange(workload.haplotypes)
    places = rng.integers(
        DELETION_MARGIN, workload.haplotype_length - DELETION_MARGIN, (workload.regions, UNDETERMINED_SNPS + 1)
    )
    for site in range(UNDETERMINED_SNPS):
        alleles = FIRST_ALLELE << rng.integers(0, 4, (workload.regions, 1), dtype=np.uint8)
        is_open = haplotype % (UNDETERMINED_SNPS + 1) != site
        flags[region, haplotype, places[:, site, None]] |= np.where(is_open, SNP | alleles, 0).astype(np.uint8)
    first, deleted = places[:, -1:], rng.integers(1, MOST_DELETED + 1, (workload.regions, 1))
    is_open = haplotype % (UNDETERMINED_SNPS + 1) != UNDETERMINED_SNPS
    flags[region, haplotype, first] |= np.where(is_open, np.uint8(DELETION_STARTS), np.uint8(0))
    flags[region, haplotype, first + deleted - 1] |= np.where(is_open, np.uint8(DELETION_ENDS), np.uint8(0))
    return flags.reshape(-1)


def _with_gaps(
    rng: np.random.Generator, workload: Workload, bases: NDArray[np.uint8], quality: NDArray[np.uint8]
) -> Qualities:
    """The reads of GATK's model, with the qualities of their gaps."""
    gap = np.full(len(bases), GAP_QUALITY, dtype=np.uint8)
    if workload.varying_gaps:
        gap = rng.integers(VARYING_GAP[0], VARYING_GAP[1] + 1, len(bases), dtype=np.uint8)
    indel = np.full(len(bases), INDEL_QUALITY, dtype=np.uint8)
    return Qualities(bases, quality, indel, indel, gap)


def _haplotypes(rng: np.random.Generator, workload: Workload) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Letters of all haplotypes end to end, and the length of each."""
    shape = (workload.regions, workload.haplotypes)
    length = workload.haplotype_length
    root = rng.integers(0, 4, (workload.regions, 1, length), dtype=np.uint8)
    codes = np.broadcast_to(root, (*shape, length)).copy()
    substitutions = rng.integers(0, MOST_SUBSTITUTIONS + 1, shape)
    for number in range(MOST_SUBSTITUTIONS):
        of = np.nonzero(substitutions > number)
        position = rng.integers(0, length, len(of[0]))
        codes[*of, position] = (codes[*of, position] + rng.integers(1, 4, len(position), dtype=np.uint8)) % 4
    kept = np.ones((*shape, length), dtype=bool)
    if workload.deletions:
        shortened = np.arange(workload.haplotypes) % 3 == 2
        first = rng.integers(DELETION_MARGIN, length - DELETION_MARGIN, shape)
        end = first + np.where(shortened, rng.integers(1, MOST_DELETED + 1, shape), 0)
        position = np.arange(length)
        kept = (position < first[..., None]) | (position >= end[..., None])
    return codes[kept], np.count_nonzero(kept, axis=2).reshape(-1)


def groups_of(batch: PairBatch) -> Iterator[Group]:
    """The groups of a batch of GATK reads, as views."""
    assert batch.qualities is not None
    columns = [getattr(batch.qualities, name) for name in Qualities.__dataclass_fields__]
    read, haplotype = batch.read_offset.tolist(), batch.haplotype_offset.tolist()
    for group in range(batch.groups):
        reads = range(*batch.group_read[group : group + 2].tolist())
        haplotypes = range(*batch.group_haplotype[group : group + 2].tolist())
        yield Group(
            [Read(*(column[read[r] : read[r + 1]] for column in columns)) for r in reads],
            [batch.haplotypes[haplotype[h] : haplotype[h + 1]] for h in haplotypes],
        )
