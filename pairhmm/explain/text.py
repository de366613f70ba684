"""Explanations as text: the verdict first, then a fact a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pairhmm.explain.facts import (
    AlleleCount,
    AltAllele,
    CalledSample,
    ExplainedSite,
    Explanation,
    SampleAssembly,
    ScoredHaplotypes,
    Window,
    counted,
)

_INDENT = "  "
_MOST_GENOTYPES = 6
_NEAR = 50
"""Bases from the position up to which alleles of ways are told."""
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
        ("Reads", _reads(one)),
        ("Alleles of alignments", _alleles(one)),
        ("Assembly", _windows(one)),
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


def _reads(one: Explanation) -> Iterator[str]:
    for name, reads in one.reads.items():
        yield f"{name}: {counted(reads.over, 'read')} over the position, {reads.used} used"
        for reason, count in reads.left_out.items():
            yield f"{name}: {count} left out: {reason}"


def _alleles(one: Explanation) -> Iterator[str]:
    for shown in one.alleles:
        place = "" if shown.is_here else " (near)"
        listed = ", is listed" if shown.is_listed else ""
        for name, count in shown.samples.items():
            if count.all_reads or shown.is_candidate or shown.is_listed:
                is_candidate = "is" if shown.is_candidate else "is not"
                yield f"{name}: {shown.allele}{place}: {_shown(count)}; {is_candidate} a candidate{listed}"
                yield from (f"{_INDENT}{fact}" for fact in _details(count) if shown.is_here)


def _shown(count: AlleleCount) -> str:
    least = f"a candidate needs {counted(count.least_count, 'read')} and {count.least_share:.0%}"
    return f"{count.good} of {count.depth} reads ({count.share:.1%}; {least})"


def _details(count: AlleleCount) -> Iterator[str]:
    if count.good + count.poor:
        yield f"{count.forward} forward, {count.reverse} reverse"
    if count.qualities:
        middle = count.qualities[len(count.qualities) // 2]
        yield f"base qualities {count.qualities[0]} to {count.qualities[-1]}, median {middle}"
    if count.poor:
        yield f"{count.poor} more with bases below --min-base-quality"
    for reason, reads in count.left_out.items():
        yield f"{reads} more in reads that are left out: {reason}"


def _windows(one: Explanation) -> Iterator[str]:
    if not one.windows:
        yield "no window: reads have fewer than 2 clips or gaps around, or --no-assembly is given"
    for window in one.windows:
        yield from _window(window, list(one.reads), one.position)


def _window(window: Window, names: list[str], position: int) -> Iterator[str]:
    place = f"{window.start}-{window.end}"
    for name, events, reads in zip(names, window.events, window.reads, strict=True):
        yield f"{name}: window {place}: {events} clips and gaps in {reads} reads"
    if not window.is_active:
        yield f"window {place} is not active: no sample has 2 of them, and in 8% of its reads"
    for name, own in zip(names, window.samples, strict=False):
        yield from (f"{name}: {fact}" for fact in _assembly(own, position))
    for allele, reads in window.explained:
        yield f"{allele} was dropped: ways explain its reads ({reads} more than not)"


def _assembly(own: SampleAssembly, position: int) -> Iterator[str]:
    for k, decision in own.tried:
        yield f"k {k} was not taken: {decision}"
    ways = f"{counted(len(own.ways), 'way')}{'' if own.is_whole else ', not all of them followed'}"
    yield f"k {own.k}, {ways}; those within {_NEAR} bases:" if own.k else "no k will do: alignments alone count"
    for way in own.ways:
        if not any(abs(allele.position - position) <= _NEAR for allele in way.alleles):
            continue
        united = ", parted by errors" if way.is_united else ""
        weight = f"{way.reads:.1f} of {way.leaving:.1f} reads{united}"
        yield f"way of {weight}: {_judged(way.alleles, way.are_supported)}"


def _judged(alleles: list[AltAllele], are_supported: list[bool]) -> str:
    judged = zip(alleles, are_supported, strict=True)
    return ", ".join(f"{allele}{'' if is_enough else ' (too few reads)'}" for allele, is_enough in judged) or "nothing"


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
