"""What a table of likelihoods says of the alleles at biallelic SNVs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.likelihoods.reader import LikelihoodTable, Locus, RegionHaplotypes, RegionLikelihoods
from pairhmm.map.cohort import BINS, SampleSites, SiteChoice, binned_evidence, evidence_codes, site_key
from pairhmm.map.concordance import NO_GENOTYPE
from pairhmm.map.evidence import SiteEvidence

# Numbers of reads that are held before equal ones are counted.
_HELD = 1 << 20
# Above the number of sites of a table.
_MOST_KEYS = 1 << 24
_DROPPED = -1
_LARGEST = 1e9


class TableSites:
    """The reads of a table at the wanted sites.

    A read's likelihood of an allele is that of the best haplotype with the allele. Mates over a site count once: the
    clearer one where they agree, and both, which cancel each other, where they do not.

    Parameters
    ----------
    path : str
    choice : SiteChoice

    Raises
    ------
    InputError
        Where the table or its companion is missing.
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
            found = [(index, key) for index, key in _sites(region) if self._choice.takes(key)]
            if found:
                # Their bases are not needed, and are most of the memory.
                regions[region.locus] = replace(region, sequences=[""] * len(region.sequences))
                keys[region.locus] = found
            if self._choice.cuts != cuts:
                cuts = self._choice.cuts
                keys = {place: kept for place, own in keys.items() if (kept := self._kept(own))}
                regions = {place: regions[place] for place in keys}
        numbers: dict[str, int] = {}
        sites: dict[str, int] = {}
        for reads in self._table.regions(regions.get):
            own = keys[reads.chrom, reads.start, reads.end]
            sample = np.array([numbers.setdefault(name, len(numbers)) for name in reads.samples], dtype=np.int64)
            fragment = _fragments(sample, reads.names)
            for index, key in self._kept(own):
                ratio = _ratios(reads, self.path, index)
                if ratio is not None and key not in sites:
                    sites[key] = len(sites)
                    self._reads.add(sites[key], *_joined(sample, fragment, ratio))
        self._sites, self.samples = sites, tuple(numbers)

    def _kept(self, found: list[tuple[int, str]]) -> list[tuple[int, str]]:
        return [(index, key) for index, key in found if self._choice.is_kept(key)]

    def sites(self, numbers: dict[str, int]) -> SampleSites:
        """What the table says of the chosen sites."""
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
    found = (
        (index, site_key(chrom, pos + 1, ref.upper(), alts[0].upper()))
        for index, (pos, ref, alts) in enumerate(region.variants)
        if len(alts) == 1
    )
    return [(index, key) for index, key in found if key]


def _ratios(reads: RegionLikelihoods, path: str, variant: int) -> NDArray[np.float64] | None:
    """log10 P(read | alternative) - log10 P(read | reference), float64 (reads,); None where one is not scored."""
    try:
        alleles = np.array([int(text.split(",")[variant]) for text in reads.alleles])
    except (IndexError, ValueError):
        place = f"{reads.chrom}:{reads.start + 1}-{reads.end}"
        raise InputError(path, place, "alleles and variants do not fit each other", "make the table again") from None
    scores = [reads.log10[:, alleles == allele] for allele in (0, 1)]
    if not all(one.shape[1] for one in scores):
        return None
    reference, alternative = (np.nan_to_num(one, nan=-_LARGEST, neginf=-_LARGEST).max(axis=1) for one in scores)
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
