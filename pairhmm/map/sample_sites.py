"""Reads several samples at common sites: from VCF or BCF, and from tables of likelihoods, one file or many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pairhmm.errors import InputError
from pairhmm.likelihoods.table import TABLE_ENDINGS
from pairhmm.map.cohort import MOST_SAMPLES, MOST_SITES, SampleSites, SiteChoice, counted_evidence, most_sites
from pairhmm.map.concordance import NO_GENOTYPE
from pairhmm.map.genotype_blocks import GenotypeBlock, GenotypeFile
from pairhmm.map.likelihood_sites import TableSites

_ROUND_OF_CALLS = "call all samples at the same sites: together, or with pairhmm call -v"
# Sites with genotypes, from which on a file without homozygous reference genotypes is one of variants only.
_ENOUGH = 50


class _Input(Protocol):
    path: str
    samples: tuple[str, ...]

    def read(self) -> None:
        """Read the file."""

    def sites(self, numbers: dict[str, int]) -> SampleSites:
        """What the file says of the chosen sites."""


def read_sample_sites(paths: Sequence[str]) -> tuple[SampleSites, list[str]]:
    """Read the samples of all files.

    Sites are biallelic SNVs of autosomes that pass their filters. Of more than `most_sites`, those are taken that come
    first in an order that is random, and the same in every run.

    Parameters
    ----------
    paths : sequence of str
        ``.tsv``, ``.tsv.gz`` and ``.parquet`` are tables of likelihoods, with their companions; others VCF or BCF.

    Returns
    -------
    sites : SampleSites
    keys : list of str
        `pairhmm.map.cohort.site_key` of each site.

    Raises
    ------
    InputError
        For a file that can't be used, a sample in two files, one sample only, and no site in common.
    """
    choice = SiteChoice(MOST_SITES)
    inputs: list[_Input] = [
        TableSites(path, choice) if path.endswith(TABLE_ENDINGS) else _CalledSites(path, choice) for path in paths
    ]
    choice.limit(most_sites(sum(len(one.samples) for one in inputs)))
    for one in inputs:
        one.read()
    samples = sum(len(one.samples) for one in inputs)
    _check_samples(inputs)
    choice.limit(most_sites(samples))
    numbers = choice.chosen()
    if not numbers:
        rule = "no biallelic SNV on an autosome passes its filters"
        raise InputError(paths[0], "", rule, "samples are compared at such sites: give files that have some")
    parts = [one.sites(numbers) for one in inputs]
    _check_data(inputs, parts)
    return SampleSites.concatenate(parts), list(numbers)


def _check_samples(inputs: Sequence[_Input]) -> None:
    where: dict[str, str] = {}
    for one in inputs:
        for name in one.samples:
            if name in where:
                raise InputError(one.path, f"sample {name}", f"is in {where[name]} too", "give each sample once")
            where[name] = one.path
    if len(where) < 2:
        rule = f"the only sample is {next(iter(where))}" if where else "there is no sample"
        raise InputError(inputs[0].path, "", rule, "relate compares samples: give two or more")
    if len(where) > MOST_SAMPLES:
        rule = f"{len(where):,} samples, and relate compares up to {MOST_SAMPLES:,}"
        raise InputError(inputs[0].path, "", rule, "give fewer, or use KING or PLINK")


def _check_data(inputs: Sequence[_Input], parts: Sequence[SampleSites]) -> None:
    seen = np.zeros(parts[0].evidence.sites, dtype=np.int64)
    for one, part in zip(inputs, parts, strict=True):
        known = np.asarray(part.phred.any(axis=2))
        for own, begin, end in zip(known, part.evidence.begin[:-1], part.evidence.begin[1:], strict=True):
            own[part.evidence.site[begin:end]] = True
        if not known.any():
            rule = "has no genotype at a biallelic SNV: its records lack AD, PL, GL and GT, or have no values"
            raise InputError(one.path, "", rule, "give files with genotypes or counts of reads")
        seen += known.sum(axis=0)
    if not (seen > 1).any():
        raise InputError(inputs[0].path, "", "no two samples have a site in common", _ROUND_OF_CALLS)
    if len(inputs) > 1:
        for one, part in zip(inputs, parts, strict=True):
            _check_references(one.path, part)


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
        kept = [[row for row, key in enumerate(one.keys) if self._choice.is_kept(key)] for one in self._blocks]
        self._blocks = [one.take(rows) for one, rows in zip(self._blocks, kept, strict=True) if rows]

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
