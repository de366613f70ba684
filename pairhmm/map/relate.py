"""`map relate`: kinship, exchanged labels and contamination of samples, in memory and as tables."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from math import isnan
from typing import TextIO

from pairhmm.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.outputs import open_output
from pairhmm.map.genotype_reader import read_frequencies
from pairhmm.map.relatedness import Relatedness, RelatedPair, RelatedSample, relate_samples
from pairhmm.map.site_reader import read_sample_sites
from pairhmm.plurals import counted
from pairhmm.variants.genealogy import Genealogy, PedigreeError
from pairhmm.variants.pedigree import read_genealogy

UNKNOWN = "."


def write_rows(out: TextIO, kind: type[RelatedPair | RelatedSample], rows: Iterable[object]) -> None:
    """Write a table: numbers with a fraction have four decimals; NaN, an empty tuple and an empty text are ``.``."""
    columns = [field.name for field in fields(kind)]
    out.write("#" + "\t".join(columns) + "\n")
    out.writelines("\t".join(_text(getattr(row, name)) for name in columns) + "\n" for row in rows)


def _text(cell: object) -> str:
    if isinstance(cell, tuple):
        return ",".join(cell) or UNKNOWN
    if isinstance(cell, float):
        return UNKNOWN if isnan(cell) else f"{cell:.4f}"
    return str(cell) or UNKNOWN


log = logging.getLogger(__name__)


def relate(
    inputs: Paths,
    *,
    sheet: AnyPath | None = None,
    pedigree: AnyPath | None = None,
    frequencies: AnyPath | None = None,
) -> Relatedness:
    """Find the relations of samples, and what contradicts a sample sheet or a pedigree.

    Parameters
    ----------
    inputs : path or iterable of path
        VCF, BCF, or tables that `likelihoods` wrote. Together they have two samples at least.
    sheet : path, optional
        A sample sheet with columns individual, father and mother.
    pedigree : path, optional
        A PED file.
    frequencies : path, optional
        A VCF or BCF with the allele frequencies of the population (AF).

    Returns
    -------
    Relatedness
        Its `samples`, and its `pairs()`.

    Raises
    ------
    InputError
        For an input that can't be used, one sample only, and samples without common sites.

    Examples
    --------
    >>> found = pairhmm.relate("cohort.vcf.gz", sheet="samples.tsv")  # doctest: +SKIP
    >>> [pair for pair in found.pairs() if pair.flags]  # doctest: +SKIP
    """
    sites, keys = read_sample_sites(some_paths_of(inputs, "inputs"))
    genealogy = Genealogy()
    sheet, pedigree = path_of(sheet), path_of(pedigree)
    if sheet is not None or pedigree is not None:
        genealogy = read_genealogy(sheet, pedigree, sites.samples)
        _warn_of_unknown([name for name in sites.samples if name not in genealogy.individuals])
    shares = None if frequencies is None else read_frequencies(path_of(frequencies), keys)
    log.info("%s, %s", counted(len(sites.samples), "sample"), counted(len(keys), "site"))
    try:
        return relate_samples(sites, genealogy, shares)
    except PedigreeError as error:
        raise InputError(pedigree or sheet or "", "", str(error), "correct the parents") from error


def _warn_of_unknown(samples: Sequence[str]) -> None:
    if samples:
        names = ", ".join(samples[:3]) + (", ..." if len(samples) > 3 else "")
        unknown = counted(len(samples), "sample is", "samples are")
        log.warning("%s not in the sheet or the pedigree, so no relation is expected: %s", unknown, names)


@kept_apart()
def write_relations(
    inputs: Paths,
    output: AnyPath,
    sample_table: AnyPath | None = None,
    *,
    sheet: AnyPath | None = None,
    pedigree: AnyPath | None = None,
    frequencies: AnyPath | None = None,
) -> None:
    """`relate`, written as tables.

    Parameters
    ----------
    inputs, sheet, pedigree, frequencies
        As `relate` takes them.
    output : path
        The table of pairs; ``-`` is stdout.
    sample_table : path, optional
        The table of samples.

    Raises
    ------
    InputError
        As from `relate`, and where an output can't be written or is an input.

    Examples
    --------
    >>> pairhmm.write_relations("cohort.vcf.gz", "pairs.tsv", "samples.tsv", sheet="sheet.tsv")  # doctest: +SKIP
    """
    paths = some_paths_of(inputs, "inputs")
    others = [path_of(path) for path in (sheet, pedigree, frequencies)]
    pairs, samples = path_of(output), path_of(sample_table)
    check_apart([*paths, *others], [("-o", pairs), ("--sample-table", samples)])
    for path in filter(None, (pairs, samples)):
        require_ending(path, "tables", TEXT_TABLE)
    relations = relate(paths, sheet=sheet, pedigree=pedigree, frequencies=frequencies)
    if samples is None:
        _write_pairs(relations, pairs)
    else:
        with open_output(samples) as out:
            write_rows(out, RelatedSample, relations.samples)
            _write_pairs(relations, pairs)
    flags = Counter(flag for sample in relations.samples for flag in sample.flags)
    text = ", ".join(f"{count} {flag}" for flag, count in flags.items()) or "none"
    log.info("flagged samples: %s", text)


def _write_pairs(relations: Relatedness, path: str) -> None:
    with open_output(path) as out:
        write_rows(out, RelatedPair, relations.pairs())
