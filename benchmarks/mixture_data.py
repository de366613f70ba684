"""Simulated mixtures of haplotypes with errors that repeat: the data of benchmarks/mixtures.py.

A random genome has alleles on minor haplotypes, each with a fraction of the molecules. Pairs of 150 bases have
qualities of the simulator up to 30, and errors at their rate. On top of these, unseen by the qualities, are

* context: behind each of four motifs of three bases, a base is read as another one; the rate grows with the square of
  the cycle up to this, times a factor of the place (gamma, shape 4);
* place: the same on one strand of one place in a kilobase, behind no motif;
* ends: at one place in a kilobase, bases of reads that begin or end within six bases of it are another one;
* damage: C is read as T, and G as A;
* slips: repeats gain and lose units so many times as often as in a library without PCR.

Where molecules are copied, each has one to so many pairs of reads, which the tag MI tells. All copies have the damage,
and the errors of copying (`COPYING`); the other errors are those of each read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pysam
from calling_data import align, index

from pairhmm.simulate.files import ReadWriter, write_fasta
from pairhmm.simulate.reads import ERROR_OF_QUALITY, SimulatedReads, draw_qualities, draw_reads
from pairhmm.simulate.stutter import stutter_rates
from pairhmm.simulate.variants import SimulatedHaplotype, TruthVariant, build_haplotype, left_align, place_variants

CONTIG, READ_LENGTH, MARGIN = "virus", 150, 200
LETTERS = "ACGT"
MOTIFS, END = 4, 6
BEYOND = 600
"""Bases of a circle that are sequenced once more behind its end: fragments are shorter."""

COPYING = 1e-5
"""How often the first copy of a molecule has another base: all further ones have it, too."""

MINOR = 4
"""Haplotypes that have the alleles, in turn."""


class Errors(NamedTuple):
    """Rates of errors that qualities do not know of."""

    quality: float = 30
    context: float = 0.02
    place: float = 0.05
    ends: float = 0.3
    damage: float = 0.0003
    slips: float = 3

    @property
    def label(self) -> str:
        """Part of a folder's name, empty for the defaults."""
        changed = [f"-{name}{value:g}" for name, value in self._asdict().items() if value != getattr(Errors(), name)]
        return "".join(changed)


@dataclass(frozen=True, slots=True)
class Mixture:
    """The files of a mixture, the fraction of each allele, (0-based start, REF, ALT), and the haplotypes' weights."""

    folder: Path
    codes: np.ndarray
    truth: dict[tuple[int, str, str], float]
    haplotypes: list[tuple[SimulatedHaplotype, float]]

    @property
    def length(self) -> int:
        """Bases of the genome."""
        return len(self.codes)

    @property
    def reference(self) -> Path:
        """The FASTA."""
        return self.folder / "reference.fa"

    @property
    def bam(self) -> Path:
        """The alignments."""
        return self.folder / "reads.bam"


class Scenario(NamedTuple):
    """What is simulated: alleles of a kind ("snv" or "indel"), one in `apart` bases, and the depth.

    `fraction` is that of each minor haplotype, or the least of `weights`: those of haplotypes of which each allele has
    some. With `copies`, the depth is that of molecules, each of which has up to so many pairs of reads.
    """

    name: str
    length: int
    depth: int
    fraction: float
    kind: str = "snv"
    apart: int = 120
    longest: int = 30
    weights: tuple[float, ...] = ()
    circular: bool = False
    copies: int = 0


def text(codes: Sequence[int]) -> str:
    """Letters of codes."""
    return "".join(LETTERS[code] for code in codes)


def allele_of(variant: TruthVariant) -> tuple[int, str, str]:
    """Start, REF and ALT."""
    return variant.start, text(variant.ref), text(variant.alt)


def normalised(codes: np.ndarray, start: int, ref: str, alt: str) -> Iterator[tuple[int, str, str]]:
    """SNVs alone, and insertions and deletions shifted left behind their anchor base."""
    ref, alt = ref.upper(), alt.upper()
    if len(ref) == len(alt):
        yield from ((start + i, a, b) for i, (a, b) in enumerate(zip(ref, alt, strict=True)) if a != b)
        return
    while min(len(ref), len(alt)) > 0 and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
    while min(len(ref), len(alt)) > 0 and ref[0] == alt[0]:
        start, ref, alt = start + 1, ref[1:], alt[1:]
    if ref and alt:
        yield start, ref, alt
        return
    placed = left_align(codes, start, [LETTERS.index(one) for one in ref], [LETTERS.index(one) for one in alt])
    if placed is not None:
        yield placed[0], text(placed[1]), text(placed[2])


