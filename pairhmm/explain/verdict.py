"""Decides why a position is called or not, from what each step of a call did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pairhmm.alignments.selection import LOW_MAPQ
from pairhmm.calling.run_options import RunOptions
from pairhmm.explain.discovery import Reason
from pairhmm.explain.facts import (
    CalledSample,
    ExplainedSite,
    ReadsThere,
    ScoredHaplotypes,
    ShownAllele,
    Verdict,
    Window,
    is_alternative,
)
from pairhmm.plurals import counted

REASONS = {
    "called": "a record has an alternative allele",
    "filtered": "a record has an alternative allele, and a filter",
    "outside-regions": "-r and -R do not have the position",
    "no-reads": "no read is aligned there",
    "low-mapping-quality": "reads have a low mapping quality",
    "flags": "flags of reads are excluded",
    "no-other-allele": "no read shows another allele than the reference",
    "base-quality": "bases that show the allele are of low quality",
    "too-few-reads": "too few reads show the allele",
    "low-share": "too small a share of the reads shows the allele",
    "explained-by-assembly": "other alleles, which assembly finds, explain the reads",
    "depth-cap": "reads over the depth limit were left out",
    "haplotype-cap": "haplotypes over their limit were left out",
    "reads-set-aside": "reads fit no haplotype",
    "strand-errors": "errors of one strand explain the allele",
    "foreign-reads": "reads of a copy elsewhere in the genome explain the allele",
    "contamination": "reads of another person explain the allele",
    "another-allele": "another allele, which is called, fits the reads better",
    "unlisted-allele": "an allele that is not listed fits the reads best",
    "not-listed": "no listed candidate is there",
    "prior": "the reads are too few to outweigh the prior",
    "ambiguous": "reads do not tell genotypes apart",
    "likelihood": "the reads make the reference likelier",
}
"""The reasons of verdicts."""

_SOURCES = {
    "strand_errors": ("strand-errors", "errors of one strand that share a cause"),
    "foreign": ("foreign-reads", "reads of a copy of the sequence elsewhere in the genome"),
    "contamination": ("contamination", "reads of another person"),
}
_LARGEST = 2**31 - 1
_MOST_HAPLOTYPES = 4096


@dataclass(frozen=True, slots=True)
class SeenPosition:
    """What was seen at a position."""

    position: int
    is_asked: bool
    is_listed_run: bool
    reads: dict[str, ReadsThere]
    alleles: list[ShownAllele]
    windows: list[Window]
    regions: list[ScoredHaplotypes]
    sites: list[ExplainedSite]
    reasons: tuple[Reason, Reason, Reason]
    options: RunOptions
    min_quality: float

    @property
    def main(self) -> ShownAllele | None:
        """The allele that most reads show here. In a run over a list, listed ones come first."""
        here = [one for one in self.alleles if one.is_here]
        own = [one for one in here if one.is_listed] if self.is_listed_run else here
        return next(iter([*own, *here]), None)

    @property
    def site(self) -> ExplainedSite | None:
        """The site of the main allele; any without that."""
        main = self.main
        return next((one for one in self.sites if main is None or main.allele in one.alleles), None)

    @property
    def called(self) -> ExplainedSite | None:
        """The site that is called: of the main allele, or at the position, or of a repeat over it."""
        main, called = self.main, [one for one in self.sites if one.is_called]
        is_shown = main is not None and any(count.is_enough() for count in main.samples.values())
        own = [
            one
            for one in called
            if (main and main.allele in one.alleles) or any(allele.has(self.position) for allele in one.alleles)
        ]
        return next(iter(own if is_shown else [*own, *called]), None)


SitesWith = Callable[[RunOptions], list[ExplainedSite]]
"""Gives the sites of the position with other options."""


def verdict(seen: SeenPosition, sites_with: SitesWith) -> Verdict:
    """Whether a position is called, and why."""
    if seen.called is not None:
        return _called(seen.called, seen)
    cures = _cures(seen, sites_with)
    reason, text = next(filter(None, (step(seen, cures) for step in _STEPS)))
    others = [", ".join(map(str, site.alleles)) for site in seen.sites if site.is_called]
    there = f"; {others[0]} is called there" if others else ""
    return Verdict(False, reason, f"not called: {text}{there}", list(cures.values()))


_Cures = dict[str, str]
"""For some reasons, the options that take it away, and with which the position is called."""


def _cures(seen: SeenPosition, sites_with: SitesWith) -> _Cures:
    cures: _Cures = {}
    for reason, text, options in _changes(seen):
        if reason not in cures and replace(seen, sites=sites_with(options)).called:
            cures[reason] = text
    return cures


def _called(site: ExplainedSite, seen: SeenPosition) -> Verdict:
    genotypes = ", ".join(f"{one.genotype} in {name}" for name, one in site.samples.items())
    alleles = ", ".join(map(str, site.alleles))
    what = f"called: {alleles}, {genotypes}, because {_shares(site)}"
    if site.filter in ("PASS", "."):
        return Verdict(True, "called", what)
    limit = f": QUAL {site.quality:.1f} is below {seen.min_quality:g} (--min-qual)" if site.filter == "LowQual" else ""
    return Verdict(True, "filtered", f"{what}, but filtered {site.filter}{limit}")


def _shares(site: ExplainedSite) -> str:
    shown = sum(sum(one.depths[1:]) for one in site.samples.values())
    informative = sum(sum(one.depths) for one in site.samples.values())
    return f"{shown} of {informative} reads that tell the alleles apart have it (QUAL {site.quality:.1f})"


def _outside(seen: SeenPosition, cures: _Cures) -> Reason:
    if not seen.is_asked:
        return "outside-regions", "the position is outside the regions of -r and -R"
    outside = [str(site.alleles[0]) for site in seen.sites if site.has_alternative and site.record is None]
    return ("outside-regions", f"{outside[0]} begins outside the regions of -r and -R") if outside else None


def _of_reads(seen: SeenPosition, cures: _Cures) -> Reason:
    return seen.reasons[0]


def _not_listed(seen: SeenPosition, cures: _Cures) -> Reason:
    if not seen.is_listed_run or any(one.is_listed and one.is_here for one in seen.alleles):
        return None
    return "not-listed", "the list of -v has no candidate there"


def _of_alleles(seen: SeenPosition, cures: _Cures) -> Reason:
    return seen.reasons[1]


def _of_discovery(seen: SeenPosition, cures: _Cures) -> Reason:
    return seen.reasons[2]


def _by_limits(seen: SeenPosition, cures: _Cures) -> Reason:
    """Limits without which the position is called."""
    return next(((reason, text) for reason, text in _LIMITS.items() if reason in cures), None)


_LIMITS = {
    "depth-cap": "reads over the depth limit were left out",
    "haplotype-cap": "the limit left out haplotypes with the alleles of reads",
    "reads-set-aside": "the reads that show the allele fit no haplotype, and were set aside",
}


def _other_sources(seen: SeenPosition, cures: _Cures) -> Reason:
    for sample in _samples(seen):
        for source, genotype in sample.best_without.items():
            if is_alternative(genotype):
                code, name = _SOURCES[source]
                return code, f"{name} explain the allele; without them, the genotype is {genotype}"
    return None


def _left_out(seen: SeenPosition, cures: _Cures) -> Reason:
    """Reads that are left out, with which the position is called."""
    left_out = "low-mapping-quality", "flags", "base-quality"
    return next(((reason, REASONS[reason]) for reason in left_out if reason in cures), None)


def _another(seen: SeenPosition, cures: _Cures) -> Reason:
    if seen.main and not seen.site and any(site.is_called for site in seen.sites):
        return "another-allele", f"the reads of {seen.main.allele} fit another allele better"
    return None


def _unlisted(seen: SeenPosition, cures: _Cures) -> Reason:
    for sample in _samples(seen):
        if seen.is_listed_run and "." in sample.genotype and sample.depth and sample.genotypes:
            return "unlisted-allele", "an allele that -v does not list fits the reads best"
    return None


def _ambiguous(seen: SeenPosition, cures: _Cures) -> Reason:
    samples = list(_samples(seen))
    if samples and all("." in one.genotype for one in samples):
        return "ambiguous", "the reads there do not tell genotypes apart"
    return None


def _prior(seen: SeenPosition, cures: _Cures) -> Reason:
    for sample in _samples(seen):
        likeliest = max(sample.genotypes, key=lambda one: one.likelihood, default=None)
        if likeliest and is_alternative(likeliest.genotype):
            return "prior", f"the reads favour {likeliest.genotype} by too little to outweigh the prior"
    return None


def _likelihood(seen: SeenPosition, cures: _Cures) -> Reason:
    for sample in _samples(seen):
        other = next((one for one in sample.genotypes if is_alternative(one.genotype)), None)
        if other is not None:
            best = sample.genotypes[0]
            ratio = best.prior + best.likelihood - other.prior - other.likelihood
            shown = f"{sum(sample.depths[1:])} of {counted(sum(sample.depths), 'read')} that tell the alleles apart"
            more = f"genotype {best.genotype} is 10^{ratio:.1f} times likelier than {other.genotype}"
            return "likelihood", f"{more} by the reads and the prior; {shown} have another allele"
    return "likelihood", "no genotype with another allele is likely"


_STEPS = (
    _outside,
    _of_reads,
    _not_listed,
    _unlisted,
    _of_alleles,
    _of_discovery,
    _by_limits,
    _another,
    _other_sources,
    _left_out,
    _ambiguous,
    _prior,
    _likelihood,
)


def _samples(seen: SeenPosition) -> Iterator[CalledSample]:
    return iter(seen.site.samples.values() if seen.site else ())


def _changes(seen: SeenPosition) -> Iterator[tuple[str, str, RunOptions]]:
    """Options that may change the verdict: the reason that each takes away, its text, and the options."""
    if not seen.is_asked:
        return
    options, discovery = seen.options, seen.options.discovery
    left_out = _sum(one.left_out for one in seen.reads.values())
    if any(region.capped for region in seen.regions):
        yield "depth-cap", "a higher --max-depth", _with(options, "evidence", max_depth=_LARGEST)
    most = options.evidence.max_haplotypes
    # A region has fewer alleles than haplotypes: others are in regions of their own.
    if any(region.left_out or len(region.candidates) + 1 >= most for region in seen.regions):
        more = _with(options, "evidence", max_haplotypes=_MOST_HAPLOTYPES)
        yield "haplotype-cap", "a higher --max-haplotypes", more
    if any(region.set_aside for region in seen.regions):
        yield "reads-set-aside", "--error-rate 0", _with(options, "model", error_rate=None)
    if LOW_MAPQ in left_out:
        every_read = _with(options, "reads", min_mapq=0)
        yield "low-mapping-quality", "--min-mapq 0", every_read
        uncapped = _with(every_read, "model", cap_by_mapping_quality=False)
        yield "low-mapping-quality", "--min-mapq 0 --no-cap-by-mapq", uncapped
    if set(left_out) - {LOW_MAPQ}:
        yield "flags", "--exclude-flags 0x4", _with(options, "reads", excluded_flags=4)
    counts = [count for one in seen.alleles if one.is_here for count in one.samples.values()]
    if any(count.poor for count in counts):
        yield "base-quality", "--min-base-quality 0", _with(options, "discovery", min_base_quality=0)
    if any(count.good < count.least_count for count in counts):
        fewest = _with(options, "discovery", min_snv_count=1, min_indel_count=1)
        yield "too-few-reads", "--min-alt-count 1 --min-indel-count 1", fewest
    if any(count.good < count.least_share * count.depth for count in counts):
        fewer = _with(options, "discovery", min_snv_fraction=0.0, min_indel_fraction=0.0)
        yield "low-share", "--min-alt-fraction 0 --min-indel-fraction 0", fewer
    if discovery.assembly and any(window.explained for window in seen.windows):
        yield "explained-by-assembly", "--no-assembly", _with(options, "discovery", assembly=False)


def _with(options: RunOptions, group: str, **values: object) -> RunOptions:
    return replace(options, **{group: replace(getattr(options, group), **values)})


def _sum(counts: Iterator[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            total[name] = total.get(name, 0) + count
    return total
