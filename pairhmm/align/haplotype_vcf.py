"""Writes the variants of haplotypes as VCF: a record for each, a column for each haplotype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from pairhmm.files.names import printable
from pairhmm.variants.call_writer import VCF_COLUMNS, open_vcf
from pairhmm.variants.differences import Difference
from pairhmm.variants.header import contig_lines

_FIELDS = (
    '##INFO=<ID=AC,Number=A,Type=Integer,Description="Haplotypes with the alternate allele">',
    '##INFO=<ID=AN,Number=1,Type=Integer,Description="Haplotypes">',
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="1 if the haplotype has the alternate allele, else 0">',
)


def write_haplotype_vcf(
    destination: str | Path,
    chrom: str,
    contigs: Mapping[str, int],
    names: Sequence[str],
    differences: Sequence[AbstractSet[Difference]],
    *,
    reference: str,
    provenance: Mapping[str, str],
) -> int:
    """Write VCF, bgzipped VCF or BCF, by the destination's extension, with an index; ``-`` is VCF to stdout.

    Parameters
    ----------
    destination : path
    chrom : str
    contigs : mapping of str to int
        Lengths.
    names : sequence of str
        Of the haplotypes; no two alike.
    differences : sequence of sets
        Of each haplotype from the reference.
    reference : str
        Name of the FASTA of the reference.
    provenance : mapping of str to str
        Header lines ``##key=value``.

    Returns
    -------
    int
        Records.
    """
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
            carried = [int(record in own) for own in differences]
            counts = f"AC={sum(carried)};AN={len(carried)}"
            genotypes = "\t".join(map(str, carried))
            out.write(f"{chrom}\t{position + 1}\t.\t{ref}\t{alt}\t.\t.\t{counts}\tGT\t{genotypes}\n")
    return len(records)
