"""Simulated samples with one artefact of real libraries, and their truth.

    python benchmarks/artefacts.py paralogue --output /tmp/paralogue --rate 0.15 --mapq mixed
    python benchmarks/artefacts.py strand-motif --output /tmp/motif --rate 0.8
    python benchmarks/artefacts.py contamination --output /tmp/contaminated --rate 0.03

The folder gets reference.fa, truth.vcf.gz, reads.bam (true alignments) and places.bed: where the artefact is. The truth
is that of the sample itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pysam

from pairhmm.simulate.files import ReadWriter, write_fasta, write_truth
from pairhmm.simulate.reads import SimulatedReads, draw_reads
from pairhmm.simulate.reference import make_contig, repeat_families
from pairhmm.simulate.variants import SimulatedHaplotype, TruthVariant, build_haplotype, place_variants

CONTIG, READ_LENGTH, MARGIN = "chr1", 150, 1000
SNVS_PER_BASE, INDELS_PER_BASE = 0.85e-3, 0.15e-3
DIVERGENCE = 0.02, 0.05
SEGMENTS, SEGMENT_SHARE = (2_000, 10_000), 0.2
"""Bases of a paralogue, and the share of the genome that has one."""

MOTIF = 2, 2, 1
"""GGC, read along the strand of the read: the base behind it is read as G."""

PERSONS_SHARE = 0.5
"""The share of the sample's variants that a contaminating person has, too."""


class Sample(NamedTuple):
    """What an artefact is added to."""

    codes: np.ndarray
    variants: list[TruthVariant]
    reads: SimulatedReads
    coverage: float


