"""Reads several samples at common sites: from VCF or BCF, and from likelihood tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.likelihoods.reader import LikelihoodTable, Locus, RegionHaplotypes, RegionLikelihoods
from pairhmm.likelihoods.table import TABLE_ENDINGS
from pairhmm.map.concordance import NO_GENOTYPE
from pairhmm.map.genotype_reader import GenotypeBlock, GenotypeFile
from pairhmm.map.sites import (
    BINS,
    MOST_SAMPLES,
    MOST_SITES,
    SampleSites,
    SiteChoice,
    SiteEvidence,
    binned_evidence,
    counted_evidence,
    evidence_codes,
    most_sites,
    site_key,
)

# Numbers of reads that are held before equal ones are counted.
_HELD = 1 << 20
# Above the number of sites of a table.
_MOST_KEYS = 1 << 24
_DROPPED = -1
_LARGEST = 1e9


class TableSites:
    """A table's reads at the wanted sites. Raises InputError where the table or its companion is missing.

    A read's likelihood of an allele is that of the best haplotype with the allele. Mates over a site count once: the
    clearer one where they agree, and both, which cancel each other, where they do not.
    """

    def __init__(self, path: str, choice: SiteChoice) -> None:
        self.path, self._choice = path, choice
        self._table = LikelihoodTable(path)
        self.samples: tuple[str, ...] = ()
        self._reads = _CountedReads()

    def read(self) -> None:
        """Read the companion, which says what sites there are, and then the reads."""
        regions: dict[Locus, RegionHaplotypes] = {}
        keys: dict[Locus, list[tuple[int, str]]] = {}
        cuts = 0
        for region in self._table.haplotypes():
            usable = [(index, key) for index, key in _sites(region) if self._choice.takes(key)]
            if usable:
                # Their bases are not needed, and are most of the memory.
                regions[region.locus] = replace(region, sequences=[""] * len(region.sequences))
                keys[region.locus] = usable
            if self._choice.cuts != cuts:
                cuts = self._choice.cuts
                keys = {place: kept for place, listed in keys.items() if (kept := self._kept(listed))}
                regions = {place: regions[place] for place in keys}
        numbers: dict[str, int] = {}
        sites: dict[str, int] = {}
        for reads in self._table.regions(regions.get):
            listed = keys[reads.chrom, reads.start, reads.end]
            sample = np.array([numbers.setdefault(name, len(numbers)) for name in reads.samples], dtype=np.int64)
            fragment = _fragments(sample, reads.names)
            for index, key in self._kept(listed):
                ratio = _ratios(reads, self.path, index)
                if ratio is not None and key not in sites:
                    sites[key] = len(sites)
                    self._reads.add(sites[key], *_joined(sample, fragment, ratio))
        self._sites, self.samples = sites, tuple(numbers)

    def _kept(self, sites: list[tuple[int, str]]) -> list[tuple[int, str]]:
        return [(index, key) for index, key in sites if self._choice.is_kept(key)]

    def sites(self, numbers: dict[str, int]) -> SampleSites:
        """The samples' data at the chosen sites, from the table."""
        place = np.array([numbers.get(key, _DROPPED) for key in self._sites], dtype=np.int64)
        evidence = self._reads.evidence(self.samples, place, len(numbers))
        shape = len(self.samples), len(numbers)
        reads = np.array([evidence.count[begin:end].sum() for begin, end in pairwise(evidence.begin.tolist())])
        return SampleSites(
            self.samples,
            evidence,
            np.zeros((*shape, 3), dtype=np.uint8),
            np.full(shape, NO_GENOTYPE, dtype=np.int8),
            reads / max(1, np.count_nonzero(place != _DROPPED)),
        )


class _CountedReads:
    """Reads by sample, site and ratio; equal ones are counted."""

    def __init__(self) -> None:
        self._codes, self._counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._new: list[NDArray[np.int64]] = []
        self._held = 0

    def add(self, site: int, sample: NDArray[np.int64], log10_ratio: NDArray[np.float64]) -> None:
        self._new.append(evidence_codes(sample, site, _MOST_KEYS, log10_ratio))
        self._held += len(self._new[-1])
        if self._held > _HELD:
            self._count()

    def _count(self) -> None:
        ones = np.ones(self._held, dtype=np.int64)
        self._codes, self._counts = _summed(
            np.concatenate([self._codes, *self._new]), np.concatenate([self._counts, ones])
        )
        self._new, self._held = [], 0

    def evidence(self, samples: tuple[str, ...], place: NDArray[np.int64], sites: int) -> SiteEvidence:
        """The reads of the chosen sites. `place` is the number of each site that was added, or `_DROPPED`."""
        self._count()
        cell, ratio = np.divmod(self._codes, BINS)
        sample, site = np.divmod(cell, _MOST_KEYS)
        at = place[site]
        kept = at != _DROPPED
        codes = (sample[kept] * sites + at[kept]) * BINS + ratio[kept]
        return binned_evidence(samples, sites, *_summed(codes, self._counts[kept]))


