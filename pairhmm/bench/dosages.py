"""Reads allele dosages: how many copies of each normalised alternate allele a sample's genotypes have."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pysam

from pairhmm.errors import InputError
from pairhmm.files.htslib import UNREADABLE, quiet
from pairhmm.variants.records import open_variants

FETCHED_AT_ONCE = 200


class Allele(NamedTuple):
    """An alternate allele, trimmed and left-aligned; `start` is 0-based."""

    chrom: str
    start: int
    ref: str
    alt: str

    @property
    def is_snv(self) -> bool:
        """True where one base replaces one base."""
        return len(self.ref) == len(self.alt) == 1


def normalise(chrom: str, start: int, ref: str, alt: str, fetch: Callable[[int, int], str]) -> list[Allele]:
    """Trim and left-align one alternate allele. A substitution of several bases becomes several SNVs.

    Follows Tan, Abecasis and Kang (2015), "Unified representation of genetic variants", algorithm 1. `start` is the
    0-based position of `ref`; ``fetch(begin, end)`` returns the reference bases of a 0-based half-open interval of the
    contig.
    """
    if len(ref) == len(alt):
        pairs = enumerate(zip(ref, alt, strict=True))
        return [Allele(chrom, start + offset, old, new) for offset, (old, new) in pairs if old != new]
    while ref and alt and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
        if ref and alt:
            continue
        left = fetch(max(0, start - FETCHED_AT_ONCE), start)
        shift = 0
        moving = ref or alt
        while shift < len(left) and left[-1 - shift] == moving[-1]:
            moving = moving[-1] + moving[:-1]
            shift += 1
        # This base is the anchor. If all fetched bases were used up, the next round starts from it.
        start -= shift
        ref, alt = (moving, "") if ref else ("", moving)
        if start == 0:
            break
        anchor = fetch(start - 1, start)
        ref, alt, start = anchor + ref, anchor + alt, start - 1
    while len(ref) > 1 and len(alt) > 1 and ref[0] == alt[0]:
        ref, alt, start = ref[1:], alt[1:], start + 1
    return [Allele(chrom, start, ref, alt)]


def read_dosages(
    path: str | os.PathLike[str], reference: str | os.PathLike[str], sample: str | None = None
) -> Counter[Allele]:
    """Copies of every alternate allele in the genotypes of one sample (by default the first) of a VCF or BCF.

    Records whose FILTER is neither PASS nor missing are left out. InputError for a file that can't be read, has no
    samples or lacks `sample`.
    """
    copies: Counter[Allele] = Counter()
    try:
        # htslib would complain of a missing index, which is not needed to read the whole file.
        with quiet(), open_variants(os.fspath(path)) as records, pysam.FastaFile(os.fspath(reference)) as fasta:
            names = list(records.header.samples)
            if not names or (sample is not None and sample not in names):
                rule = f"has no sample {sample}" if sample else "has no genotypes"
                raise InputError(os.fspath(path), "", rule, "give a VCF with the genotypes of the sample")
            column = names.index(sample) if sample is not None else 0
            for record in records:
                if record.filter.keys() not in ([], ["PASS"]):
                    continue
                copies.update(_record_copies(record, column, fasta))
    except UNREADABLE as error:
        raise InputError(os.fspath(path), "", f"cannot be compared ({error})", "") from error
    return copies


def _record_copies(record: pysam.VariantRecord, column: int, fasta: pysam.FastaFile) -> Counter[Allele]:
    def fetch(begin: int, end: int) -> str:
        return fasta.fetch(record.chrom, begin, end).upper()

    copies: Counter[Allele] = Counter()
    ref, *alts = record.alleles or ("",)
    for number, count in Counter(record.samples[column].get("GT") or ()).items():
        if not number:
            continue
        alt = alts[number - 1].upper()
        # Symbolic alleles and the allele "*" of an overlapping deletion have no sequence of their own.
        if set(alt) <= set("ACGTN"):
            for allele in normalise(record.chrom, record.start, ref.upper(), alt, fetch):
                copies[allele] += count
    return copies
