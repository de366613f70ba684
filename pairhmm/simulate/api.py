"""`simulate`: a genome, its variants and its reads, to compare a caller with a known truth."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pairhmm.arguments import AnyPath, path_of
from pairhmm.errors import InputError
from pairhmm.files.bgzip import LONGEST_FOR_TBI
from pairhmm.files.htslib import quiet
from pairhmm.files.output_folders import whole_folder
from pairhmm.models.profile import parameters_of
from pairhmm.simulate.files import ReadWriter, write_fasta, write_truth
from pairhmm.simulate.profile_errors import ProfileErrors
from pairhmm.simulate.reads import FRAGMENT_MEAN, FRAGMENT_SPREAD, draw_reads
from pairhmm.simulate.reference import make_contig, repeat_families
from pairhmm.simulate.variants import TooManyVariantsError, build_haplotype, place_variants

log = logging.getLogger(__name__)

SNVS_PER_BASE = 0.85e-3
INDELS_PER_BASE = 0.15e-3
REFERENCE, TRUTH, BAM = "reference.fa", "truth.vcf.gz", "reads.bam"
FASTQ_1, FASTQ_2 = "reads_1.fastq.gz", "reads_2.fastq.gz"
FILES = (REFERENCE, f"{REFERENCE}.fai", TRUTH, f"{TRUTH}.tbi", FASTQ_1, FASTQ_2, BAM, f"{BAM}.bai")
# Coverage falls off towards the ends of a contig, so no variant lies there.
MARGIN = 500
MIN_CONTIG = 2_000
# The longest contig that a BAI or TBI index can hold.
MAX_CONTIG = LONGEST_FOR_TBI - 1
MAX_COVERAGE = 100_000
# The shortest and the longest reads, in bases.
READ_LENGTHS = 20, 500
# What SAM allows in a read group's sample and VCF in a column's name, less white space.
SAMPLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class SimulatedData:
    """The files of a simulated data set, and what is in them.

    Attributes
    ----------
    snvs, indels : int
        Variants in the truth.
    pairs : int
        Read pairs.
    """

    reference: Path
    truth: Path
    fastq_1: Path
    fastq_2: Path
    bam: Path
    snvs: int
    indels: int
    pairs: int


class _Genome(NamedTuple):
    """The options of `simulate` that the genome and its variants follow from."""

    length: int
    contigs: int
    snvs: int
    indels: int
    max_indel: int
    seed: int
    genome_seed: int


class _Library(NamedTuple):
    """Those that reads follow from."""

    coverage: float
    read_length: int
    fragment_length: int
    fragment_spread: int
    sample: str
    errors: ProfileErrors | None


def simulate(
    output: AnyPath,
    *,
    length: int = 200_000,
    contigs: int = 1,
    coverage: float = 30.0,
    read_length: int = 150,
    fragment_length: int = FRAGMENT_MEAN,
    fragment_spread: int = FRAGMENT_SPREAD,
    snvs: int | None = None,
    indels: int | None = None,
    max_indel: int = 50,
    sample: str = "sample",
    seed: int = 1,
    genome_seed: int | None = None,
    profile_errors: AnyPath | None = None,
    overwrite: bool = False,
) -> SimulatedData:
    """Simulate a diploid sample with known variants, and its paired reads.

    The same arguments give the same bytes. Memory holds one contig at a time, at about 60 bytes a base for 30x.

    Parameters
    ----------
    output : path
        Folder for ``reference.fa``, ``truth.vcf.gz``, ``reads_1.fastq.gz``, ``reads_2.fastq.gz`` and ``reads.bam``
        (true alignments), with their indexes; made when missing.
    length : int
        Bases of the genome, shared evenly among the contigs.
    contigs : int
        How many contigs; their names are chr1, chr2, ...
    coverage : float
        Mean depth.
    read_length : int
        Bases of each read, from 20 to 500.
    fragment_length, fragment_spread : int
        Mean and standard deviation of the fragments' lengths, bases. Mates read a fragment from its two ends, so that
        they overlap where it is shorter than two reads. No fragment is shorter than a read.
    snvs, indels : int, optional
        How many of each the genome has; by default 0.85 and 0.15 in a thousand bases.
    max_indel : int
        Largest insertion or deletion, bases; less than `read_length`.
    sample : str
        Name in the VCF and in the read group.
    seed : int
        Seed of every random choice, at least 0.
    genome_seed : int, optional
        Seed of the reference; by default `seed`. Samples with the same `genome_seed`, `length` and `contigs` share
        their reference.
    profile_errors : path, optional
        Parameters of the profile model (TOML, or the preset ``normalised``) that reads get gaps and letters from, under
        the errors of calling that their qualities promise. Without it, bases slip in runs of one letter.
    overwrite : bool
        Replace files of these names in the folder.

    Returns
    -------
    SimulatedData
        Paths of the files, and how many variants and read pairs there are.

    Raises
    ------
    InputError
        For an argument out of range, for more variants than fit, and for a file that is there and may not be replaced.

    Examples
    --------
    >>> pairhmm.simulate("data", length=50_000, coverage=20, seed=7)  # doctest: +SKIP
    """
    snvs = round(SNVS_PER_BASE * length) if snvs is None else snvs
    indels = round(INDELS_PER_BASE * length) if indels is None else indels
    of_genome = seed if genome_seed is None else genome_seed
    errors = None if profile_errors is None else _profile_errors(path_of(profile_errors))
    genome = _Genome(length, contigs, snvs, indels, max_indel, seed, of_genome)
    library = _Library(coverage, read_length, fragment_length, fragment_spread, sample, errors)
    _check(genome, library)
    folder = Path(path_of(output))
    with whole_folder(folder, FILES, overwrite) as scratch:
        pairs = _make(scratch, genome, library)
    return SimulatedData(
        reference=folder / REFERENCE,
        truth=folder / TRUTH,
        fastq_1=folder / FASTQ_1,
        fastq_2=folder / FASTQ_2,
        bam=folder / BAM,
        snvs=snvs,
        indels=indels,
        pairs=pairs,
    )


def _profile_errors(path: str) -> ProfileErrors:
    model = parameters_of(path)
    if model.by_copies is not None:
        log.warning("%s: gaps are drawn with the MI and MD of [transitions], whatever the copies of a repeat", path)
    wrong = model.unlike_one()
    if wrong:
        raise InputError(path, "", f"{wrong}: no reads can be drawn", "give distributions, such as pairhmm fit writes")
    errors = ProfileErrors.of(model)
    if errors.extension.max() >= 1:
        raise InputError(path, "transitions", "a gap never ends", "give II and DD below 1")
    return errors


def _check(genome: _Genome, library: _Library) -> None:
    length, contigs, snvs, indels, max_indel, seed, genome_seed = genome
    coverage, read_length, fragment_length, fragment_spread, sample, _ = library
    several = max(contigs, 1)
    shortest, longest = READ_LENGTHS
    rules = [
        (contigs >= 1, "--contigs", "must be at least 1"),
        (length >= MIN_CONTIG * several, "--length", f"must be at least {MIN_CONTIG} bases a contig"),
        (length <= MAX_CONTIG * several, "--length", f"must be at most {MAX_CONTIG} bases a contig"),
        (0 < coverage <= MAX_COVERAGE, "--coverage", f"must be above 0 and at most {MAX_COVERAGE}"),
        (shortest <= read_length <= longest, "--read-length", f"must be from {shortest} to {longest}"),
        (1 <= fragment_length <= MAX_CONTIG, "--fragment-length", f"must be from 1 to {MAX_CONTIG}"),
        (0 <= fragment_spread <= MAX_CONTIG, "--fragment-spread", f"must be from 0 to {MAX_CONTIG}"),
        (snvs >= 0, "--snvs", "must not be negative"),
        (indels >= 0, "--indels", "must not be negative"),
        (1 <= max_indel < read_length, "--max-indel", "must be from 1 to --read-length minus 1"),
        (seed >= 0, "--seed", "must not be negative"),
        (genome_seed >= 0, "--genome-seed", "must not be negative"),
        (SAMPLE_NAME.fullmatch(sample) is not None, "--sample", "must be letters, digits, '.', '_' or '-'"),
    ]
    for holds, option, rule in rules:
        if not holds:
            raise InputError(option, "", rule, "")


def _share(total: int, contigs: int, index: int) -> int:
    return total * (index + 1) // contigs - total * index // contigs


def _make(folder: Path, genome: _Genome, library: _Library) -> int:
    """Write all files into `folder`; returns how many pairs of reads."""
    # Independent streams, so that coverage or read length leave the genome and its variants as they are.
    spawned = (np.random.SeedSequence(seed).spawn(1 + 3 * genome.contigs) for seed in (genome.genome_seed, genome.seed))
    of_genome, of_sample = ([np.random.default_rng(seed) for seed in seeds] for seeds in spawned)
    families = repeat_families(of_genome[0])
    sequences, variants = {}, {}
    for index in range(genome.contigs):
        name = f"chr{index + 1}"
        size, snvs, indels = (_share(total, genome.contigs, index) for total in (genome.length, *genome[2:4]))
        codes, tracts = make_contig(of_genome[1 + 3 * index], size, families)
        try:
            variants[name] = place_variants(
                of_sample[2 + 3 * index], codes, tracts, snvs, indels, max_indel=genome.max_indel, margin=MARGIN
            )
        except TooManyVariantsError as error:
            rule = f"only {error.placed} of {snvs + indels} variants fit on {name}"
            raise InputError("--snvs/--indels", "", rule, "ask for fewer or raise --length") from error
        sequences[name] = codes
    sizes = {name: len(codes) for name, codes in sequences.items()}
    write_fasta(folder / REFERENCE, sequences)
    write_truth(folder / TRUTH, sizes, variants, library.sample)
    coverage, read_length, mean, spread, sample, errors = library
    pairs = 0
    with quiet(), ReadWriter(folder / FASTQ_1, folder / FASTQ_2, folder / BAM, sizes, sample) as writer:
        for index, (name, codes) in enumerate(sequences.items()):
            copies = build_haplotype(codes, variants[name], 0), build_haplotype(codes, variants[name], 1)
            fragments = max(1, round(coverage * len(codes) / (2 * read_length)))
            writer.add(draw_reads(of_sample[3 + 3 * index], copies, fragments, read_length, errors, mean, spread))
            pairs += fragments
    return pairs
