"""The verb `call`: genotypes of candidate variants."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm.commands.keywords import CallKeywords, with_keywords
from pairhmm.errors import InputError
from pairhmm.evidence.run import Run, RunOptions, Watch, open_run
from pairhmm.evidence.stream import Evidence, without_nuisances
from pairhmm.genomics.genotypes import (
    MAX_GENOTYPES,
    GenotypeOptions,
    SampleGenotype,
    allele_likelihoods,
    call_sample,
    site_quality,
)
from pairhmm.genomics.variants import Variant
from pairhmm.interface.arguments import AnyPath, Paths, Texts, path_of, paths_of
from pairhmm.interface.options import check_number
from pairhmm.io.files.destinations import check_apart
from pairhmm.io.variants.calls import open_calls
from pairhmm.models.gatk import GatkOptions, floor_scores

log = logging.getLogger(__name__)

# log10: further apart than any two likelihoods that can be told apart.
_NO_FLOOR = 300.0
# A share of a sample's reads over a listed site: less than a chromosome of two has, more than mapping errors do.
MANY_SET_ASIDE = 0.2


@dataclass(frozen=True, slots=True)
class Site:
    """A genotyped candidate.

    Attributes
    ----------
    variant : Variant
    quality : float
        QUAL, Phred.
    samples : list of SampleGenotype
    names : tuple of str
        Of the samples, in their order.
    left_out : int
        Alternative alleles that were not weighed in some sample (`pairhmm.genomics.genotypes.MAX_GENOTYPES`).
    """

    variant: Variant
    quality: float
    samples: list[SampleGenotype]
    names: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def is_variant(self) -> bool:
        """Whether some sample has an alternative allele."""
        return any(sample.alleles and any(sample.alleles) for sample in self.samples)

    @property
    def genotypes(self) -> dict[str, SampleGenotype]:
        """The genotype of each sample by its name."""
        return dict(zip(self.names, self.samples, strict=True))


def call(
    alignments: Paths,
    reference: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Texts = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    genotypes: GenotypeOptions | None = None,
    **keywords: Unpack[CallKeywords],
) -> Iterator[Site]:
    """Genotype candidates.

    Parameters
    ----------
    alignments : path or sequence of paths
        BAM or CRAM files, sorted by coordinate. Samples are those of their read groups.
    reference : path
        FASTA.
    candidates : path, optional
        VCF or BCF: each of its records is genotyped.
    haplotypes : path, optional
        FASTA of the haplotypes of the one region in `regions`: what they differ in is genotyped. With neither,
        candidates are found in the reads, and those are given that some sample has.
    regions : str or sequence of str
        ``chr:begin-end``, 1-based inclusive; everything without any. Needs indexed alignments.
    regions_file : path, optional
        BED, 0-based half-open.
    options : RunOptions, optional
    genotypes : GenotypeOptions, optional
    **keywords
        Fields of `RunOptions` and `GenotypeOptions` by name, such as ``threads=2`` or ``ploidy=1``; they go before
        those of `options` and `genotypes`.

    Returns
    -------
    iterator of Site
        In coordinate order; memory does not grow with the files.

    Raises
    ------
    InputError
        Naming file, record and cure.
    """
    chosen = with_keywords("call", keywords, options or RunOptions(), genotypes or GenotypeOptions())
    options, genotypes = chosen
    opening = open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options)
    return _sites_of(opening, options, genotypes)


def _sites_of(opening: AbstractContextManager[Run], options: RunOptions, genotypes: GenotypeOptions) -> Iterator[Site]:
    with opening as run:
        _check_names(genotypes, run.samples)
        yield from _sites(run, genotypes, options.model)


def write_calls(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Texts = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    genotypes: GenotypeOptions | None = None,
    min_quality: float = 30.0,
    provenance: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    **keywords: Unpack[CallKeywords],
) -> None:
    """Write genotypes as VCF or BCF; the parameters are those of `call`.

    Parameters
    ----------
    output : path
        ``-`` for VCF to stdout; the format follows the extension (`pairhmm.io.variants.calls`).
    min_quality : float
        QUAL below which a record's filter is LowQual; where every genotype is the reference, GQ.
    provenance : mapping of str to str, optional
        Header lines ``##key=value``; what scored joins them. None of them without any, for reproducible bytes.
    watch : callable, optional
        Told of each region as it is scored, and of the share of the run that is done then.
    """
    chosen = with_keywords("write_calls", keywords, options or RunOptions(), genotypes or GenotypeOptions())
    options, genotypes = chosen
    check_number("min_quality", min_quality, 0)
    check_apart((*paths_of(alignments), reference, candidates, haplotypes, regions_file), [("-o", output)])
    with open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options) as run:
        _check_names(genotypes, run.samples)
        with open_calls(
            path_of(output),
            run.contigs,
            run.samples,
            min_quality=min_quality,
            reference=path_of(reference),
            provenance={**provenance, "pairhmmBackend": run.backend} if provenance else {},
        ) as writer:
            for site in _sites(run, genotypes, options.model, watch):
                writer.write(site.variant, site.quality, site.samples)


def _sites(run: Run, options: GenotypeOptions, model: GatkOptions, watch: Watch | None = None) -> Iterator[Site]:
    """The sites of a run; how many had more genotypes than are weighed is announced at the end."""
    limited = 0
    refined = on_listed_alleles if run.listed else None
    for evidence in run.evidence(watch, refined):
        for site in genotype_region(evidence, run.samples, options, model, run.discovered):
            limited += site.left_out > 0
            yield site
    if limited:
        log.warning(
            "%d sites have more than %d genotypes by their alleles and ploidy: the alternative alleles with the fewest"
            " reads were not weighed there, and where they stay in a record its PL is missing",
            limited,
            MAX_GENOTYPES,
        )


def _check_names(options: GenotypeOptions, samples: Sequence[str]) -> None:
    """What is said of samples is said of those that are there."""
    for name in (*options.ploidies.of_sample, *options.ploidies.sex_of):
        if name not in samples:
            near = ", ".join(samples[:3]) + (", ..." if len(samples) > 3 else "")
            raise InputError("--sample-ploidy, --sample-sex", name, "no such sample", f"samples are {near}")


def genotype_region(
    evidence: Evidence, samples: Sequence[str], options: GenotypeOptions, model: GatkOptions, discovered: bool
) -> Iterator[Site]:
    """Genotype each candidate of a region that is asked for.

    Parameters
    ----------
    evidence : Evidence
    samples : sequence of str
    options : GenotypeOptions
    model : GatkOptions
        How far a haplotype may lie below a read's best.
    discovered : bool
        Leave out candidates that no sample has, and alleles that none has.
    """
    names = tuple(samples)
    view = _View(evidence, samples, options, model)
    for index, variant in enumerate(evidence.region.variants):
        if variant.role != "asked":
            continue
        site = view.site(index)
        if discovered:
            if not site.is_variant:
                continue
            seen = {allele for one in site.samples for allele in one.alleles or ()} - {0}
            if len(seen) < len(variant.alts):
                site = replace(view.site(index, sorted(seen)), left_out=site.left_out)
        yield replace(site, names=names)


def on_listed_alleles(evidence: Evidence) -> Evidence:
    """What a region of listed candidates says of them.

    Haplotypes with nuisances tell which reads fit the region. Haplotypes of listed alleles alone tell what a read
    carries of these: a haplotype with a nuisance can spell a listed allele in another way, and would take its reads
    (figures in benchmarks/README.md). Reads that fit nothing are set aside as errors of mapping, unless they are many.
    Then they are a chromosome with a variant that neither the list nor any alignment shows, and without them the other
    chromosome would be called twice.

    Parameters
    ----------
    evidence : Evidence
    """
    return replace(without_nuisances(evidence), set_aside=_few_set_aside(evidence))


def _few_set_aside(evidence: Evidence) -> NDArray[np.bool_]:
    """bool[reads]: those set aside, but for sites where they are many of a sample's reads."""
    aside = evidence.set_aside
    if not aside.any():
        return aside
    kept = np.zeros(len(aside), dtype=bool)
    for variant, (first, last) in zip(evidence.region.variants, evidence.region.extents, strict=True):
        if variant.role == "nuisance":
            continue
        over = (evidence.start < last) & (evidence.end > first)
        covering = np.bincount(evidence.sample[over])
        without = np.bincount(evidence.sample[over & aside], minlength=len(covering))
        many = without >= MANY_SET_ASIDE * np.maximum(covering, 1)
        kept[over] |= many[evidence.sample[over]]
    return aside & ~kept


