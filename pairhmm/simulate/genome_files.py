"""Writes a simulated genome as FASTA, its true variants as phased VCF, and tables of other truths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pysam

from pairhmm.files.outputs import open_output
from pairhmm.simulate.variants import TruthVariant
from pairhmm.variants.call_writer import VCF_COLUMNS

LETTERS = np.frombuffer(b"ACGT", dtype=np.uint8)
FASTA_WIDTH = 60


def letters(codes: Iterable[int]) -> str:
    """Base codes (A 0, C 1, G 2, T 3) as text."""
    return "".join("ACGT"[code] for code in codes)


def write_fasta(path: Path, contigs: dict[str, np.ndarray]) -> None:
    """Write `contigs` (name -> uint8 codes) as FASTA and its .fai."""
    with open(path, "wb") as out:
        for name, codes in contigs.items():
            out.write(b">" + name.encode() + b"\n")
            text = LETTERS[codes]
            whole = len(text) // FASTA_WIDTH * FASTA_WIDTH
            lines = np.full((whole // FASTA_WIDTH, FASTA_WIDTH + 1), ord("\n"), dtype=np.uint8)
            lines[:, :-1] = text[:whole].reshape(-1, FASTA_WIDTH)
            out.write(lines.tobytes())
            if whole < len(text):
                out.write(text[whole:].tobytes() + b"\n")
    pysam.faidx(os.fspath(path))


def write_truth(path: Path, sizes: dict[str, int], variants: dict[str, list[TruthVariant]], sample: str) -> None:
    """Write the variants (contig -> variants in order) as bgzipped VCF with phased genotypes, and its .tbi."""
    lines = ["##fileformat=VCFv4.2", '##FILTER=<ID=PASS,Description="All filters passed">']
    lines += [f"##contig=<ID={name},length={size}>" for name, size in sizes.items()]
    lines.append('##FORMAT=<ID=GT,Number=1,Type=String,Description="Phased genotype">')
    lines.append("\t".join((*VCF_COLUMNS, "FORMAT", sample)))
    for name, placed in variants.items():
        for variant in placed:
            genotype = "|".join(map(str, variant.genotype))
            alleles = f"{letters(variant.ref)}\t{letters(variant.alt)}"
            lines.append(f"{name}\t{variant.start + 1}\t.\t{alleles}\t.\tPASS\t.\tGT\t{genotype}")
    with pysam.BGZFile(os.fspath(path), "wb", index=None) as out:
        out.write(("\n".join(lines) + "\n").encode())
    pysam.tabix_index(os.fspath(path), preset="vcf", force=True)


def write_truth_table(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a tab-separated table. Its first line names the columns and begins with ``#``.

    Raises
    ------
    InputError
        Where the file can't be written.
    """
    with open_output(path) as out:
        out.write("#" + "\t".join(columns) + "\n")
        out.writelines("\t".join(map(str, row)) + "\n" for row in rows)