def _summed(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct codes in order, with the sum of the counts of each."""
    order = np.argsort(codes, kind="stable")
    codes, counts = codes[order], counts[order]
    first = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])) if len(codes) else np.empty(0, dtype=np.intp)
    return codes[first], np.add.reduceat(counts, first) if len(codes) else counts


def _sites(region: RegionHaplotypes) -> list[tuple[int, str]]:
    """The usable sites among a region's variants, with their places there."""
    chrom = region.locus[0]
    keyed = (
        (index, site_key(chrom, pos + 1, ref.upper(), alts[0].upper()))
        for index, (pos, ref, alts) in enumerate(region.variants)
        if len(alts) == 1
    )
    return [(index, key) for index, key in keyed if key]


def _ratios(reads: RegionLikelihoods, path: str, variant: int) -> NDArray[np.float64] | None:
    """log10 P(read | alternative) - log10 P(read | reference), float64 (reads,); None where one is not scored."""
    try:
        alleles = np.array([int(text.split(",")[variant]) for text in reads.alleles])
    except (IndexError, ValueError):
        place = f"{reads.chrom}:{reads.start + 1}-{reads.end}"
        raise InputError(path, place, "alleles and variants do not fit each other", "make the table again") from None
    scores = [reads.log10[:, alleles == allele] for allele in (0, 1)]
    if not all(score.shape[1] for score in scores):
        return None
    reference, alternative = (np.nan_to_num(score, nan=-_LARGEST, neginf=-_LARGEST).max(axis=1) for score in scores)
    ratios: NDArray[np.float64] = alternative - reference
    return ratios


def _fragments(sample: NDArray[np.int64], names: list[str]) -> NDArray[np.int64]:
    """A number for each fragment: reads of a sample with one name are mates."""
    numbers: dict[tuple[int, str], int] = {}
    pairs = zip(sample.tolist(), names, strict=True)
    return np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs], dtype=np.int64)