class _View:
    """A region's reads as its sites see them: without those set aside, floored, with mates found."""

    def __init__(
        self, evidence: Evidence, samples: Sequence[str], options: GenotypeOptions, model: GatkOptions
    ) -> None:
        used = ~evidence.set_aside
        self._region, self._samples, self._options = evidence.region, samples, options
        self._scores = floor_scores(evidence.log10[used], model)
        self._floor = _NO_FLOOR if model.score_floor is None else model.score_floor
        self._start, self._end, self._sample = evidence.start[used], evidence.end[used], evidence.sample[used]
        self._fragments = _fragments([name for name, keep in zip(evidence.names, used.tolist(), strict=True) if keep])
        self._alleles = np.array([haplotype.alleles for haplotype in evidence.haplotypes], dtype=np.int64)

    def site(self, index: int, kept: list[int] | None = None) -> Site:
        """A candidate genotyped, with all its alternative alleles or with some."""
        variant, allele_of = self._region.variants[index], self._alleles[:, index]
        if kept is not None:
            renumber = np.full(len(variant.alts) + 1, -1)
            renumber[[0, *kept]] = np.arange(len(kept) + 1)
            variant, allele_of = _with_alleles(variant, kept), renumber[allele_of]
        first, last = self._region.extents[index]
        reads = np.flatnonzero((self._start < last) & (self._end > first))
        options = self._options
        ploidies = [options.ploidies.of(name, variant.chrom, variant.pos, options.ploidy) for name in self._samples]
        view = self._scores[reads], self._sample[reads], self._fragments[reads]
        return _site(variant, allele_of, *view, ploidies, options, self._floor)


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
    return Site(variant, site_quality(samples), samples, left_out=max(sample.left_out for sample in samples))


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
