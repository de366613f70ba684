"""Simulated samples with one artefact of real libraries, and their truth.

    python benchmarks/artefacts.py adaptors --output /tmp/adaptors --rate 0.5
    python benchmarks/artefacts.py tails --output /tmp/tails --rate 0.5
    python benchmarks/artefacts.py breakpoints --output /tmp/breakpoints

The folder gets reference.fa, truth.vcf.gz, reads.bam (aligned by bwa mem) and places.bed: where the artefact is. The
truth has the variants that the artefact hides, but for the long insertions of breakpoints.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pysam
from calling_data import align, index

from pairhmm.simulate.files import ReadWriter, write_fasta, write_truth
from pairhmm.simulate.reads import SimulatedReads, draw_reads
from pairhmm.simulate.reference import make_contig, repeat_families
from pairhmm.simulate.variants import SimulatedHaplotype, TruthVariant, build_haplotype, place_variants

CONTIG, READ_LENGTH, MARGIN = "chr1", 150, 1000
SNVS_PER_BASE, INDELS_PER_BASE = 0.85e-3, 0.15e-3
ADAPTOR = [0, 2, 0, 3, 1, 2, 2, 0, 0, 2, 0, 2, 1, 0, 1, 0, 1, 2, 3, 1, 3, 2, 0, 0, 1, 3, 1, 1, 0, 2, 3, 1, 0, 1]
"""AGATCGGAAGAGCACACGTCTGAACTCCAGTCAC, read behind the end of a fragment; what follows it is A."""

SHORT_FRAGMENTS, TAILS = (60, 141), (40, 81)
"""Bases of a fragment that both mates read through, and of an end of quality 2: from, and up to but not including."""

WRONG_IN_TAILS = 0.25
BREAKPOINTS = 2_000, 600, 20
"""Bases between breakpoints, of the insertion at each, and between it and the SNV before it."""


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
    options.add_argument("--rate", type=float, default=0.5, help="share of reads that have it (default: %(default)s)")
    options.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    given = options.parse_args()
    rng = np.random.default_rng([given.seed, *given.kind.encode()])
    codes, tracts = make_contig(rng, given.length, repeat_families(rng))
    snvs, indels = round(SNVS_PER_BASE * given.length), round(INDELS_PER_BASE * given.length)
    variants = place_variants(rng, codes, tracts, snvs, indels, 50, MARGIN)
    reads = sequence(rng, [build_haplotype(codes, variants, copy) for copy in (0, 1)], given.coverage)
    sample, places = KINDS[given.kind](rng, Sample(codes, variants, reads, given.coverage), given.rate)
    write(given.output, sample, places)


def sequence(rng: np.random.Generator, copies: list[SimulatedHaplotype], coverage: float) -> SimulatedReads:
    """Reads of some copies of a contig, or of a part of it."""
    return draw_reads(rng, copies, round(coverage * len(copies[0].codes) / (2 * READ_LENGTH)), READ_LENGTH)


def adaptors(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[Sample, Places]:
    """A share of the fragments is shorter than their reads, which go on with the adaptor."""
    codes, places = sample.reads.codes, Places()
    adaptor = np.zeros(READ_LENGTH, dtype=np.uint8)
    adaptor[: len(ADAPTOR)] = ADAPTOR
    for left in np.flatnonzero(rng.random(len(codes) // 2) < rate).tolist():
        size = int(rng.integers(*SHORT_FRAGMENTS))
        beyond = adaptor[: READ_LENGTH - size]
        codes[2 * left + 1] = np.concatenate([3 - beyond[::-1], codes[2 * left, :size]])
        codes[2 * left, size:] = beyond
        start = int(sample.reads.starts[2 * left])
        places.append((start, start + size))
    return sample, sorted(places)


def tails(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[Sample, Places]:
    """A share of the reads has an end of quality 2, where a quarter of the bases are wrong."""
    codes, quals = sample.reads.codes, sample.reads.quals
    for row in np.flatnonzero(rng.random(len(codes)) < rate).tolist():
        size = int(rng.integers(*TAILS))
        # Right reads are on the reverse strand: they end on the left.
        tail = slice(0, size) if row % 2 else slice(READ_LENGTH - size, READ_LENGTH)
        quals[row, tail] = 2
        wrong = rng.random(size) < WRONG_IN_TAILS
        codes[row, tail] = (codes[row, tail] + wrong * rng.integers(1, 4, size, dtype=np.uint8)) % 4
    return sample, []


def breakpoints(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[Sample, Places]:
    """Insertions of new sequence, a share of them heterozygous, with an SNV of any phase before each."""
    apart, size, before = BREAKPOINTS
    snvs, all_of_them = [], []
    for at in range(MARGIN + apart, len(sample.codes) - MARGIN, apart):
        anchor, letter = int(sample.codes[at]), int(sample.codes[at - before])
        inserted = (1, 0) if rng.random() < rate else (1, 1)
        carried = ((1, 0), (0, 1), (1, 1))[int(rng.integers(3))]
        snvs.append(TruthVariant(at - before, (letter,), ((letter + 1 + int(rng.integers(3))) % 4,), carried))
        new = (anchor, *rng.integers(0, 4, size).tolist())
        all_of_them += [snvs[-1], TruthVariant(at, (anchor,), new, inserted)]
    # Reads inside an insertion have no true place: each copy is taken for a contig of its own.
    whole = [build_haplotype(sample.codes, all_of_them, copy).codes for copy in (0, 1)]
    copies = [SimulatedHaplotype(copy, np.arange(len(copy), dtype=np.int32)) for copy in whole]
    reads = sequence(rng, copies, sample.coverage)
    return sample._replace(variants=snvs, reads=reads), [(one.start, one.start + before) for one in snvs]


KINDS: dict[str, Callable[[np.random.Generator, Sample, float], tuple[Sample, Places]]] = {
    "adaptors": adaptors,
    "tails": tails,
    "breakpoints": breakpoints,
}


def write(folder: Path, sample: Sample, places: Places) -> None:
    """Write the files of a sample, whose reads are aligned anew."""
    folder.mkdir(parents=True, exist_ok=True)
    reference, size, unused = folder / "reference.fa", len(sample.codes), folder / "unused.bam"
    write_fasta(reference, {CONTIG: sample.codes})
    write_truth(folder / "truth.vcf.gz", {CONTIG: size}, {CONTIG: sample.variants}, "sample")
    first, second = (folder / f"reads_{mate}.fastq.gz" for mate in (1, 2))
    with ReadWriter(first, second, unused, {CONTIG: 2 * size}, "sample") as writer:
        writer.add(sample.reads)
    for path in (unused, unused.with_suffix(".bam.bai")):
        path.unlink()
    index(reference)
    align(reference, (first, second), "sample").rename(folder / "reads.bam")
    pysam.index(str(folder / "reads.bam"))
    (folder / "places.bed").write_text("".join(f"{CONTIG}\t{start}\t{end}\n" for start, end in places))


if __name__ == "__main__":
    main()
