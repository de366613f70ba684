"""Exports sites and scored regions as VCF and as pandas tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.sam import mate_of
from pairhmm.arguments import AnyPath, path_of
from pairhmm.calling.call import MIN_QUALITY
from pairhmm.calling.genotyping import Site
from pairhmm.calling.scored_region import Evidence
from pairhmm.errors import InputError
from pairhmm.likelihoods.table import COLUMNS
from pairhmm.models.batch import PRECISIONS
from pairhmm.options import check_number
from pairhmm.sequences.fasta import Reference
from pairhmm.variants.call_writer import open_calls

if TYPE_CHECKING:
    from pandas import DataFrame

CALL_COLUMNS = ("chrom", "pos", "id", "ref", "alt", "qual", "sample", "gt", "ad", "dp", "gq", "pl")


def write_vcf(
    sites: Iterable[Site],
    output: AnyPath,
    reference: AnyPath,
    *,
    samples: Sequence[str] | None = None,
    min_quality: float = MIN_QUALITY,
    provenance: Mapping[str, str] | None = None,
) -> int:
    """Write the sites of `call`, all or some of them, as VCF or BCF.

    Parameters
    ----------
    sites : iterable of Site
        Sites in coordinate order. They may be a stream.
    output : path
        ``.vcf``, ``.vcf.gz`` or ``.bcf`` (with index); ``-`` is stdout. The file appears when it is whole.
    reference : path
        FASTA: its contigs go into the header.
    samples : sequence of str, optional
        Sample columns of the file; by default those of the first site.
    min_quality : float
        QUAL below which a record's filter is LowQual.
    provenance : mapping of str to str, optional
        Header lines ``##key=value``.

    Returns
    -------
    int
        Records written.

    Raises
    ------
    InputError
        For a site on a contig that the reference does not have, or with other samples than the header; and where the
        output can't be written.
    OptionError
        For a `min_quality` below 0.

    Examples
    --------
    >>> sites = pairhmm.call("sample.bam", "ref.fa")  # doctest: +SKIP
    >>> pairhmm.write_vcf((site for site in sites if site.quality > 50), "sure.vcf.gz", "ref.fa")  # doctest: +SKIP
    """
    check_number("min_quality", min_quality, 0)
    rest = iter(sites)
    first = list(islice(rest, 1))
    names = tuple(samples) if samples is not None else first[0].names if first else ()
    with Reference(path_of(reference)) as genome:
        contigs = dict(genome.contigs)
    written = 0
    with open_calls(
        path_of(output),
        contigs,
        names,
        min_quality=min_quality,
        reference=path_of(reference),
        provenance=dict(provenance or {}),
        mixture=any(sample.fractions for site in first for sample in site.samples),
    ) as writer:
        for site in chain(first, rest):
            _check_site(site, names, contigs, path_of(reference))
            writer.write(site.variant, site.quality, site.samples, site.statistics)
            written += 1
    return written


def _check_site(site: Site, names: Sequence[str], contigs: Mapping[str, int], reference: str) -> None:
    place = f"{site.variant.chrom}:{site.variant.pos + 1}"
    if site.variant.chrom not in contigs:
        raise InputError(reference, place, "the contig of a site is not in the reference", "give the calls' reference")
    if len(site.samples) != len(names) or (site.names and tuple(site.names) != tuple(names)):
        rule = f"a site of samples {', '.join(site.names)} in a file of {', '.join(names)}"
        raise InputError("samples", place, rule, "write the sites of each call to a file of their own")


def calls_to_pandas(sites: Site | Iterable[Site]) -> DataFrame:
    """Sites as a table with one row for each sample of each site; the values are those of the VCF.

    Parameters
    ----------
    sites : Site or iterable of Site
        From `call`.

    Returns
    -------
    pandas.DataFrame
        Columns chrom, pos (1-based, as in the VCF), id, ref, alt (comma-separated), qual, sample, gt (text such as
        ``0/1`` or ``0|1``), ad (tuple), dp, gq, pl (tuple; empty where no read is informative).

    Raises
    ------
    ModuleNotFoundError
        Where pandas is not installed.

    Examples
    --------
    >>> calls = pairhmm.calls_to_pandas(pairhmm.call("sample.bam", "ref.fa"))  # doctest: +SKIP
    >>> calls[calls.gq >= 20].groupby("sample").size()  # doctest: +SKIP
    """
    rows = [row for site in ([sites] if isinstance(sites, Site) else sites) for row in _call_rows(site)]
    kinds = {"pos": "int64", "qual": "float64", "dp": "int64", "gq": "int64"}
    return import_pandas().DataFrame(rows, columns=list(CALL_COLUMNS)).astype(kinds)


def _call_rows(site: Site) -> Iterable[tuple[object, ...]]:
    one = site.variant
    place = (one.chrom, one.pos + 1, one.id or None, one.ref, ",".join(one.alts), site.quality)
    names = site.names or tuple(map(str, range(len(site.samples))))
    for name, sample in zip(names, site.samples, strict=True):
        yield (*place, name, sample.genotype, sample.depths, sample.depth, sample.quality, sample.likelihoods)


def likelihoods_to_pandas(evidence: Evidence | Iterable[Evidence]) -> DataFrame:
    """Scored regions as the likelihood table (docs/formats.md), with one row for each haplotype of each read.

    Parameters
    ----------
    evidence : Evidence or iterable of Evidence
        From `likelihoods`. The whole table is in memory: for a large run, take one region at a time.

    Returns
    -------
    pandas.DataFrame
        Columns sample, chrom, start, end (0-based half-open), read_name, mate, haplotype, log10_likelihood, precision,
        reads (of the profile: 1 where none were joined).

    Raises
    ------
    ModuleNotFoundError
        Where pandas is not installed.

    Examples
    --------
    >>> evidence = pairhmm.likelihoods("sample.bam", "ref.fa", regions="chr1:10,001-20,000")  # doctest: +SKIP
    >>> table = pairhmm.likelihoods_to_pandas(evidence)  # doctest: +SKIP
    """
    pandas = import_pandas()
    tables = [_likelihood_columns(one) for one in ([evidence] if isinstance(evidence, Evidence) else evidence)]
    columns = (np.concatenate([np.empty(0, kind), *parts]) for kind, *parts in zip(_KINDS, *tables, strict=True))
    return pandas.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


_KINDS = (object, object, np.int64, np.int64, object, np.int64, object, np.float64, object, np.int64)


def _likelihood_columns(evidence: Evidence) -> list[Any]:
    """The columns of a region's rows, as arrays."""
    region, (reads, haplotypes) = evidence.region, evidence.log10.shape
    size = reads * haplotypes

    def of_reads(values: Sequence[object] | NDArray[Any], kind: type) -> Any:
        return np.repeat(np.array(values, dtype=kind), haplotypes)

    return [
        of_reads(evidence.sample_names, object),
        np.full(size, region.chrom, dtype=object),
        np.full(size, region.start),
        np.full(size, region.end),
        of_reads(list(evidence.names), object),
        of_reads(list(map(mate_of, evidence.flag.tolist())), np.int64),
        np.tile(np.array(evidence.haplotype_names, dtype=object), reads),
        evidence.log10.reshape(-1),
        np.array(PRECISIONS, dtype=object)[evidence.precision.reshape(-1)],
        of_reads(np.ones(reads) if evidence.reads is None else evidence.reads, np.int64),
    ]


def import_pandas() -> Any:
    """The module pandas. Raises ModuleNotFoundError, with the cure, where it is not installed."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError("tables in memory need pandas, which is not installed: pip install pandas") from None
    return pandas