def _joined(
    sample: NDArray[np.int64], fragment: NDArray[np.int64], ratio: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sample and ratio of each fragment."""
    most, least = np.zeros((2, fragment.max(initial=-1) + 1))
    np.maximum.at(most, fragment, ratio)
    np.minimum.at(least, fragment, ratio)
    of_fragment = np.empty(len(most), dtype=np.int64)
    of_fragment[fragment] = sample
    return of_fragment, most + least


_ROUND_OF_CALLS = "call all samples at the same sites: together, or with pairhmm call -v"
# Sites with genotypes, from which on a file without homozygous reference genotypes is one of variants only.
_ENOUGH = 50


class _Input(Protocol):
    path: str
    samples: tuple[str, ...]

    def read(self) -> None:
        """Read the file."""

    def sites(self, numbers: dict[str, int]) -> SampleSites:
        """The samples' data at the chosen sites, from the file."""


def read_sample_sites(paths: Sequence[str]) -> tuple[SampleSites, list[str]]:
    """Read the samples of all files, and the keys of their sites (`pairhmm.map.sites.site_key`).

    Sites are biallelic SNVs of autosomes that pass their filters. Of more than `most_sites`, those are taken that come
    first in an order that is random, and the same in every run. ``.tsv``, ``.tsv.gz`` and ``.parquet`` are tables of
    likelihoods, with their companions; others VCF or BCF.

    Raises InputError for a file that can't be used, a sample in two files, one sample only, and no site in common.
    """
    choice = SiteChoice(MOST_SITES)
    inputs: list[_Input] = [
        TableSites(path, choice) if path.endswith(TABLE_ENDINGS) else _CalledSites(path, choice) for path in paths
    ]
    choice.limit(most_sites(sum(len(source.samples) for source in inputs)))
    for source in inputs:
        source.read()
    samples = sum(len(source.samples) for source in inputs)
    _check_samples(inputs)
    choice.limit(most_sites(samples))
    numbers = choice.chosen()
    if not numbers:
        rule = "no biallelic SNV on an autosome passes its filters"
        raise InputError(paths[0], "", rule, "samples are compared at such sites: give files that have some")
    parts = [source.sites(numbers) for source in inputs]
    _check_data(inputs, parts)
    return SampleSites.concatenate(parts), list(numbers)


def _check_samples(inputs: Sequence[_Input]) -> None:
    where: dict[str, str] = {}
    for source in inputs:
        for name in source.samples:
            if name in where:
                raise InputError(source.path, f"sample {name}", f"is in {where[name]} too", "give each sample once")
            where[name] = source.path
    if len(where) < 2:
        rule = f"the only sample is {next(iter(where))}" if where else "there is no sample"
        raise InputError(inputs[0].path, "", rule, "relate compares samples: give two or more")
    if len(where) > MOST_SAMPLES:
        rule = f"{len(where):,} samples, and relate compares up to {MOST_SAMPLES:,}"
        raise InputError(inputs[0].path, "", rule, "give fewer, or use KING or PLINK")


def _check_data(inputs: Sequence[_Input], parts: Sequence[SampleSites]) -> None:
    seen = np.zeros(parts[0].evidence.sites, dtype=np.int64)
    for source, part in zip(inputs, parts, strict=True):
        known = np.asarray(part.phred.any(axis=2))
        for is_known, begin, end in zip(known, part.evidence.begin[:-1], part.evidence.begin[1:], strict=True):
            is_known[part.evidence.site[begin:end]] = True
        if not known.any():
            rule = "has no genotype at a biallelic SNV: its records lack AD, PL, GL and GT, or have no values"
            raise InputError(source.path, "", rule, "give files with genotypes or counts of reads")
        seen += known.sum(axis=0)
    if not (seen > 1).any():
        raise InputError(inputs[0].path, "", "no two samples have a site in common", _ROUND_OF_CALLS)
    if len(inputs) > 1:
        for source, part in zip(inputs, parts, strict=True):
            _check_references(source.path, part)


def _check_references(path: str, part: SampleSites) -> None:
    """Refuse a file of variants only: where it has no record, nobody knows the genotype, and all others agree."""
    evidence, likeliest = part.evidence, part.phred.argmin(axis=2)
    has_reference = (likeliest == 0) & part.phred.any(axis=2)
    sites = int(part.phred.any(axis=2).sum()) + len(evidence.site)
    # A cell with reads of the reference only has one row.
    cell = (
        evidence.site.astype(np.int64)
        + np.repeat(np.arange(len(part.samples)), np.diff(evidence.begin)) * evidence.sites
    )
    alternative = np.zeros(len(part.samples) * evidence.sites, dtype=bool)
    alternative[cell[evidence.log10_ratio > 0]] = True
    references = int(has_reference.sum()) + int((~alternative[cell]).sum())
    if sites >= _ENOUGH and references * 100 < sites:
        raise InputError(path, "", "lists variants only, so no sample is known to lack one", _ROUND_OF_CALLS)


class _CalledSites:
    """The wanted records of a VCF or BCF."""

    def __init__(self, path: str, choice: SiteChoice) -> None:
        self.path, self._choice = path, choice
        self._file = GenotypeFile(path, choice.takes)
        self.samples = self._file.samples
        self._blocks: list[GenotypeBlock] = []
        self._cuts = 0

    def read(self) -> None:
        for block in self._file:
            self._blocks.append(block)
            if self._choice.cuts != self._cuts:
                self._drop()
        self._drop()

    def _drop(self) -> None:
        """Drop records of sites that are no longer chosen."""
        self._cuts = self._choice.cuts
        kept = [[row for row, key in enumerate(block.keys) if self._choice.is_kept(key)] for block in self._blocks]
        self._blocks = [block.take(rows) for block, rows in zip(self._blocks, kept, strict=True) if rows]

    def sites(self, numbers: dict[str, int]) -> SampleSites:
        shape = len(self.samples), len(numbers)
        counts, phred = np.zeros((*shape, 2), dtype=np.uint16), np.zeros((*shape, 3), dtype=np.uint8)
        called = np.full(shape, NO_GENOTYPE, dtype=np.int8)
        reads, seen = np.zeros((2, len(self.samples)))
        done: set[str] = set()
        while self._blocks:
            block = self._blocks.pop(0)
            block = block.take(_new_rows(block.keys, numbers, done))
            at = [numbers[key] for key in block.keys]
            counts[:, at], phred[:, at] = block.counts.swapaxes(0, 1), block.phred.swapaxes(0, 1)
            called[:, at] = block.called.T
            reads += np.maximum(block.depth, 0).sum(axis=0)
            seen += (block.depth >= 0).sum(axis=0)
        depth = np.full(len(self.samples), np.nan)
        np.divide(reads, seen, out=depth, where=seen > 0)
        return SampleSites(self.samples, counted_evidence(self.samples, counts), phred, called, depth)


def _new_rows(keys: Sequence[str], numbers: dict[str, int], done: set[str]) -> list[int]:
    """Records of chosen sites that are not done; then they are. Of several records of a site, the first counts."""
    rows = []
    for row, key in enumerate(keys):
        if key in numbers and key not in done:
            rows.append(row)
            done.add(key)
    return rows
