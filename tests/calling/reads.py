"""Reads as `ReadBlock.from_alignments` takes them, and BAM files of reads of two chromosomes."""

import re
from types import SimpleNamespace

import numpy as np
import pysam

from pairhmm.sequences.letters import encode

ON_REFERENCE = (0, 2, 3, 7, 8)
"""The CIGAR operations M, D, N, = and X."""


def aligned(start, bases, cigar=None, *, name="r", sample=0, flag=0, mapq=60, quality=30, molecule=""):
    """A read of letters or their codes. Without a CIGAR it matches; one of no reference base spans one."""
    codes = encode(bases) if isinstance(bases, str) else bases
    cigar = [(0, len(codes))] if cigar is None else cigar
    span = sum(length for operation, length in cigar if operation in ON_REFERENCE) or 1
    return SimpleNamespace(
        name=name,
        sample=sample,
        flag=flag,
        mapq=mapq,
        start=start,
        end=start + span,
        bases=codes,
        quals=np.full(len(codes), quality, dtype=np.uint8),
        cigar=cigar,
        molecule=molecule,
    )


LENGTH, READ = 2_000, 100
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}
"""What an SNV makes of each base."""


def aligned_reads(genome, snvs, deletion, name):
    """Reads of a chromosome with SNVs (0-based) and one deletion [start, end), at every seventh position."""
    bases = [OTHER[letter] if at in snvs else letter for at, letter in enumerate(genome)]
    kept = [at for at in range(len(genome)) if not deletion or not deletion[0] <= at < deletion[1]]
    for first in range(0, len(kept) - READ, 7):
        places = kept[first : first + READ]
        left = sum(place < deletion[0] for place in places) if deletion else READ
        cigar = f"{READ}M" if left in (0, READ) else f"{left}M{deletion[1] - deletion[0]}D{READ - left}M"
        text = "".join(bases[place] for place in places)
        flag = 16 * (first % 2)
        yield (
            places[0],
            f"{name}{first}\t{flag}\tq\t{places[0] + 1}\t60\t{cigar}\t*\t0\t0\t{text}\t{'?' * READ}\tRG:Z:s",
        )


def write_reads(folder, *chromosomes):
    """Write q.fa and q.bam with reads of two chromosomes, each as (SNVs, deletion). Returns the genome."""
    genome = "".join(np.random.default_rng(3).choice(list("ACGT"), LENGTH))
    (folder / "q.fa").write_text(f">q\n{genome}\n")
    pysam.faidx(str(folder / "q.fa"), catch_stdout=False)
    reads = sorted(
        read
        for number, (snvs, deletion) in enumerate(chromosomes)
        for read in aligned_reads(genome, snvs, deletion, f"r{number}.")
    )
    head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
    (folder / "q.sam").write_text(head + "".join(f"{line}\n" for _, line in reads))
    pysam.view("-b", "-o", str(folder / "q.bam"), str(folder / "q.sam"), catch_stdout=False)
    pysam.index(str(folder / "q.bam"))
    return genome


def _clipped(line):
    """A line of SAM with a deletion in it, clipped on the shorter side of that."""
    fields = line.split("\t")
    gap = None if line.startswith("@") else re.fullmatch(r"(\d+)M(\d+)D(\d+)M", fields[5])
    if gap is None:
        return line
    before, deleted, behind = map(int, gap.groups())
    if before >= behind:
        fields[5] = f"{before}M{behind}S"
    else:
        fields[3], fields[5] = str(int(fields[3]) + before + deleted), f"{before}S{behind}M"
    return "\t".join(fields)


def clip_deletions(folder):
    """Clip the reads of `write_reads` at their deletions, as aligners do where these are long."""
    lines = (folder / "q.sam").read_text().splitlines()
    (folder / "q.sam").write_text("\n".join(map(_clipped, lines)) + "\n")
    pysam.sort("-o", str(folder / "q.bam"), str(folder / "q.sam"), catch_stdout=False)
    pysam.index(str(folder / "q.bam"))
