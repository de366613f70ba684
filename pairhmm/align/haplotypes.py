"""Haplotypes given as sequences: their variants, for genotyping and as VCF."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache

from pairhmm.align.base import ALIGNERS, LONGEST, Aligner, SequencePairs, Sequences
from pairhmm.align.scoring import PRESETS
from pairhmm.alignments.sam import MATCH
from pairhmm.arguments import AnyPath, path_of
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import require_ending
from pairhmm.files.names import printable
from pairhmm.plurals import counted
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.fastx import SequenceRecord, read_sequences
from pairhmm.sequences.intervals import parse_region
from pairhmm.sequences.letters import decode, encode
from pairhmm.variants.call_writer import CALL_ENDINGS, VCF_COLUMNS, open_vcf
from pairhmm.variants.differences import Difference, differences_of
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.header import check_contigs, contig_lines
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import Variant

_SCORING = replace(PRESETS["gatk-haplotype"], overhang="indel")
"""GATK aligns haplotypes so. It clips their ends, and leaves out those that were clipped; these here are aligned whole,
which is the same alignment wherever GATK keeps a haplotype."""

_NEVER_GAPPED = 2
"""Sequences of equal length with at most this many mismatches need no alignment: a mismatch costs 350, and two gaps in
place of mismatches 720."""


def describe_haplotypes(
    region: Region, reference: str, haplotypes: Sequence[Haplotype]
) -> tuple[Region, list[Haplotype]]:
    """Add to a region the variants of its haplotypes, and to each haplotype its alleles.

    The region has no variants before, and its haplotypes span it, as `reference` does. It gets a variant for each
    position and kind: single bases, or insertions and deletions.
    """
    each = differences_of_each(reference, [haplotype.sequence for haplotype in haplotypes])
    differences = [{(region.start + position, old, new) for position, old, new in found} for found in each]
    sites: dict[tuple[int, bool], set[Difference]] = {}
    for difference in set[Difference]().union(*differences):
        position, old, new = difference
        sites.setdefault((position, len(old) != len(new)), set()).add(difference)
    variants, alleles = [], []
    for number, site in enumerate(sorted(sites)):
        position, members = site[0], sorted(sites[site])
        ref = max((old for _, old, _ in members), key=len)
        variants.append(
            Variant(region.chrom, position, ref, tuple(new + ref[len(old) :] for _, old, new in members), "", number)
        )
        alleles.append(
            [next((i for i, allele in enumerate(members, start=1) if allele in seen), 0) for seen in differences]
        )
    described = [
        replace(haplotype, alleles=tuple(row[index] for row in alleles)) for index, haplotype in enumerate(haplotypes)
    ]
    extents = tuple((variant.pos, variant.end) for variant in variants)
    return replace(region, variants=tuple(variants), extents=extents), described


def find_differences(reference: str, sequence: str, offset: int) -> set[Difference]:
    """Differences of a sequence from the reference, which begins at `offset`. Indels are shifted left."""
    (differences,) = differences_of_each(reference, [sequence])
    return {(offset + position, old, new) for position, old, new in differences}


def differences_of_each(reference: str, sequences: Sequence[str], first: int = 0) -> list[set[Difference]]:
    """The differences of sequences from the reference, by the alignments of GATK's HaplotypeCaller.

    Each sequence spans ``reference[first:]``; indels may be shifted into the bases before. Positions are counted from
    the first base of `reference`.
    """
    spanned = reference[first:]
    aligned = [sequence for sequence in dict.fromkeys(sequences) if not _is_plain(spanned, sequence)]
    targets = Sequences.of([encode(spanned)])
    pairs = SequencePairs.all_of(Sequences.of([encode(sequence) for sequence in aligned]), targets)
    alignments = _aligner().alignments(pairs, _SCORING, 1) if aligned else None
    operations = {sequence: [(MATCH, len(sequence))] for sequence in sequences}
    for index, sequence in enumerate(aligned):
        assert alignments is not None
        words = alignments.part(index, index + 1).cigars.tolist()
        operations[sequence] = [(word & 15, word >> 4) for word in words]
    return [differences_of(reference, sequence, operations[sequence], first) for sequence in sequences]


def _is_plain(reference: str, sequence: str) -> bool:
    """Whether a sequence needs no alignment, since gaps would cost more than its mismatches."""
    if len(reference) != len(sequence):
        return False
    return sum(old != new for old, new in zip(reference, sequence, strict=True)) <= _NEVER_GAPPED


@cache
def _aligner() -> Aligner:
    return ALIGNERS.on_the_cpu()


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
    relative = differences_of_each(bases, [decode(record.codes) for record in records], start - first)
    differences = [{(first + position, ref, alt) for position, ref, alt in of_haplotype} for of_haplotype in relative]
    names = [record.name for record in records]
    count = _write_vcf(output, chrom, contigs, names, differences, reference=reference, provenance=provenance or {})
    log.info("%s, %s", counted(len(names), "haplotype"), counted(count, "variant"))
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


_FIELDS = (
    '##INFO=<ID=AC,Number=A,Type=Integer,Description="Haplotypes with the alternate allele">',
    '##INFO=<ID=AN,Number=1,Type=Integer,Description="Haplotypes">',
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="1 if the haplotype has the alternate allele, else 0">',
)


def _write_vcf(
    destination: str,
    chrom: str,
    contigs: Mapping[str, int],
    names: Sequence[str],
    differences: Sequence[AbstractSet[Difference]],
    *,
    reference: str,
    provenance: Mapping[str, str],
) -> int:
    """Write the differences of each haplotype from the reference, with an index; returns the number of records."""
    header = [
        "##fileformat=VCFv4.3",
        *(f"##{key}={printable(value)}" for key, value in provenance.items()),
        f"##reference={printable(reference)}",
        '##FILTER=<ID=PASS,Description="All filters passed">',
        *contig_lines(contigs, reference),
        *_FIELDS,
        "\t".join([*VCF_COLUMNS, "FORMAT", *names]),
    ]
    records = sorted(set[Difference]().union(*differences))
    with open_vcf(destination, "\n".join(header) + "\n", max(contigs.values(), default=0)) as out:
        for record in records:
            position, ref, alt = record
            carried = [int(record in differences_of_one) for differences_of_one in differences]
            counts = f"AC={sum(carried)};AN={len(carried)}"
            genotypes = "\t".join(map(str, carried))
            out.write(f"{chrom}\t{position + 1}\t.\t{ref}\t{alt}\t.\t.\t{counts}\tGT\t{genotypes}\n")
    return len(records)
