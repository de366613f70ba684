"""Genotypes the candidates of scored regions (cpu/calling/genotyping.hpp), and makes Python's sites of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairhmm.models.gatk import GatkOptions
from pairhmm.models.str_parameters import slip_rates_of
from pairhmm.native import native
from pairhmm.variants.genotypes import GenotypeOptions, RecordOptions, SampleGenotype, SiteStatistics
from pairhmm.variants.variant import Variant

if TYPE_CHECKING:
    from pairhmm._cpu import ErrorRates, ScoredRegion, SlipRates, SourceRates


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
        Names of the samples, in the same order.
    left_out : int
        Alternative alleles that were not considered in some sample (`pairhmm.variants.genotypes.MAX_GENOTYPES`).
    statistics : SiteStatistics or None
        Annotations of its reads.
    """

    variant: Variant
    quality: float
    samples: list[SampleGenotype]
    names: tuple[str, ...] = ()
    left_out: int = 0
    statistics: SiteStatistics | None = None

    @property
    def is_variant(self) -> bool:
        """Whether some sample has an alternative allele."""
        return any(sample.alleles and any(sample.alleles) for sample in self.samples)

    @property
    def genotypes(self) -> dict[str, SampleGenotype]:
        """The genotype of each sample by its name."""
        return dict(zip(self.names, self.samples, strict=True))


class RegionGenotyper:
    """Genotypes the requested candidates of scored regions.

    `model` has the floor: how far a haplotype's score may lie below a read's best. If the candidates were discovered,
    those that no sample has are left out, and so are their alleles. `source_rates` are rates that reads show, and
    `slips` how often they slip in repeats, by default as often as the model has it. `haplotypes`: whether lines of the
    table of haplotypes are made. `errors`: rates of a mixture's reads.
    """

    def __init__(
        self,
        samples: Sequence[str],
        options: GenotypeOptions,
        model: GatkOptions,
        discovered: bool,
        records: RecordOptions | None = None,
        source_rates: SourceRates | None = None,
        slips: SlipRates | None = None,
        haplotypes: bool = False,
        errors: ErrorRates | None = None,
    ) -> None:
        self.names, records = tuple(samples), records or RecordOptions()
        families = [] if options.pedigree is None else options.pedigree.families(samples)[0]
        self.native = native.Genotyper(
            options.snv_prior,
            options.indel_prior,
            [options.ploidies.rules_of(name, options.ploidy) for name in samples],
            [(one.father, one.mother, list(one.children)) for one in families],
            model.score_floor,
            discovered,
            records.mnv,
            records.gvcf,
            [options.contaminations.get(name, options.contamination) for name in samples],
            slips or slip_rates_of(model),
            options.mixture,
            list(samples) if haplotypes else [],
            errors,
            source_rates,
        )

    def sites(self, region: ScoredRegion) -> list[Site]:
        """The sites of a region."""
        return to_sites(self.native.genotype(region), self.names)


def to_sites(fields: Sequence[tuple[Any, ...]], names: tuple[str, ...]) -> list[Site]:
    """Sites of native code as Python's, with the names of samples."""
    return [
        Site(
            Variant(*variant),
            quality,
            [SampleGenotype(*sample) for sample in samples],
            names,
            left_out,
            SiteStatistics(annotations, unfit),
        )
        for variant, quality, samples, left_out, annotations, unfit in fields
    ]
