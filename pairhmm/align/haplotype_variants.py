"""The variants of haplotypes: their differences from the reference, as VCF."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from pairhmm.align.batch import LONGEST
from pairhmm.align.given_haplotypes import differences_of_each
from pairhmm.align.haplotype_vcf import write_haplotype_vcf
from pairhmm.arguments import AnyPath, path_of
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import require_ending
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.fastx import SequenceRecord, read_sequences
from pairhmm.sequences.intervals import parse_region
from pairhmm.sequences.letters import decode
from pairhmm.variants.call_writer import CALL_ENDINGS
from pairhmm.variants.header import check_contigs

log = logging.getLogger(__name__)

BEFORE = 1_000
"""Bases before the region into which an insertion or deletion in a repeat may be shifted."""


@kept_apart()
def write_haplotype_variants(
    haplotypes: AnyPath,
    reference: AnyPath,
    region: str,
    output: AnyPath = "-",
    *,
    provenance: Mapping[str, str] | None = None,
) -> int:
    """Write the variants of haplotypes as VCF: a record for each variant, and a column for each haplotype.

    Haplotypes are aligned to the reference as GATK's HaplotypeCaller aligns them. Insertions and deletions stand
    leftmost, as ``bcftools norm`` puts them.

    Parameters
    ----------
    haplotypes : path
        FASTA. Each sequence spans the region.
    reference : path
        FASTA.
    region : str
        ``chr:begin-end`` or ``chr:position``, 1-based inclusive.
    output : path
        ``.vcf``, ``.vcf.gz`` or ``.bcf``; ``-`` is VCF to stdout.
    provenance : mapping of str to str, optional
        Header lines ``##key=value``.

    Returns
    -------
    int
        Variants written.

    Raises
    ------
    InputError
        For files and regions that can't be used, and for two haplotypes of one name.

    Examples
    --------
    >>> pairhmm.write_haplotype_variants("haps.fa", "ref.fa", "chr1:101-400", "haps.vcf.gz")  # doctest: +SKIP
    """
    haplotypes, reference, output = path_of(haplotypes), path_of(reference), path_of(output)
    check_apart([haplotypes, reference], [("-o", output)])
    require_ending(output, "variants", CALL_ENDINGS)
    records = [*read_sequences(haplotypes)]
    _check(haplotypes, records)
    with Reference(reference) as genome:
        check_contigs(reference, genome.contigs)
        chrom, start, end = parse_region(region, genome.contigs)
        if end - start > LONGEST:
            rule = f"{end - start:,} bases, and at most {LONGEST:,} are aligned"
            raise InputError("-r", region, rule, "choose a smaller region")
        first = max(0, start - BEFORE)
        bases, contigs = genome.fetch(chrom, first, end), dict(genome.contigs)
    found = differences_of_each(bases, [decode(record.codes) for record in records], start - first)
    differences = [{(first + position, ref, alt) for position, ref, alt in one} for one in found]
    names = [record.name for record in records]
    count = write_haplotype_vcf(
        output, chrom, contigs, names, differences, reference=reference, provenance=provenance or {}
    )
    log.info("%d haplotypes, %d variants", len(names), count)
    return count


def _check(path: str, records: Sequence[SequenceRecord]) -> None:
    seen: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        place = f"record {number} ({record.name})"
        if not record.name:
            raise InputError(path, f"record {number}", "has no name", "name it: it has a column of its own")
        if seen.setdefault(record.name, number) != number:
            rule = f"has the name of record {seen[record.name]}"
            raise InputError(path, place, rule, "rename it: each has a column of its own")
        if len(record.codes) > LONGEST:
            raise InputError(path, place, f"has more than {LONGEST:,} letters", "cut it to a smaller region")