def sequence(
    rng: np.random.Generator, haplotypes: Sequence[tuple[SimulatedHaplotype, float]], errors: Errors
) -> SimulatedReads:
    """Reads of haplotypes, each at a depth."""
    parts = []
    for haplotype, depth in haplotypes:
        pairs = rng.poisson(depth * len(haplotype.codes) / (2 * READ_LENGTH))
        rates = stutter_rates() * errors.slips
        parts.append(draw_reads(rng, [haplotype], int(pairs), READ_LENGTH, stutter=np.minimum(rates, 0.3)))
    reads = SimulatedReads.concatenate(parts)
    lower_qualities(rng, reads, int(errors.quality))
    return reads


def sequence_copies(
    rng: np.random.Generator, haplotypes: Sequence[tuple[SimulatedHaplotype, float]], errors: Errors, most: int
) -> tuple[SimulatedReads, np.ndarray]:
    """Reads of copied molecules, without gaps, and the molecule of each pair."""
    parts, molecules = [], [np.zeros(0, dtype=np.int64)]
    for haplotype, depth in haplotypes:
        pairs = rng.poisson(depth * len(haplotype.codes) / (2 * READ_LENGTH))
        drawn = draw_reads(rng, [haplotype], int(pairs), READ_LENGTH)
        plain = np.ones(2 * pairs, dtype=bool)
        plain[list(drawn.cigars)] = False
        own = np.flatnonzero(plain[::2] & plain[1::2])
        codes = drawn.codes.reshape(pairs, 2, READ_LENGTH)
        starts, ends = drawn.starts.reshape(pairs, 2), drawn.ends.reshape(pairs, 2)
        for first in range(0, len(own), 1 << 14):
            some = own[first : first + (1 << 14)]
            codes[some] = copied(rng, haplotype.codes[starts[some][..., None] + np.arange(READ_LENGTH)], errors)
        each = np.repeat(own, rng.integers(1, most + 1, len(own)))
        molecules.append(molecules[-1].max(initial=-1) + 1 + each)
        rows = codes[each].reshape(-1, READ_LENGTH), np.empty((2 * len(each), READ_LENGTH), dtype=np.uint8)
        parts.append(
            SimulatedReads(*rows, starts[each].ravel(), ends[each].ravel(), drawn.first_is_left[each], cigars={})
        )
    reads = SimulatedReads.concatenate(parts)
    for first in range(0, len(reads.codes), 1 << 15):
        codes, quals = reads.codes[first : first + (1 << 15)], reads.quals[first : first + (1 << 15)]
        is_second = np.repeat(reads.first_is_left, 2)[first : first + (1 << 15)] == (np.arange(len(codes)) % 2 == 1)
        quals[:] = draw_qualities(rng, len(codes), READ_LENGTH, is_second)
        quals[1::2] = quals[1::2, ::-1]
        misread(rng, codes, ERROR_OF_QUALITY[quals])
    lower_qualities(rng, reads, int(errors.quality))
    return reads, np.concatenate(molecules)


def copied(rng: np.random.Generator, codes: np.ndarray, errors: Errors) -> np.ndarray:
    """Molecules with what all of their copies have."""
    drawn = rng.random(codes.shape, dtype=np.float32)
    for old, new in ((1, 3), (2, 0)):
        codes[(codes == old) & (drawn > 1 - errors.damage)] = new
    misread(rng, codes, COPYING)
    return codes


def misread(rng: np.random.Generator, codes: np.ndarray, rate: np.ndarray | float) -> None:
    """Make bases other ones, in place."""
    wrong = rng.random(codes.shape, dtype=np.float32) < rate
    codes[wrong] = (codes[wrong] + rng.integers(1, 4, int(wrong.sum()), dtype=np.uint8)) % 4


def lower_qualities(rng: np.random.Generator, reads: SimulatedReads, most: int) -> None:
    """Give better bases the quality `most`, and its errors."""
    for first in range(0, len(reads.codes), 1 << 15):
        codes, quals = reads.codes[first : first + (1 << 15)], reads.quals[first : first + (1 << 15)]
        misread(rng, codes, np.maximum(0, ERROR_OF_QUALITY[most] - ERROR_OF_QUALITY[quals]))
        np.minimum(quals, most, out=quals)


