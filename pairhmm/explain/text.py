"""Explanations as text: the verdict first, then a fact a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pairhmm.explain.facts import (
    Explanation,
    ScoredHaplotypes,
)
from pairhmm.plurals import counted

_INDENT = "  "


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
        ("Genotypes", chain.from_iterable(site.text for site in one.sites)),
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