Places = list[tuple[int, int]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("kind", choices=KINDS)
    options.add_argument("--output", type=Path, required=True, help="folder")
    options.add_argument("--length", type=int, default=1_000_000, help="bases (default: %(default)s)")
    options.add_argument("--coverage", type=float, default=30.0, help="(default: %(default)s)")
    options.add_argument(
        "--rate", type=float, default=0.15, help="share or rate of the artefact (default: %(default)s)"
    )
    options.add_argument(
        "--mapq", choices=("60", "mixed"), default="60", help="of foreign reads (default: %(default)s)"
    )
    options.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    given = options.parse_args()
    rng = np.random.default_rng([given.seed, *given.kind.encode()])
    codes, tracts = make_contig(rng, given.length, repeat_families(rng))
    snvs, indels = round(SNVS_PER_BASE * given.length), round(INDELS_PER_BASE * given.length)
    variants = place_variants(rng, codes, tracts, snvs, indels, 50, MARGIN)
    reads = sequence(rng, [build_haplotype(codes, variants, copy) for copy in (0, 1)], given.coverage)
    own = len(reads.first_is_left)
    reads, places = KINDS[given.kind](rng, Sample(codes, variants, reads, given.coverage), given.rate)
    write(given.output, codes, variants, reads, places)
    if given.mapq == "mixed":
        lower_mapping_qualities(rng, given.output / "reads.bam", own)


def sequence(rng: np.random.Generator, copies: list[SimulatedHaplotype], coverage: float) -> SimulatedReads:
    """Reads of some copies of a contig, or of a part of it."""
    return draw_reads(rng, copies, round(coverage * len(copies[0].codes) / (2 * READ_LENGTH)), READ_LENGTH)


def paralogue(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[SimulatedReads, Places]:
    """Reads of diverged copies that the reference lacks, aligned to what it has, at a share of the depth."""
    parts, places, end = [sample.reads], Places(), MARGIN
    while end < len(sample.codes):
        size = int(rng.integers(*SEGMENTS))
        start = end + int(rng.exponential(size * (1 / SEGMENT_SHARE - 1)))
        end = start + size
        if end > len(sample.codes) - MARGIN:
            break
        copy = sample.codes[start:end].copy()
        changed = rng.random(size) < rng.uniform(*DIVERGENCE)
        copy[changed] = (copy[changed] + rng.integers(1, 4, int(changed.sum()), dtype=np.uint8)) % 4
        foreign = SimulatedHaplotype(copy, np.arange(start, end, dtype=np.int32))
        parts.append(sequence(rng, [foreign], rate * sample.coverage))
        places.append((start, end))
    return together(parts), places


def strand_motif(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[SimulatedReads, Places]:
    """Errors behind `MOTIF` on one strand, at a tenth of the motifs, which grow with the cycle up to a rate."""
    at = np.flatnonzero(np.all([sample.codes[i : i - 3] == code for i, code in enumerate(MOTIF)], axis=0)) + 3
    is_place = np.zeros(len(sample.codes), dtype=bool)
    is_place[at[(sample.codes[at] != MOTIF[0]) & (rng.random(len(at)) < 0.1)]] = True
    codes, quals = sample.reads.codes, sample.reads.quals
    for row in range(0, len(codes), 2):  # those of the forward strand
        if row in sample.reads.cigars:
            continue
        start = sample.reads.starts[row]
        cycle = np.flatnonzero(is_place[start : start + READ_LENGTH])
        wrong = cycle[rng.random(len(cycle)) < rate * (cycle / READ_LENGTH) ** 2]
        codes[row, wrong] = MOTIF[0]
        quals[row, wrong] = np.minimum(quals[row, wrong], 30)
    return sample.reads, [(place, place + 1) for place in np.flatnonzero(is_place).tolist()]


def contamination(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[SimulatedReads, Places]:
    """Reads of another person at a share of the depth, who has half of the variants and as many others."""
    shared = [one for one in sample.variants if rng.random() < PERSONS_SHARE]
    wanted = len(sample.variants) - len(shared)
    taken = {one.start + i for one in sample.variants for i in range(-60, 120)}
    others = place_variants(rng, sample.codes, [], wanted, 0, 50, MARGIN)
    own = sorted([*shared, *(one for one in others if one.start not in taken)], key=lambda one: one.start)
    own = [replace(one, genotype=((1, 1), (0, 1), (1, 0))[int(rng.integers(3))]) for one in own]
    reads = sequence(rng, [build_haplotype(sample.codes, own, copy) for copy in (0, 1)], rate * sample.coverage)
    return together([sample.reads, reads]), [(one.start, one.start + 1) for one in own]


KINDS: dict[str, Callable[[np.random.Generator, Sample, float], tuple[SimulatedReads, Places]]] = {
    "paralogue": paralogue,
    "strand-motif": strand_motif,
    "contamination": contamination,
}


def together(parts: list[SimulatedReads]) -> SimulatedReads:
    """The reads of all parts, in their order."""
    first, cigars = 0, {}
    for part in parts:
        cigars |= {first + row: cigar for row, cigar in part.cigars.items()}
        first += len(part.starts)
    fields = ("codes", "quals", "starts", "ends", "first_is_left")
    return SimulatedReads(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields), cigars)


def write(folder: Path, codes: np.ndarray, variants: list[TruthVariant], reads: SimulatedReads, places: Places) -> None:
    """Write the files of a sample."""
    folder.mkdir(parents=True, exist_ok=True)
    write_fasta(folder / "reference.fa", {CONTIG: codes})
    write_truth(folder / "truth.vcf.gz", {CONTIG: len(codes)}, {CONTIG: variants}, "sample")
    fastqs = [folder / f"reads_{mate}.fastq.gz" for mate in (1, 2)]
    with ReadWriter(*fastqs, folder / "reads.bam", {CONTIG: len(codes)}, "sample") as writer:
        writer.add(reads)
    (folder / "places.bed").write_text("".join(f"{CONTIG}\t{start}\t{end}\n" for start, end in places))


def lower_mapping_qualities(rng: np.random.Generator, bam: Path, own: int) -> None:
    """Give the reads of fragments from number `own` on mapping qualities from 0 to 60."""
    whole = bam.with_suffix(".60.bam")
    bam.rename(whole)
    quality = rng.integers(0, 61, 1 << 20)
    with pysam.AlignmentFile(str(whole)) as reads, pysam.AlignmentFile(str(bam), "wb", template=reads) as out:
        for read in reads:
            number = int(str(read.query_name).rpartition(":")[2])
            if number >= own:
                read.mapping_quality = int(quality[number % len(quality)])
            out.write(read)
    whole.unlink()
    pysam.index(str(bam))


if __name__ == "__main__":
    main()