class RepeatedErrors:
    """Errors at places of a genome: the highest rate and the letter at each, by strand."""

    def __init__(self, rng: np.random.Generator, codes: np.ndarray, errors: Errors) -> None:
        size = len(codes)
        self.errors = errors
        self.rate = np.zeros((2, size + READ_LENGTH), dtype=np.float32)
        self.letter = np.zeros((2, size + READ_LENGTH), dtype=np.uint8)
        motifs, letters = rng.integers(0, 4, (MOTIFS, 3)), rng.integers(0, 4, MOTIFS)
        for strand, read in enumerate((codes, 3 - codes[::-1])):
            for motif, letter in zip(motifs, letters, strict=True):
                at = np.flatnonzero(np.all([read[i : size - 3 + i] == motif[i] for i in range(3)], axis=0)) + 3
                at = at[read[at] != letter]
                places = at if strand == 0 else size - 1 - at
                self.rate[strand, places] = errors.context * rng.gamma(4, 0.25, len(at))
                self.letter[strand, places] = letter if strand == 0 else 3 - letter
        for place in rng.integers(0, size, size // 1000):
            strand = int(rng.integers(2))
            self.rate[strand, place] = errors.place * rng.gamma(4, 0.25)
            self.letter[strand, place] = (codes[place] + rng.integers(1, 4)) % 4
        self.end_letter = np.full(size + READ_LENGTH, 9, dtype=np.uint8)
        ends = rng.integers(0, size, size // 1000)
        self.end_letter[ends] = (codes[ends] + rng.integers(1, 4, len(ends))) % 4

    def add(self, rng: np.random.Generator, reads: SimulatedReads) -> None:
        """Put the errors into reads whose alignments have no gaps."""
        plain = np.ones(len(reads.codes), dtype=bool)
        plain[list(reads.cigars)] = False
        for first in range(0, len(plain), 1 << 15):
            for strand in (0, 1):
                rows = np.arange(first + strand, min(len(plain), first + (1 << 15)), 2)
                self._add(rng, reads, rows[plain[rows]], strand)

    def _add(self, rng: np.random.Generator, reads: SimulatedReads, rows: np.ndarray, strand: int) -> None:
        column = np.arange(READ_LENGTH)
        cycle = column if strand == 0 else column[::-1]
        places, codes = reads.starts[rows][:, None] + column, reads.codes[rows]
        drawn = rng.random(codes.shape, dtype=np.float32)
        grown = (cycle / READ_LENGTH).astype(np.float32) ** 2
        for old, new in ((1, 3), (2, 0)):
            codes[(codes == old) & (drawn > 1 - self.errors.damage)] = new
        wrong = drawn < self.rate[strand][places] * grown
        codes[wrong] = self.letter[strand][places][wrong]
        at_end = np.minimum(column, column[::-1]) < END
        wrong = at_end & (self.end_letter[places] < 4) & (drawn < self.errors.ends)
        codes[wrong] = self.end_letter[places][wrong]
        reads.codes[rows] = codes


def write_reads(folder: Path, codes: np.ndarray, reads: SimulatedReads, aligned: bool) -> None:
    """Write the BAM: with true alignments, or aligned with bwa mem."""
    mates = folder / "reads_1.fastq.gz", folder / "reads_2.fastq.gz"
    with ReadWriter(*mates, folder / "reads.bam", {CONTIG: len(codes)}, "sample") as writer:
        writer.add(reads)
    if aligned:
        index(folder / "reference.fa")
        align(folder / "reference.fa", mates, "sample").rename(folder / "reads.bam")
        pysam.index(str(folder / "reads.bam"))
    for path in mates:
        path.unlink()


def alleles(rng: np.random.Generator, codes: np.ndarray, scenario: Scenario) -> list[TruthVariant]:
    """SNVs, or insertions and deletions of any length."""
    margin = 1 if scenario.circular else MARGIN
    if scenario.kind == "snv":
        placed = place_variants(rng, codes, [], len(codes) // scenario.apart, 0, 30, margin)
        return [replace(one, genotype=(1, 1)) for one in placed]
    placed = []
    for at in range(margin, len(codes) - margin - scenario.apart, scenario.apart):
        at, size = at + int(rng.integers(scenario.apart * 2 // 3)), int(rng.integers(1, scenario.longest + 1))
        deleted = codes[at : at + size].tolist() if rng.random() < 0.5 else []
        draft = left_align(codes, at, deleted, [] if deleted else rng.integers(0, 4, size).tolist())
        if draft is not None:
            placed.append(TruthVariant(*draft, (1, 1)))
    return placed


def mixed(rng: np.random.Generator, scenario: Scenario, alleles: int) -> tuple[np.ndarray, np.ndarray]:
    """Which haplotypes have each allele (bool, [alleles, haplotypes]), and the weights of the haplotypes."""
    if not scenario.weights:
        carried = np.arange(alleles)[:, None] % MINOR == np.arange(MINOR + 1)
        return carried, np.array([scenario.fraction] * MINOR + [1 - MINOR * scenario.fraction])
    carried = rng.random((alleles, len(scenario.weights))) < 0.4
    carried[np.arange(alleles), rng.integers(0, len(scenario.weights), alleles)] = True
    return carried, np.array(scenario.weights)


def make(folder: Path, scenario: Scenario, errors: Errors, seed: int) -> Mixture:
    """The mixture of a seed, from its folder if it is there."""
    rng = np.random.default_rng([seed, *scenario.name.encode()])
    codes = rng.choice(4, scenario.length, p=(0.3, 0.2, 0.2, 0.3)).astype(np.uint8)
    placed = alleles(rng, codes, scenario)
    carried, weights = mixed(rng, scenario, len(placed))
    fractions = (carried * weights).sum(axis=1).tolist()
    truth = dict(zip(map(allele_of, placed), fractions, strict=True))
    # A circle goes on behind its end.
    beyond = BEYOND if scenario.circular else 0
    placed += [replace(one, start=one.start + len(codes)) for one in placed if one.start < beyond - 100]
    carried = np.concatenate((carried, carried[: len(placed) - len(carried)]))
    whole = np.concatenate((codes, codes[:beyond]))
    haplotypes = [
        (build_haplotype(whole, [one for one, has in zip(placed, own, strict=True) if has], 0), weight)
        for own, weight in zip(carried.T, weights, strict=True)
    ]
    mixture = Mixture(folder, codes, truth, haplotypes)
    if mixture.bam.with_suffix(".bam.bai").exists():
        return mixture
    folder.mkdir(parents=True, exist_ok=True)
    write_fasta(mixture.reference, {CONTIG: codes})
    depths = [(haplotype, weight * scenario.depth) for haplotype, weight in haplotypes]
    if scenario.copies:
        reads, molecules = sequence_copies(rng, depths, errors, scenario.copies)
        RepeatedErrors(rng, whole, errors._replace(damage=0)).add(rng, reads)
    else:
        reads, molecules = sequence(rng, depths, errors), None
        RepeatedErrors(rng, whole, errors).add(rng, reads)
    write_reads(folder, whole, reads, scenario.kind != "snv" or scenario.circular)
    if molecules is not None:
        tag(mixture.bam, molecules)
    return mixture


def tag(bam: Path, molecules: np.ndarray) -> None:
    """Tell the molecule of each pair of reads, whose name ends with its number."""
    untagged = bam.rename(bam.with_name("untagged.bam"))
    with pysam.AlignmentFile(str(untagged)) as reads, pysam.AlignmentFile(str(bam), "wb", template=reads) as tagged:
        for read in reads:
            read.set_tag("MI", str(molecules[int((read.query_name or "").rpartition(":")[2])]))
            tagged.write(read)
    untagged.unlink()
    pysam.index(str(bam))


SCENARIOS = [
    Scenario("SNVs 1% 2000x", 10_000, 2_000, 0.01),
    Scenario("SNVs 0.5% 10000x", 10_000, 10_000, 0.005),
    Scenario("indels 2% 2000x", 20_000, 2_000, 0.02, "indel", 300),
    Scenario("long indels 2% 2000x", 20_000, 2_000, 0.02, "indel", 500, 80),
    Scenario("genome 10000x", 30_000, 10_000, 0.005, weights=(0.5, 0.3, 0.13, 0.05, 0.01, 0.005, 0.005)),
    Scenario("families 0.1% 10000 molecules", 5_000, 10_000, 0.001, apart=80, copies=8),
    Scenario("strains 5000x", 1_500, 5_000, 0.01, apart=12, weights=(0.6, 0.25, 0.1, 0.04, 0.01)),
    Scenario("near strains 5000x", 1_500, 5_000, 0.01, apart=16, weights=(0.6, 0.25, 0.1, 0.04, 0.01)),
    Scenario("far strains 5000x", 1_500, 5_000, 0.01, apart=6, weights=(0.6, 0.25, 0.1, 0.04, 0.01)),
    Scenario("circle 5000x", 16_500, 5_000, 0.01, apart=82, weights=(0.5, 0.2, 0.15, 0.1, 0.04, 0.01), circular=True),
]
