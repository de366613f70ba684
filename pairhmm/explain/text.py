"""Explanations as text: the verdict first, then a fact a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pairhmm.explain.facts import (
    CalledSample,
    ExplainedSite,
    Explanation,
    ScoredHaplotypes,
    counted,
)

_INDENT = "  "
_MOST_GENOTYPES = 6
_SOURCES = {
    "strand_errors": "errors of one strand",
    "foreign": "reads of a copy elsewhere",
    "contamination": "reads of another person",
}


def text_of(explanation: Explanation) -> str:
    """The lines of an explanation."""
    return "".join(f"{line}\n" for line in _lines(explanation))


def _lines(one: Explanation) -> Iterator[str]:
    yield f"{one.chrom}:{one.position} {one.verdict.text}"
    if not one.verdict.is_called:
        for cure in one.verdict.cures:
            yield f"{_INDENT}With {cure} it is called."
    sections = (
        *one.text.items(),
        ("Regions", chain.from_iterable(map(_region, one.regions))),
        ("Genotypes", _sites(one)),
    )
    for title, facts in sections:
        yield title
        nothing = True
        for fact in facts:
            nothing = False
            yield _INDENT + fact
        if nothing:
            yield f"{_INDENT}none"


def _region(region: ScoredHaplotypes) -> Iterator[str]:
    yield f"region {region.start}-{region.end}: {counted(region.reads, 'read')} scored"
    yield from (f"candidate {candidate}" for candidate in region.candidates)
    more = f"; the limit left out {region.left_out}{' or more' if region.is_over else ''}" if region.left_out else ""
    yield f"{counted(region.haplotypes, 'haplotype')}{more}"
    for name, reads in region.capped.items():
        yield f"{name}: {counted(reads, 'read')} left out by --max-depth"
    for name, reads in region.set_aside.items():
        yield f"{name}: {counted(reads, 'read')} set aside, as no haplotype fits"
    if region.used_all_the_same:
        yield f"{region.used_all_the_same} of them are used all the same, because they are many"


def _sites(one: Explanation) -> Iterator[str]:
    for site in one.sites:
        yield from _site(site)


def _site(site: ExplainedSite) -> Iterator[str]:
    alleles = ", ".join(map(str, site.alleles))
    status = f"QUAL {site.quality:.1f}, filter {site.filter}" if site.record else "no record"
    yield f"{alleles}: {status}"
    for name, sample in site.samples.items():
        depths = ", ".join(map(str, sample.depths))
        yield f"{name}: genotype {sample.genotype}, GQ {sample.quality}, DP {sample.depth}, AD {depths}"
        yield from (f"{name}: {fact}" for fact in _genotypes(sample))
    if site.record:
        yield f"record {site.record}"


def _genotypes(sample: CalledSample) -> Iterator[str]:
    for one in sample.genotypes[:_MOST_GENOTYPES]:
        yield (
            f"{one.genotype}: log10 likelihood {one.likelihood:z.2f}, log10 prior {one.prior:z.2f},"
            f" posterior {one.posterior:.3g}, other sources {one.other_sources:.1%}"
        )
    if len(sample.genotypes) > _MOST_GENOTYPES:
        yield f"{len(sample.genotypes) - _MOST_GENOTYPES} more genotypes, less likely"
    for source, genotype in sample.best_without.items():
        yield f"without {_SOURCES[source]}, {genotype} is the best"
