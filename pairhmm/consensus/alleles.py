"""The alleles that a sample's calls have, each with its fraction. All coordinates are 0-based half-open."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pairhmm.calling.circles import UnrolledReference
from pairhmm.errors import InputError
from pairhmm.plurals import counted
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.letters import SET_OF_LETTER
from pairhmm.variants.call_reader import CalledSites
from pairhmm.variants.sites import ReportedSite, SampleCall
from pairhmm.variants.variant import trim_allele

log = logging.getLogger(__name__)

_BASES = frozenset("ACGTN")
_MAJORITY = 0.5


@dataclass(frozen=True, slots=True)
class Indel:
    """An insertion or deletion: `bases` take the place of [start, end) of the reference.

    Over the origin of a circular contig, `end` is behind the last base.
    """

    start: int
    end: int
    bases: str
    fraction: float

    def positions(self, length: int) -> NDArray[np.int64]:
        """The positions whose bases it replaces, on a contig of so many bases."""
        return np.arange(self.start, self.end) % length

    @property
    def keeps_frame(self) -> bool:
        """Whether it adds or removes whole codons."""
        return (len(self.bases) - (self.end - self.start)) % 3 == 0

    def overlaps(self, other: Indel) -> bool:
        """Whether they change the same bases, or insert at the same place."""
        if self.start == self.end and other.start == other.end:
            return self.start == other.start
        return self.start < other.end and other.start < self.end


@dataclass(slots=True)
class ContigAlleles:
    """The alleles on a contig of so many bases.

    `bases` has the fraction of each base other than the reference's, by position.
    """

    length: int
    bases: dict[int, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    indels: list[Indel] = field(default_factory=list)

    def add(self, position: int, ref: str, alt: str, fraction: float) -> None:
        """Add an allele of a record. An MNV is as many bases."""
        if len(ref) == len(alt):
            for at, (old, new) in enumerate(zip(ref, alt, strict=True), start=position):
                if old != new:
                    self.bases[at % self.length][new] += fraction
            return
        offset, old, new = trim_allele(ref, alt)
        start = position + offset
        self.indels.append(Indel(start, start + len(old), new, fraction))


def read_alleles(
    path: str, sample: str | None, reference: Reference, unrolled: UnrolledReference
) -> tuple[str, Mapping[str, ContigAlleles]]:
    """The sample, and the alleles of its calls by contig. Alleles of records that fail a filter are left out.

    Raises InputError for a sample that the file lacks, and for calls on another reference.
    """
    alleles: dict[str, ContigAlleles] = {}
    failed: list[str] = []
    with CalledSites(path) as sites:
        name = _chosen_sample(path, sites.samples, sample)
        number = sites.samples.index(name)
        for site in sites:
            if site.chrom not in alleles:
                reference.check_contigs(path, {site.chrom: sites.contigs.get(site.chrom)})
                alleles[site.chrom] = ContigAlleles(reference.contigs[site.chrom])
            _check_bases(path, site, unrolled)
            fractions = fractions_of(site.calls[number], len(site.alts))
            if not site.passes:
                failed += [f"{site.chrom}:{site.pos + 1} ({site.filters})"] * (sum(fractions) > _MAJORITY)
                continue
            for alt, fraction in zip(site.alts, fractions, strict=True):
                if fraction > 0 and _BASES.issuperset(alt.upper()):
                    alleles[site.chrom].add(site.pos, site.ref.upper(), alt.upper(), fraction)
    if failed:
        rule = "most molecules have alleles that fail a filter, and the reference takes their place"
        log.warning("%s: %s where %s: %s the first", path, counted(len(failed), "record"), rule, failed[0])
    return name, alleles


def _chosen_sample(path: str, samples: Sequence[str], sample: str | None) -> str:
    if sample is None and len(samples) == 1:
        return samples[0]
    if not samples:
        raise InputError(path, "", "has no sample", "give calls with genotypes")
    if sample is None:
        raise InputError(path, "", f"has {len(samples)} samples", "choose one with --sample")
    if sample not in samples:
        raise InputError(path, "", f"has no sample {sample}", f"it has {', '.join(samples)}")
    return sample


def _check_bases(path: str, site: ReportedSite, reference: UnrolledReference) -> None:
    """Require that a record's REF are the reference's bases."""
    end = site.pos + len(site.ref)
    own = "" if site.pos >= reference.lengths[site.chrom] else reference.fetch(site.chrom, site.pos, end)
    same = len(own) == len(site.ref) and (_sets(own) & _sets(site.ref)).all()
    if not same:
        rule = f"REF is {site.ref}, but {reference.path} has {own or 'no base'} there"
        cure = "give the reference of the calls with -f"
        if own and len(own) < len(site.ref):
            cure += f", and --circular {site.chrom} if that is a circle"
        raise InputError(path, f"{site.chrom}:{site.pos + 1}", rule, cure)


def _sets(letters: str) -> np.ndarray:
    return SET_OF_LETTER[np.frombuffer(letters.encode("ascii", "replace"), dtype=np.uint8)]


def fractions_of(call: SampleCall, alts: int) -> list[float]:
    """The fraction of each alternative allele: AF, else of the reads in AD, else of the copies in GT.

    Alleles that GT lacks have none.
    """
    carried = [allele for allele in call.alleles if allele is not None]
    if len(call.fractions) == alts:
        fractions = list(call.fractions)
    elif len(call.depths) == alts + 1 and any(call.depths):
        fractions = [depth / sum(call.depths) for depth in call.depths[1:]]
    else:
        fractions = [carried.count(allele) / len(carried) if carried else 0.0 for allele in range(1, alts + 1)]
    return [fraction if allele in carried else 0.0 for allele, fraction in enumerate(fractions, start=1)]
