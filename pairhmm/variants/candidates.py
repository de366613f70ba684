"""Reads candidate variants from VCF or BCF."""

from __future__ import annotations

import gzip
import logging
import re
import shlex
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from Bio.Data.IUPACData import ambiguous_dna_letters

from pairhmm.errors import InputError
from pairhmm.files.names import check_names
from pairhmm.plurals import counted
from pairhmm.sequences.intervals import same_contig
from pairhmm.variants.records import listed_records
from pairhmm.variants.variant import FetchBases, Variant

log = logging.getLogger(__name__)

# Where the names of contigs begin in an index of text. Their size stands before them (tabix and CSI specifications).
_COUNT, _MOST_NAMES = 4, 1 << 26
_NAMES_AT = {".tbi": 9 * _COUNT, ".csi": 11 * _COUNT}
_BASES = frozenset("ACGTN")
# Letters of REF. The reference may hold IUPAC codes, and callers copy them.
_REFERENCE_LETTERS = frozenset(ambiguous_dna_letters)
# Alleles that are no bases (VCF 4.3, section 1.6.1): symbolic alleles, `*` and breakends. Files in the field also have
# IUPAC codes.
_OTHER_ALLELE = re.compile(r"<.*>|\*|\.|.*[\[\]].*|\.[A-Z]+|[A-Z]+\.|[" + ambiguous_dna_letters + "]+")


def indexed_contigs(path: str) -> list[str]:
    """The contigs that have records, from a bgzipped file's index. None without an index that can be read."""
    if not path.endswith(".gz"):
        return []
    for ending, names_at in _NAMES_AT.items():
        try:
            # htslib does not check the numbers of an index: a damaged one could end the process.
            with gzip.open(f"{path}{ending}") as index:
                size = int.from_bytes(index.read(names_at)[-_COUNT:], "little")
                return [name.decode() for name in index.read(min(size, _MOST_NAMES)).split(b"\0") if name]
        except (OSError, EOFError, ValueError, zlib.error):
            continue
    return []


@dataclass(slots=True)
class CandidateReader:
    """Iterates over the variants of a VCF or BCF file, which its first bytes tell apart.

    The file needs no index and no contig lines. Its contigs may come in any order, each with its records together.

    Parameters
    ----------
    contigs : mapping of str to int
        The reference's contigs in the order that the variants are given in.
    fetch : callable
        ``fetch(chrom, start, end)`` gives reference bases: each record's REF must agree with them.
    skip_unknown : bool
        Skip records on other contigs, because nothing there is asked for.

    Attributes
    ----------
    skipped_alleles : int
        Symbolic, `*`, breakend and ambiguous alleles skipped so far.
    skipped_records : int
        Records skipped because they had no other alleles.
    skipped_telomeres : int
        Records before the first base or behind the last one.
    """

    path: str
    contigs: dict[str, int]
    fetch: FetchBases
    skip_unknown: bool = False
    skipped_alleles: int = field(default=0, init=False)
    skipped_records: int = field(default=0, init=False)
    skipped_telomeres: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Variant]:
        """Yield the variants.

        Raises InputError for an unknown contig, a REF or ALT that is no allele, a REF that differs from the reference,
        and records that are unsorted or unreadable. The message names the record.
        """
        rank = {name: number for number, name in enumerate(self.contigs)}
        last = (-1, -1)
        for index, (chrom, pos, name, ref, alts) in listed_records(self.path, rank):
            place = f"{chrom}:{pos + 1}"
            if name:
                check_names(self.path, f"{place}: ID", [name], "rename or remove it")
            if chrom not in rank:
                if self.skip_unknown:
                    continue
                other = same_contig(chrom, rank)
                cure = f"the reference names it {other!r}" if other else "give variants of this reference"
                raise InputError(self.path, place, "contig is not in the reference", cure)
            if self._is_telomere(chrom, pos, alts):
                self.skipped_telomeres += 1
                continue
            self._check_alleles(place, ref, alts)
            self._check_reference(place, chrom, pos, ref)
            if (rank[chrom], pos) < last:
                raise InputError(self.path, place, "the records are not sorted", f"run {_sorting(self.path)}")
            last = (rank[chrom], pos)
            kept = tuple(alt for alt in alts if alt != ref and _BASES.issuperset(alt))
            self.skipped_alleles += len(alts) - len(kept)
            if kept:
                yield Variant(chrom, pos, ref, kept, name, index)
            else:
                self.skipped_records += 1
        if self.skipped_alleles or self.skipped_records:
            log.warning(
                "%s: %d symbolic, *, breakend or ambiguous alleles skipped, and %d records with no other allele",
                self.path,
                self.skipped_alleles,
                self.skipped_records,
            )
        if self.skipped_telomeres:
            where = "at telomeres (POS 0, or behind the last base)"
            log.warning("%s: %s %s skipped", self.path, counted(self.skipped_telomeres, "record"), where)

    def _is_telomere(self, chrom: str, pos: int, alts: tuple[str, ...]) -> bool:
        """Whether a record lies before the first base, or is a breakend or symbolic allele behind the last one.

        VCF has POS 0 and N + 1 for telomeres. Bases behind the last one are those of another reference.
        """
        behind = pos == self.contigs[chrom] and not any(_BASES.issuperset(alt) for alt in alts)
        return pos < 0 or behind

    def _check_alleles(self, place: str, ref: str, alts: tuple[str, ...]) -> None:
        if not (ref and _REFERENCE_LETTERS.issuperset(ref)):
            rule = f"REF {_short(ref)!r} is not a sequence of bases"
            raise InputError(
                self.path, place, rule, "write the reference's bases there (bcftools norm -c s -f REFERENCE)"
            )
        for alt in alts:
            if not (alt and _BASES.issuperset(alt)) and not _OTHER_ALLELE.fullmatch(alt):
                rule = f"ALT {_short(alt)!r} is neither bases nor another of VCF's alleles"
                raise InputError(self.path, place, rule, "repair or remove the record")

    def _check_reference(self, place: str, chrom: str, pos: int, ref: str) -> None:
        bases = self.fetch(chrom, pos, pos + len(ref))
        if not 0 <= pos < self.contigs[chrom] or len(bases) < len(ref):
            rule = f"outside {chrom}, which has {self.contigs[chrom]} bases"
            raise InputError(self.path, place, rule, "is it made with another reference?")
        # Where the reference has an IUPAC code, the VCF may have N, and the other way round.
        if ref != bases and any(a != b and a in "ACGT" and b in "ACGT" for a, b in zip(ref, bases, strict=True)):
            rule = f"REF {_short(ref)} is {_short(bases)} in the reference"
            raise InputError(self.path, place, rule, "is it made with another reference?")


def _sorting(path: str) -> str:
    """The command that sorts a list. bcftools sorts no VCF without contig lines, whose order this one does not need."""
    name = shlex.quote(path)
    if path.endswith(".bcf"):
        return f"bcftools sort -Ob -o sorted.bcf {name}"
    header, records = f"zgrep '^#' {name} | grep -v '^##contig='", f"zgrep -v '^#' {name} | sort -k1,1 -k2,2n"
    return f"({header}; {records}) > sorted.vcf"


def _short(bases: str) -> str:
    return bases if len(bases) <= 20 else f"{bases[:20]}..."
