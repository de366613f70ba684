"""The verb `call`: genotypes of candidate variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.evidence import Evidence
from pairhmm.genotypes import GenotypeOptions, SampleGenotype, allele_likelihoods, call_sample, site_quality
from pairhmm.io.calls import open_calls
from pairhmm.io.destinations import check_apart
from pairhmm.models.gatk import GatkOptions, floor_scores, set_aside
from pairhmm.regions import Region
from pairhmm.runs import RunOptions, open_run
from pairhmm.variants import Variant

# log10: further apart than any two likelihoods that can be told apart.
_NO_FLOOR = 300.0


@dataclass(frozen=True, slots=True)
class Site:
    """A genotyped candidate.

    Attributes
    ----------
    variant : Variant
    quality : float
        QUAL, Phred.
    samples : list of SampleGenotype
    """

    variant: Variant
    quality: float
    samples: list[SampleGenotype]

    @property
    def is_variant(self) -> bool:
        """Whether some sample has an alternative allele."""
        return any(sample.alleles and any(sample.alleles) for sample in self.samples)


def call(
    alignments: Sequence[str],
    reference: str,
    candidates: str | None = None,
    haplotypes: str | None = None,
    regions: Sequence[str] = (),
    regions_file: str | None = None,
    options: RunOptions | None = None,
    genotypes: GenotypeOptions | None = None,
) -> Iterator[Site]:
    """Genotype candidates.

    Parameters
    ----------
    alignments : sequence of str
        BAM or CRAM files, sorted by coordinate. Samples are those of their read groups.
    reference : str
        FASTA.
    candidates : str, optional
        VCF or BCF: each of its records is genotyped.
    haplotypes : str, optional
        FASTA of the haplotypes of the one region in `regions`: what they differ in is genotyped. With neither,
        candidates are found in the reads, and those are given that some sample has.
    regions : sequence of str
        ``chr:begin-end``, 1-based inclusive; everything without any. Needs indexed alignments.
    regions_file : str, optional
        BED, 0-based half-open.
    options : RunOptions, optional
    genotypes : GenotypeOptions, optional

    Yields
    ------
    Site
        In coordinate order; memory does not grow with the files.

    Raises
    ------
    InputError
        Naming file, record and cure.
    """
    options, genotypes = options or RunOptions(), genotypes or GenotypeOptions()
    with open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options) as run:
        _check_names(genotypes, run.samples)
        for evidence in run.evidence():
            yield from genotype_region(evidence, run.samples, genotypes, options.model, run.discovered)


def write_calls(
    alignments: Sequence[str],
    reference: str,
    output: str,
    candidates: str | None = None,
    haplotypes: str | None = None,
    regions: Sequence[str] = (),
    regions_file: str | None = None,
    options: RunOptions | None = None,
    genotypes: GenotypeOptions | None = None,
    min_quality: float = 30.0,
    provenance: Mapping[str, str] | None = None,
    watch: Callable[[Region], None] | None = None,
) -> None:
    """Write genotypes as VCF or BCF; the parameters are those of `call`.

    Parameters
    ----------
    output : str
        ``-`` for VCF to stdout; the format follows the extension (`pairhmm.io.calls`).
    min_quality : float
        QUAL below which a record's filter is LowQual.
    provenance : mapping of str to str, optional
        Header lines ``##key=value``; what scored joins them. None of them without any, for reproducible bytes.
    watch : callable, optional
        Told of each region as it is scored.
    """
    options, genotypes = options or RunOptions(), genotypes or GenotypeOptions()
    check_apart((*alignments, reference, candidates, haplotypes, regions_file), [("-o", output)])
    with open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options) as run:
        _check_names(genotypes, run.samples)
        with open_calls(
            output,
            run.contigs,
            run.samples,
            min_quality=min_quality,
            provenance={**provenance, "pairhmmBackend": run.backend} if provenance else {},
        ) as writer:
            for evidence in run.evidence(watch):
                for site in genotype_region(evidence, run.samples, genotypes, options.model, run.discovered):
                    writer.write(site.variant, site.quality, site.samples)


def _check_names(options: GenotypeOptions, samples: Sequence[str]) -> None:
    """What is said of samples is said of those that are there."""
    for name in (*options.ploidies.of_sample, *options.ploidies.sex_of):
        if name not in samples:
            near = ", ".join(samples[:3]) + (", ..." if len(samples) > 3 else "")
            raise InputError("--sample-ploidy, --sample-sex", name, "no such sample", f"samples are {near}")


def genotype_region(
    evidence: Evidence, samples: Sequence[str], options: GenotypeOptions, model: GatkOptions, discovered: bool
) -> Iterator[Site]:
    """Genotype each candidate of a region.

    Parameters
    ----------
    evidence : Evidence
    samples : sequence of str
    options : GenotypeOptions
    model : GatkOptions
        Which reads fit no haplotype and are set aside, and how far a haplotype may lie below a read's best.
    discovered : bool
        Leave out candidates that no sample has, and alleles that none has.
    """
    used = ~set_aside(evidence.log10, evidence.length, model)
    scores = floor_scores(evidence.log10[used], model)
    floor = _NO_FLOOR if model.score_floor is None else model.score_floor
    start, end, sample = evidence.start[used], evidence.end[used], evidence.sample[used]
    fragments = _fragments([name for name, keep in zip(evidence.names, used.tolist(), strict=True) if keep])
    alleles = np.array([haplotype.alleles for haplotype in evidence.haplotypes], dtype=np.int64)
    for index, variant in enumerate(evidence.region.variants):
        first, last = evidence.region.extents[index]
        reads = np.flatnonzero((start < last) & (end > first))
        view = scores[reads], sample[reads], fragments[reads]
        ploidies = [options.ploidies.of(name, variant.chrom, variant.pos, options.ploidy) for name in samples]
        site = _site(variant, alleles[:, index], *view, ploidies, options, floor)
        if discovered:
            if not site.is_variant:
                continue
            seen = {allele for one in site.samples for allele in one.alleles or ()} - {0}
            if len(seen) < len(variant.alts):
                renumber = np.full(len(variant.alts) + 1, -1)
                renumber[[0, *sorted(seen)]] = np.arange(len(seen) + 1)
                site = _site(
                    _with_alleles(variant, sorted(seen)), renumber[alleles[:, index]], *view, ploidies, options, floor
                )
        yield site


def _site(
    variant: Variant,
    allele_of: NDArray[np.int64],
    scores: NDArray[np.float64],
    sample: NDArray[np.int32],
    fragments: NDArray[np.int64],
    ploidies: Sequence[int],
    options: GenotypeOptions,
    floor: float,
) -> Site:
    priors = tuple(options.snv_prior if len(alt) == len(variant.ref) else options.indel_prior for alt in variant.alts)
    rows = allele_likelihoods(scores, allele_of, len(variant.alts) + 1, floor)
    samples = []
    for index, ploidy in enumerate(ploidies):
        ours = sample == index
        samples.append(call_sample(rows[ours], fragments[ours], priors, ploidy))
    return Site(variant, site_quality(samples), samples)


def _fragments(names: list[str]) -> NDArray[np.int64]:
    """Equal numbers for equal names."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)


def _with_alleles(variant: Variant, kept: list[int]) -> Variant:
    """The variant with some of its alternative alleles, and no more reference bases than they need."""
    alts = [variant.alts[allele - 1] for allele in kept]
    ref = variant.ref
    while len(ref) > 1 and all(len(alt) > 1 and alt[-1] == ref[-1] for alt in alts):
        ref, alts = ref[:-1], [alt[:-1] for alt in alts]
    return Variant(variant.chrom, variant.pos, ref, tuple(alts), variant.id, variant.record_index)
