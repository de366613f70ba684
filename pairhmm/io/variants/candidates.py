"""Reads candidate variants from VCF or BCF."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pysam
from Bio.Data.IUPACData import ambiguous_dna_letters

from pairhmm.errors import InputError
from pairhmm.genomics.regions import FetchBases
from pairhmm.genomics.variants import Variant
from pairhmm.io.files import magic
from pairhmm.io.files.byte_lines import lines_of
from pairhmm.io.files.end_markers import check_end
from pairhmm.io.files.endings import TABIX_INDICES
from pairhmm.io.files.names import check_names
from pairhmm.io.files.one_pass import readable_again
from pairhmm.io.sequences.contig_names import same_contig
from pairhmm.io.sequences.intervals import MOST_DIGITS

log = logging.getLogger(__name__)

_BASES = frozenset("ACGTN")
# Letters of REF. The reference may hold IUPAC codes, and callers copy them.
_REFERENCE_LETTERS = frozenset(ambiguous_dna_letters)
# Alleles that are no bases (VCF 4.3, section 1.6.1): symbolic alleles, `*` and breakends. Files in the field also have
# IUPAC codes.
_OTHER_ALLELE = re.compile(r"<.*>|\*|\.|.*[\[\]].*|\.[A-Z]+|[A-Z]+\.|[" + ambiguous_dna_letters + "]+")


def indexed_contigs(path: str) -> list[str]:
    """The contigs that have records, from a bgzipped file's index. None without an index that can be read."""
    if not path.endswith(".gz") or not any(os.path.exists(f"{path}{ending}") for ending in TABIX_INDICES):
        return []
    try:
        with pysam.TabixFile(path) as table:
            return list(table.contigs)
    except (OSError, ValueError):
        return []


@dataclass(slots=True)
class CandidateReader:
    """Iterates over the variants of a VCF or BCF file. The file needs no index and no contig lines.

    Parameters
    ----------
    path : str
    contigs : mapping of str to int
        The reference's contigs in the order that the variants must come in.
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
    """

    path: str
    contigs: dict[str, int]
    fetch: FetchBases
    skip_unknown: bool = False
    skipped_alleles: int = field(default=0, init=False)
    skipped_records: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Variant]:
        """Yield the variants.

        Raises
        ------
        InputError
            For an unknown contig, a REF or ALT that is no allele, a REF that differs from the reference, and records
            that are unsorted or unreadable. The message names the record.
        """
        rank = {name: number for number, name in enumerate(self.contigs)}
        last = (-1, -1)
        for index, (chrom, pos, name, ref, alts) in enumerate(_records(self.path)):
            place = f"{chrom}:{pos + 1}"
            if name:
                check_names(self.path, f"{place}: ID", [name], "rename or remove it")
            if chrom not in rank:
                if self.skip_unknown:
                    continue
                other = same_contig(chrom, rank)
                cure = f"the reference names it {other!r}" if other else "use the reference's names"
                raise InputError(self.path, place, "contig is not in the reference", cure)
            self._check_alleles(place, ref, alts)
            self._check_reference(place, chrom, pos, ref)
            if (rank[chrom], pos) < last:
                raise InputError(self.path, place, "records are not in the reference's order", "bcftools sort it")
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

    def _check_alleles(self, place: str, ref: str, alts: tuple[str, ...]) -> None:
        if not (ref and _REFERENCE_LETTERS.issuperset(ref)):
            rule = f"REF {_short(ref)!r} is not a sequence of bases"
            raise InputError(self.path, place, rule, "write the reference's bases there (bcftools norm -c s)")
        for alt in alts:
            if not (alt and _BASES.issuperset(alt)) and not _OTHER_ALLELE.fullmatch(alt):
                rule = f"ALT {_short(alt)!r} is neither bases nor another of VCF's alleles"
                raise InputError(self.path, place, rule, "repair or remove the record")

    def _check_reference(self, place: str, chrom: str, pos: int, ref: str) -> None:
        if pos < 0 or pos + len(ref) > self.contigs[chrom]:
            rule = f"outside {chrom}, which has {self.contigs[chrom]} bases"
            raise InputError(self.path, place, rule, "is it made with another reference?")
        bases = self.fetch(chrom, pos, pos + len(ref))
        # Where the reference has an IUPAC code, the VCF may have N, and the other way round.
        if ref != bases and any(a != b and a in "ACGT" and b in "ACGT" for a, b in zip(ref, bases, strict=True)):
            rule = f"REF {_short(ref)} is {_short(bases)} in the reference"
            raise InputError(self.path, place, rule, "is it made with another reference?")


def _short(bases: str) -> str:
    return bases if len(bases) <= 20 else f"{bases[:20]}..."


_Fields = tuple[str, int, str, str, tuple[str, ...]]


def _records(path: str) -> Iterator[_Fields]:
    """CHROM, 0-based POS, ID (empty for `.`), upper-case REF and ALTs of each record."""
    try:
        with readable_again(path) as file:
            check_end(path, file)
            with open(file, "rb") as raw:
                compressed = raw.read(2) == magic.GZIP
            if compressed:
                with pysam.BGZFile(file, "rb", index=None) as unpacked:
                    is_bcf = unpacked.read(len(magic.BCF)) == magic.BCF
            else:
                is_bcf = Path(path).suffix == ".bcf"
            yield from _bcf_records(path, file) if is_bcf else _text_records(path, file, compressed)
    # pysam raises NotImplementedError for an unknown kind of compression.
    except (OSError, EOFError, NotImplementedError) as error:
        what = getattr(error, "strerror", None) or "can't be read: it may be cut off"
        raise InputError(path, "", what, "check the file; candidates are VCF or BCF") from error


def _bcf_records(path: str, file: str) -> Iterator[_Fields]:
    try:
        with pysam.VariantFile(file) as records:
            for record in records:
                alts = tuple(alt.upper() for alt in record.alts or ())
                yield record.chrom, record.pos - 1, record.id or "", (record.ref or "").upper(), alts
    except ValueError as error:
        raise InputError(path, "", f"not a BCF file ({error})", "check the file") from error


def _text_records(path: str, file: str, compressed: bool) -> Iterator[_Fields]:
    # The text is parsed here, because htslib demands contig lines, which many files lack. Only five columns are needed.
    opened = pysam.BGZFile(file, "rb", index=None) if compressed else open(file, "rb")  # noqa: SIM115
    with opened as text:
        seen_header = False
        for number, raw in enumerate(lines_of(text), start=1):
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if line.startswith("#"):
                seen_header = seen_header or line.startswith((magic.VCF.decode(), "#CHROM"))
                continue
            if not line:
                continue
            if not seen_header:
                raise InputError(path, f"line {number}", "not a VCF file", "it must begin with ##fileformat=VCF")
            fields = line.split("\t", 5)
            if len(fields) < 5 or not fields[1].isdecimal() or len(fields[1]) > MOST_DIGITS:
                raise InputError(path, f"line {number}", "not a VCF record", "the file may be cut off")
            alts = () if fields[4] == "." else tuple(fields[4].upper().split(","))
            yield fields[0], int(fields[1]) - 1, "" if fields[2] == "." else fields[2], fields[3].upper(), alts
        if not seen_header:
            raise InputError(path, "", "not a VCF file", "it must begin with ##fileformat=VCF")
