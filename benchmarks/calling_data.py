"""Simulated samples with what makes calling hard, aligned with bwa mem: the data of benchmarks/calling.py.

A genome of `pairhmm simulate` (interspersed repeats, tandem repeats, homopolymers) gets longer homopolymers and tandem
repeats, and duplicated segments of 1 to 10 kb that differ in 0.5 to 2% of their bases. Samples have SNVs, indels of 1
to 49 bases, and insertions and deletions of 50 to 100 bases. Reads stutter in repeats as a library without PCR does
(pairhmm/simulate/stutter.py).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pysam

from pairhmm.simulate.files import ReadWriter, write_fasta, write_truth
from pairhmm.simulate.reads import draw_reads
from pairhmm.simulate.reference import Tract, make_contig, repeat_families
from pairhmm.simulate.stutter import stutter_rates
from pairhmm.simulate.variants import TruthVariant, build_haplotype, left_align, place_variants

CONTIG = "chr1"
REFERENCE, TRUTH, UNIQUE = "reference.fa", "truth.vcf.gz", "unique.bed"
SNVS_PER_BASE, INDELS_PER_BASE = 0.85e-3, 0.15e-3
LONG_INDELS_PER_BASE = 15e-6
"""Insertions, and as many deletions, of `LONG` bases, a base of the genome."""

SHORT, LONG = 49, (50, 100)
MARGIN = 1000
DUPLICATED_SHARE = 0.03
DUPLICATE_LENGTHS, DUPLICATE_DIVERGENCE = (1_000, 10_000), (0.005, 0.02)
LONG_TRACTS_PER_BASE = 20e-6
"""Homopolymers of 15 to 30 bases, and tandem repeats of 40 to 90 bases with units of 2 to 6, a base of the genome."""

APART = 300
"""Bases between a long indel and any other variant, at least."""


class Genome(NamedTuple):
    """A contig: uint8 codes, its tandem repeats, and whether a base lies outside duplicated segments (bool)."""

    codes: np.ndarray
    tracts: list[Tract]
    unique: np.ndarray


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample to make: its copies of the genome, and how it is sequenced.

    `carried` has a row of alleles (0 or 1) for each variant, and a column for each copy of the genome.
    """

    name: str
    carried: np.ndarray
    coverage: float
    read_length: int = 150
    fragment_length: int = 400


def make_genome(length: int, seed: int) -> Genome:
    """Draw a genome of one contig."""
    rng = np.random.default_rng([seed, 1])
    codes, tracts = make_contig(rng, length, repeat_families(rng))
    tracts = sorted(tracts + long_tracts(rng, codes, tracts), key=lambda tract: tract.start)
    unique = np.ones(length, dtype=bool)
    budget = int(DUPLICATED_SHARE * length)
    while budget > 0:
        size = int(rng.integers(*DUPLICATE_LENGTHS))
        source, target = (int(place) for place in rng.integers(MARGIN, length - size - MARGIN, 2))
        if not (unique[source : source + size].all() and unique[target : target + size].all()):
            continue
        copy = codes[source : source + size].copy()
        changed = rng.random(size) < rng.uniform(*DUPLICATE_DIVERGENCE)
        copy[changed] = (copy[changed] + rng.integers(1, 4, int(changed.sum()), dtype=np.uint8)) % 4
        codes[target : target + size] = copy
        unique[source : source + size] = unique[target : target + size] = False
        budget -= 2 * size
    # A tract that a copy overwrote is no longer one.
    return Genome(codes, [tract for tract in tracts if unique[tract.start : tract.end].all()], unique)


def long_tracts(rng: np.random.Generator, codes: np.ndarray, tracts: Sequence[Tract]) -> list[Tract]:
    """Write long homopolymers and tandem repeats into `codes`, away from `tracts`."""
    taken = np.zeros(len(codes), dtype=bool)
    for tract in tracts:
        taken[max(0, tract.start - 10) : tract.end + 10] = True
    made: list[Tract] = []
    for kind in range(2 * round(LONG_TRACTS_PER_BASE * len(codes))):
        unit = 1 if kind % 2 else int(rng.integers(2, 7))
        size = int(rng.integers(15, 31)) if unit == 1 else int(rng.integers(40, 91))
        start = int(rng.integers(MARGIN, len(codes) - MARGIN - size))
        if not taken[start - 10 : start + size + 10].any():
            codes[start : start + size] = np.resize(rng.integers(0, 4, unit, dtype=np.uint8), size)
            taken[start : start + size] = True
            made.append(Tract(start, start + size, unit))
    return made


