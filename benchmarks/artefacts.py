"""Simulated samples with one artefact of real libraries, and their truth.

    python benchmarks/artefacts.py paralogue --output /tmp/paralogue --rate 0.15 --mapq mixed
    python benchmarks/artefacts.py strand-motif --output /tmp/motif --rate 0.8
    python benchmarks/artefacts.py contamination --output /tmp/contaminated --rate 0.03
    python benchmarks/artefacts.py stutter --output /tmp/stutter --rate 5
    python benchmarks/artefacts.py adaptors --output /tmp/adaptors --rate 0.5
    python benchmarks/artefacts.py tails --output /tmp/tails --rate 0.5
    python benchmarks/artefacts.py breakpoints --output /tmp/breakpoints --rate 0.5

The folder gets reference.fa, truth.vcf.gz, reads.bam and places.bed: where the artefact is. The truth is that of the
sample itself, but for the long insertions of breakpoints. bwa mem aligns the reads of the last three; the other
alignments are true.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pysam
from calling_data import align, index

from pairhmm.simulate.files import ReadWriter, write_fasta, write_truth
from pairhmm.simulate.reads import SimulatedReads, draw_reads
from pairhmm.simulate.reference import make_contig, repeat_families
from pairhmm.simulate.stutter import HIGHEST_RATE, Rates, find_tracts, stutter_rates
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
    divergence: tuple[float, ...]


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
    options.add_argument(
        "--divergence",
        type=float,
        nargs=2,
        default=DIVERGENCE,
        metavar=("LEAST", "MOST"),
        help="SNVs of a base of a copy (default: %(default)s)",
    )
    options.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    given = options.parse_args()
    rng = np.random.default_rng([given.seed, *given.kind.encode()])
    codes, tracts = make_contig(rng, given.length, repeat_families(rng))
    snvs, indels = round(SNVS_PER_BASE * given.length), round(INDELS_PER_BASE * given.length)
    variants = place_variants(rng, codes, tracts, snvs, indels, 50, MARGIN)
    reads = sequence(rng, both_copies(codes, variants), given.coverage)
    own = len(reads.first_is_left)
    whole = Sample(codes, variants, reads, given.coverage, tuple(given.divergence))
    sample, places = KINDS[given.kind](rng, whole, given.rate)
    write(given.output, sample, places)
    if given.kind in ALIGNED:
        align_anew(given.output)
    if given.mapq == "mixed":
        lower_mapping_qualities(rng, given.output / "reads.bam", own)


def both_copies(codes: np.ndarray, variants: list[TruthVariant]) -> list[SimulatedHaplotype]:
    """The two copies of a contig that a person has."""
    return [build_haplotype(codes, variants, copy) for copy in (0, 1)]


def sequence(
    rng: np.random.Generator, copies: list[SimulatedHaplotype], coverage: float, stutter: Rates | None = None
) -> SimulatedReads:
    """Reads of some copies of a contig, or of a part of it."""
    fragments = round(coverage * len(copies[0].codes) / (2 * READ_LENGTH))
    return draw_reads(rng, copies, fragments, READ_LENGTH, stutter=stutter)


def paralogue(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[Sample, Places]:
    """Reads of diverged copies that the reference lacks, aligned to what it has, at a share of the depth."""
    parts, places, end = [sample.reads], Places(), MARGIN
    while end < len(sample.codes):
        size = int(rng.integers(*SEGMENTS))
        start = end + int(rng.exponential(size * (1 / SEGMENT_SHARE - 1)))
        end = start + size
        if end > len(sample.codes) - MARGIN:
            break
        copy = sample.codes[start:end].copy()
        changed = rng.random(size) < rng.uniform(*sample.divergence)
        copy[changed] = (copy[changed] + rng.integers(1, 4, int(changed.sum()), dtype=np.uint8)) % 4
        foreign = SimulatedHaplotype(copy, np.arange(start, end, dtype=np.int32))
        parts.append(sequence(rng, [foreign], rate * sample.coverage))
        places.append((start, end))
    return sample._replace(reads=SimulatedReads.concatenate(parts)), places


def strand_motif(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[Sample, Places]:
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
    return sample, [(place, place + 1) for place in np.flatnonzero(is_place).tolist()]


def contamination(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[Sample, Places]:
    """Reads of another person at a share of the depth, who has half of the variants and as many others."""
    shared = [one for one in sample.variants if rng.random() < PERSONS_SHARE]
    wanted = len(sample.variants) - len(shared)
    taken = {one.start + i for one in sample.variants for i in range(-60, 120)}
    others = place_variants(rng, sample.codes, [], wanted, 0, 50, MARGIN)
    own = sorted([*shared, *(one for one in others if one.start not in taken)], key=lambda one: one.start)
    own = [replace(one, genotype=((1, 1), (0, 1), (1, 0))[int(rng.integers(3))]) for one in own]
    reads = sequence(rng, both_copies(sample.codes, own), rate * sample.coverage)
    return sample._replace(reads=SimulatedReads.concatenate([sample.reads, reads])), [
        (one.start, one.start + 1) for one in own
    ]


def stutter(rng: np.random.Generator, sample: Sample, rate: float) -> tuple[Sample, Places]:
    """Repeats gain and lose units so many times as often as in a library without PCR."""
    copies, rates = both_copies(sample.codes, sample.variants), np.minimum(HIGHEST_RATE, rate * stutter_rates())
    tracts = find_tracts(sample.codes, rates)
    reads = sequence(rng, copies, sample.coverage, rates)
    return sample._replace(reads=reads), list(zip(tracts.start.tolist(), tracts.end.tolist(), strict=True))


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
    "paralogue": paralogue,
    "strand-motif": strand_motif,
    "contamination": contamination,
    "stutter": stutter,
    "adaptors": adaptors,
    "tails": tails,
    "breakpoints": breakpoints,
}
ALIGNED = ("adaptors", "tails", "breakpoints")
"""Kinds whose reads have no true alignment, or whose alignments are what is asked."""


def write(folder: Path, sample: Sample, places: Places) -> None:
    """Write the files of a sample."""
    folder.mkdir(parents=True, exist_ok=True)
    size = len(sample.codes)
    write_fasta(folder / "reference.fa", {CONTIG: sample.codes})
    write_truth(folder / "truth.vcf.gz", {CONTIG: size}, {CONTIG: sample.variants}, "sample")
    # Copies with insertions are longer.
    longest = max(size, int(sample.reads.ends.max()))
    with ReadWriter(*_fastqs(folder), folder / "reads.bam", {CONTIG: longest}, "sample") as writer:
        writer.add(sample.reads)
    (folder / "places.bed").write_text("".join(f"{CONTIG}\t{start}\t{end}\n" for start, end in places))


def align_anew(folder: Path) -> None:
    """Put the alignments of bwa mem in place of the true ones."""
    index(folder / "reference.fa")
    align(folder / "reference.fa", _fastqs(folder), "sample").rename(folder / "reads.bam")
    pysam.index(str(folder / "reads.bam"))


def _fastqs(folder: Path) -> tuple[Path, Path]:
    return folder / "reads_1.fastq.gz", folder / "reads_2.fastq.gz"


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
