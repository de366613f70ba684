"""Sites that a report shows. Positions are 0-based."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pairhmm.variants.variant import trim_allele

NO_QUALITY = 1 << 20
"""The lowest GQ of a site without any GQ. It is larger than every GQ."""

_PASSED = (".", "PASS")
"""FILTER of records that failed no filter."""

_ANY_OTHER = frozenset({"<NON_REF>", "<*>"})
"""ALT of a gVCF that stands for every allele that is not named."""

RegionVariant = tuple[int, str, tuple[str, ...]]
"""0-based position, REF and ALTs."""


@dataclass(frozen=True, slots=True)
class SampleCall:
    """The fields of one sample in one record of a VCF.

    Attributes
    ----------
    alleles : tuple of (int or None)
        Allele indices as in GT; empty without GT.
    phased : bool
        Whether GT has ``|``.
    depths : tuple of int
        AD; empty without AD.
    depth, quality : int or None
        DP and GQ.
    likelihoods : tuple of int
        PL; empty without PL.
    phase_set : str
        PS; empty without PS.
    fractions : tuple of float
        AF: the fraction of each alternative allele; empty without AF.
    intervals : tuple of float
        CIAF: the interval of each fraction, low and high; empty without CIAF.
    is_absent : bool
        Whether the sample has no copy of the chromosome (ploidy 0): GT and DP are ``.``, or GT and PL (bcftools).
    """

    alleles: tuple[int | None, ...] = ()
    phased: bool = False
    depths: tuple[int, ...] = ()
    depth: int | None = None
    quality: int | None = None
    likelihoods: tuple[int, ...] = ()
    phase_set: str = ""
    fractions: tuple[float, ...] = ()
    intervals: tuple[float, ...] = ()
    is_absent: bool = False

    @property
    def genotype(self) -> str:
        """GT as VCF writes it."""
        if not self.alleles:
            return "."
        return ("|" if self.phased else "/").join("." if allele is None else str(allele) for allele in self.alleles)

    @property
    def is_called(self) -> bool:
        """Whether every allele is known."""
        return bool(self.alleles) and None not in self.alleles

    @property
    def is_missing(self) -> bool:
        """Whether an allele is not known of a sample that has the chromosome."""
        return not self.is_called and not self.is_absent


@dataclass(frozen=True, slots=True)
class ReportedSite:
    """A record of a VCF; without a VCF, a variant of a likelihood table.

    Attributes
    ----------
    quality : float or None
        QUAL.
    filters : str
        FILTER; ``.`` without one.
    calls : tuple of SampleCall
        In the order of the VCF's samples; empty without a VCF.
    info : tuple of str
        The chosen fields of INFO, as text; ``.`` for a missing one.
    """

    chrom: str
    pos: int
    ref: str
    alts: tuple[str, ...]
    id: str = ""
    quality: float | None = None
    filters: str = "."
    calls: tuple[SampleCall, ...] = ()
    info: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """True for a record that failed no filter."""
        return self.filters in _PASSED

    @property
    def is_reference_block(self) -> bool:
        """True for a reference block of a gVCF."""
        return bool(self.alts) and _ANY_OTHER.issuperset(self.alts)

    @property
    def least_quality(self) -> int:
        """The lowest GQ of its samples; `NO_QUALITY` without one."""
        return min((call.quality for call in self.calls if call.quality is not None), default=NO_QUALITY)

    @property
    def kind(self) -> str:
        """SNV, MNV, insertion, deletion or mixed; other where every allele is symbolic."""
        kinds = {_kind(self.ref, alt) for alt in self.alts if _is_spelled(alt)}
        return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "other"


def _kind(ref: str, alt: str) -> str:
    if len(ref) == len(alt):
        return "SNV" if len(ref) == 1 else "MNV"
    return "insertion" if len(alt) > len(ref) else "deletion"


class SiteSelection:
    """Selects the sites that a report shows: those with the lowest GQ of a sample, the first ones among equals.

    `limit`: the most sites.
    """

    RULE = "those with the lowest GQ"

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[tuple[int, int, ReportedSite]] = []
        self.seen = 0

    def add(self, site: ReportedSite) -> None:
        """Consider a site."""
        # The heap's first entry is dropped first: the highest GQ, and the last one among equals.
        entry = (-site.least_quality, -self.seen, site)
        self.seen += 1
        if len(self._kept) < self._limit:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heappushpop(self._kept, entry)

    def sites(self) -> list[ReportedSite]:
        """The selected sites, in the order in which they were added."""
        return [site for _, _, site in sorted(self._kept, key=lambda entry: -entry[1])]


def site_alleles(site: ReportedSite, variants: Sequence[RegionVariant], haplotypes: Sequence[str]) -> list[int] | None:
    """The allele of a site that each haplotype of a region carries.

    `haplotypes` have comma-separated alleles, one for each variant of the region. Raises ValueError or IndexError for
    alleles that the variants do not have.

    Returns
    -------
    list of int or None
        -1 for an allele that the site does not have: `call` leaves out those that no sample has. None where no variant
        of the region is this site.
    """
    own = {trim_allele(site.ref, alt): number for number, alt in enumerate(site.alts, start=1) if _is_spelled(alt)}
    best: tuple[int, list[int]] | None = None
    for index, (pos, ref, alts) in enumerate(variants):
        if pos != site.pos:
            continue
        names = [0, *(own.get(trim_allele(ref, alt), -1) for alt in alts)]
        known = sum(name > 0 for name in names)
        if known and (best is None or known > best[0]):
            best = known, [names[int(alleles.split(",")[index])] for alleles in haplotypes]
    return None if best is None else best[1]


def _is_spelled(alt: str) -> bool:
    return bool(alt) and set(alt.upper()) <= set("ACGTN")


def parse_variants(text: str) -> list[RegionVariant]:
    """Parse the column `variants` of a haplotype table: ``pos:ref>alt/alt``, comma-separated, with 1-based positions.

    Raises ValueError for other text.
    """
    if text in ("", "."):
        return []
    variants: list[RegionVariant] = []
    for one in text.split(","):
        pos, alleles = one.split(":", 1)
        ref, alts = alleles.split(">", 1)
        variants.append((int(pos) - 1, ref, tuple(alts.split("/"))))
    return variants


def sites_of(regions: Iterable[tuple[str, int, list[RegionVariant]]], limit: int) -> tuple[list[ReportedSite], bool]:
    """The sites of likelihood tables without a VCF: the variants of each region, or the region itself if it has none.

    `regions` have contig, start and variants. Returns the first sites, at most `limit`, and whether there are more.
    """
    sites: dict[tuple[str, int, str, tuple[str, ...]], ReportedSite] = {}
    for chrom, start, variants in regions:
        for pos, ref, alts in variants or [(start, "", ())]:
            key = chrom, pos, ref, alts
            if key not in sites and len(sites) == limit:
                return list(sites.values()), True
            sites.setdefault(key, ReportedSite(chrom, pos, ref, alts))
    return list(sites.values()), False