def make_variants(genome: Genome, seed: int) -> list[TruthVariant]:
    """Draw the variants of a diploid sample, in order."""
    rng = np.random.default_rng([seed, 2])
    codes, tracts, _ = genome
    snvs, indels = round(SNVS_PER_BASE * len(codes)), round(INDELS_PER_BASE * len(codes))
    placed = place_variants(rng, codes, tracts, snvs, indels, SHORT, MARGIN)
    starts = {variant.start for variant in placed}
    wanted = 2 * round(LONG_INDELS_PER_BASE * len(codes))
    free = np.ones(len(codes), dtype=bool)
    for start in starts:
        free[max(0, start - APART) : start + APART] = False
    while wanted:
        size = int(rng.integers(LONG[0], LONG[1] + 1))
        position = int(rng.integers(MARGIN, len(codes) - MARGIN - size))
        if not (free[position - APART : position + size + APART].all() and genome.unique[position]):
            continue
        there = codes[position : position + size].tolist()
        if wanted % 2:
            draft = left_align(codes, position, there, [])
        else:
            # As often a copy of its neighbour as new sequence.
            new = there if rng.random() < 0.5 else rng.integers(0, 4, size).tolist()
            draft = left_align(codes, position, [], new)
        if draft is None:
            continue
        start, ref, alt = draft
        genotype = (1, 1) if rng.random() < 1 / 3 else ((0, 1), (1, 0))[int(rng.integers(2))]
        placed.append(TruthVariant(start, ref, alt, genotype))
        free[max(0, start - APART) : start + APART] = False
        wanted -= 1
    return sorted(placed, key=lambda variant: variant.start)


def write_genome(folder: Path, genome: Genome) -> None:
    """Write the reference, its index for bwa, and the intervals of unique sequence (BED)."""
    write_fasta(folder / REFERENCE, {CONTIG: genome.codes})
    edges = np.flatnonzero(np.diff(np.concatenate(([0], genome.unique.astype(np.int8), [0]))))
    lines = [f"{CONTIG}\t{start}\t{end}\n" for start, end in edges.reshape(-1, 2).tolist()]
    (folder / UNIQUE).write_text("".join(lines))
    index(folder / REFERENCE)


def write_sample(folder: Path, genome: Genome, variants: Sequence[TruthVariant], sample: Sample, seed: int) -> Path:
    """Sequence and align a sample; returns its BAM, `<name>.bam`. The reference has to be in `folder`.

    A sample of more than two copies of the genome is sequenced two copies at a time.
    """
    rng = np.random.default_rng([seed, 3, *sample.name.encode()])
    bam = folder / f"{sample.name}.bam"
    parts = []
    for first in range(0, sample.carried.shape[1], 2):
        alleles = sample.carried[:, first : first + 2]
        own = [replace(variant, genotype=(int(a), int(b))) for variant, (a, b) in zip(variants, alleles, strict=True)]
        copies = build_haplotype(genome.codes, own, 0), build_haplotype(genome.codes, own, 1)
        depth = sample.coverage * 2 / sample.carried.shape[1]
        fragments = round(depth * len(genome.codes) / (2 * sample.read_length))
        sizes = sample.read_length, None, sample.fragment_length
        reads = draw_reads(rng, copies, fragments, *sizes, stutter=stutter_rates())
        # The name of the contig begins the reads' names: it keeps those of the parts apart.
        mates = [folder / f"{sample.name}.{first}.{mate}.fastq.gz" for mate in (1, 2)]
        placed = folder / f"{sample.name}.{first}.true.bam"
        with ReadWriter(*mates, placed, {f"copies{first}": len(genome.codes)}, sample.name) as writer:
            writer.add(reads)
        parts.append(align(folder / REFERENCE, mates, sample.name))
        for path in (*mates, placed, placed.with_suffix(".bam.bai")):
            path.unlink()
    if len(parts) == 1:
        parts[0].rename(bam)
    else:
        pysam.merge("-f", "-c", str(bam), *map(str, parts))
        for part in parts:
            part.unlink()
    if sample.carried.shape[1] == 2:
        write_truth(folder / f"{sample.name}.{TRUTH}", {CONTIG: len(genome.codes)}, {CONTIG: own}, sample.name)
    pysam.index(str(bam))
    return bam


def index(reference: Path) -> None:
    """Make the index of a FASTA for bwa."""
    if shutil.which("bwa") is None:
        sys.exit("bwa is not installed; cure: apt-get install bwa")
    subprocess.run(["bwa", "index", reference], check=True, stderr=subprocess.DEVNULL)


def align(reference: Path, mates: Sequence[Path], sample: str, threads: int = 2) -> Path:
    """Align pairs with bwa mem; returns a sorted BAM beside them."""
    sam, bam = mates[0].with_suffix(".sam"), mates[0].with_suffix(".bam")
    group = f"@RG\\tID:{sample}\\tSM:{sample}"
    with open(sam, "wb") as out:
        line = ["bwa", "mem", "-t", str(threads), "-R", group, *map(str, (reference, *mates))]
        subprocess.run(line, check=True, stdout=out, stderr=subprocess.DEVNULL)
    pysam.sort("-o", str(bam), str(sam))
    sam.unlink()
    return bam
