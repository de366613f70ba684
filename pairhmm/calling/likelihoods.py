"""`likelihoods`: log10 P(read | haplotype) of every read in every region."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Unpack

from pairhmm.arguments import AnyPath, Paths, Regions, path_of
from pairhmm.calling.keywords import RunKeywords
from pairhmm.calling.parallel import open_results
from pairhmm.calling.run import Batches as RegionBatches
from pairhmm.calling.run import Run, Watch
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.scored_region import Evidence
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.names import check_row_names
from pairhmm.likelihoods.columns import RegionRows
from pairhmm.likelihoods.lines import Lines, region_lines
from pairhmm.likelihoods.parquet import pyarrow_for
from pairhmm.likelihoods.table import Format, companion
from pairhmm.likelihoods.writer import Batches, Prepared, open_likelihoods
from pairhmm.models.gatk import GatkOptions
from pairhmm.native import native
from pairhmm.options import with_keywords
from pairhmm.process import closed_at_exit


def likelihoods(
    alignments: Paths,
    reference: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Iterator[Evidence]:
    """Score reads against the haplotypes of each region.

    Haplotypes are combinations of the `candidates`, the given `haplotypes`, or, with neither, combinations of the
    variants that the reads show.

    Parameters
    ----------
    alignments, reference, candidates, haplotypes, regions, regions_file, options
        As for `call`.
    **keywords
        Fields of `RunOptions` by name, such as ``threads=2`` or ``min_mapq=30``. They override those of `options`.

    Returns
    -------
    iterator of Evidence
        One a region, in coordinate order, as they are scored; `Evidence.log10` is float64 (reads, haplotypes). Memory
        does not grow with the files.

    Raises
    ------
    InputError, OptionError, TypeError, BackendUnavailable, CompiledPartMissing
        As for `call`.

    Examples
    --------
    >>> for one in pairhmm.likelihoods("sample.bam", "ref.fa", "candidates.vcf"):  # doctest: +SKIP
    ...     print(one.region, one.log10.shape)
    """
    (chosen,) = with_keywords("likelihoods", keywords, options or RunOptions())
    inputs = RunInputs.of(alignments, reference, candidates, haplotypes, regions, regions_file)
    return closed_at_exit(_scored(inputs, chosen))


def _scored(inputs: RunInputs, options: RunOptions) -> Generator[Evidence]:
    with open_results(inputs, options, _evidence, filters_reads=False, makes_genotypes=False) as run:
        yield from run.results


def _evidence(regions: RegionBatches, run: Run) -> Iterator[Evidence]:
    return run.evidence(regions)


@kept_apart()
def write_likelihoods(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    prepared: bool = False,
    only_listed: bool = False,
    watch: Watch | None = None,
    **keywords: Unpack[RunKeywords],
) -> None:
    """Score reads as `likelihoods` does, and write a table with a companion that describes the haplotypes.

    The files appear when they are whole.

    Parameters
    ----------
    alignments, reference, candidates, haplotypes, regions, regions_file
        As for `likelihoods`.
    output : path
        ``.tsv``, ``.tsv.gz`` (with an index) or ``.parquet``; ``-`` is TSV to stdout, without a companion.
    options
        As for `likelihoods`.
    prepared : bool
        Write likelihoods as genotypes use them: raised to the read's best minus the score floor, and without the reads
        that fit no haplotype.
    only_listed : bool
        With `candidates`: leave out haplotypes that have an allele which reads show but no candidate has.
    watch : callable, optional
        ``watch(region, share)`` is told of each region once it is scored, and of the share of the run (0 to 1) that is
        done then.
    **keywords
        As for `likelihoods`.

    Raises
    ------
    InputError, OptionError, TypeError, BackendUnavailable, CompiledPartMissing
        As for `likelihoods`; InputError also where an output can't be written or would replace an input, and for
        Parquet without pyarrow.

    Examples
    --------
    >>> pairhmm.write_likelihoods("sample.bam", "ref.fa", "likelihoods.tsv.gz", threads=4)  # doctest: +SKIP
    """
    (chosen,) = with_keywords("write_likelihoods", keywords, options or RunOptions())
    inputs = RunInputs.of(alignments, reference, candidates, haplotypes, regions, regions_file)
    output = path_of(output)
    check_apart(inputs.files, (("-o", path) for path in (output, companion(output))))
    rows = _TableRows(chosen.model if prepared else None, Format.of(output), chosen.threads > 1)
    refine = native.ScoredRegions.without_unlisted if only_listed else None
    is_text = Format.of(output) is not Format.PARQUET
    if not is_text:
        # Before anything is scored: an error comes early.
        pyarrow_for(output)
    with open_results(inputs, chosen, rows, watch, refine, prepared, makes_genotypes=False) as run:
        if is_text:
            check_row_names(", ".join(inputs.alignments), "sample", run.samples, "rename it (samtools reheader)")
        with open_likelihoods(output, run.options.model_text, chosen.threads) as writer:
            for prepared_rows in run.results:
                writer.append(prepared_rows)


@dataclass(frozen=True, slots=True)
class _TableRows:
    """Makes rows of regions as the writer of a format takes them."""

    prepared: GatkOptions | None
    format: Format
    may_wait: bool  # for the thread that writes

    def __call__(self, regions: RegionBatches, run: Run) -> Iterator[Prepared]:
        """Rows of several regions at a time."""
        how = self._floor, self.prepared is not None
        made: Iterator[Lines | Batches]
        if self.format is Format.PARQUET:
            made = (Batches.of(RegionRows.of_scored(batch, run.samples, *how)) for batch in regions)
        else:
            made = chain.from_iterable(region_lines(batch, run.samples, *how) for batch in regions)
        is_packed = self.may_wait and self.format is not Format.TSV
        return (one.packed() for one in made) if is_packed else made

    @property
    def _floor(self) -> float | None:
        return None if self.prepared is None else self.prepared.score_floor
