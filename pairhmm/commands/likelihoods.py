"""The verb `likelihoods`: log10 P(read | haplotype) of every read in every region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Unpack

import numpy as np

from pairhmm.commands.keywords import RunKeywords, with_keywords
from pairhmm.evidence.run import Run, RunOptions, Watch, open_run
from pairhmm.evidence.stream import Evidence, without_nuisances
from pairhmm.genomics.reads import FIRST, PAIRED, SECOND
from pairhmm.interface.arguments import AnyPath, Paths, Texts, path_of, paths_of
from pairhmm.io.files.destinations import check_apart
from pairhmm.io.likelihoods.writer import LikelihoodRows, companion, open_likelihoods
from pairhmm.models.gatk import GatkOptions, floor_scores


def likelihoods(
    alignments: Paths,
    reference: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Texts = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Iterator[Evidence]:
    """Score reads against the haplotypes of each region.

    Parameters
    ----------
    alignments : path or sequence of paths
        BAM or CRAM files, sorted by coordinate.
    reference : path
        FASTA.
    candidates : path, optional
        VCF or BCF of candidates, whose combinations are the haplotypes.
    haplotypes : path, optional
        FASTA of the haplotypes of the one region in `regions`. With neither, candidates are found in the reads.
    regions : str or sequence of str
        ``chr:begin-end``, 1-based inclusive; everything without any. Needs indexed alignments.
    regions_file : path, optional
        BED, 0-based half-open.
    options : RunOptions, optional
    **keywords
        Fields of `RunOptions` by name, such as ``threads=2`` or ``min_mapq=30``; they go before those of `options`.

    Returns
    -------
    iterator of Evidence
        One a region, in coordinate order; `Evidence.log10` is float64 (reads, haplotypes). Memory does not grow with
        the files.

    Raises
    ------
    InputError
        Naming file, record and cure.
    """
    chosen = with_keywords("likelihoods", keywords, options or RunOptions())
    (options,) = chosen
    return _likelihoods(open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options))


def _likelihoods(opening: AbstractContextManager[Run]) -> Iterator[Evidence]:
    with opening as run:
        yield from run.evidence(without_set_aside=False)


def write_likelihoods(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Texts = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    prepared: bool = False,
    only_listed: bool = False,
    watch: Watch | None = None,
    **keywords: Unpack[RunKeywords],
) -> None:
    """Write the likelihood table and its companion; the parameters are those of `likelihoods`.

    Parameters
    ----------
    output : path
        ``-`` for stdout; the format follows the extension (`pairhmm.io.likelihoods.writer`).
    prepared : bool
        Write likelihoods as genotypes use them: raised to the read's best minus 4.5, without the reads that fit no
        haplotype.
    only_listed : bool
        With `candidates`, leave out the haplotypes that have an allele which reads show but no candidate has.
    watch : callable, optional
        Told of each region as it is scored, and of the share of the run that is done then.
    """
    chosen = with_keywords("write_likelihoods", keywords, options or RunOptions())
    (options,) = chosen
    output = path_of(output)
    inputs = (*paths_of(alignments), reference, candidates, haplotypes, regions_file)
    check_apart(inputs, (("-o", path) for path in (output, companion(output))))
    with open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options) as run:
        with open_likelihoods(output) as writer:
            refined = without_nuisances if only_listed else None
            for evidence in run.evidence(watch, refined, without_set_aside=prepared):
                writer.write(table_rows(evidence, run.samples, options.model if prepared else None))


def table_rows(evidence: Evidence, samples: Sequence[str], prepared: GatkOptions | None = None) -> LikelihoodRows:
    """A region's rows of the likelihood table.

    Parameters
    ----------
    evidence : Evidence
    samples : sequence of str
    prepared : GatkOptions, optional
        Raise scores to the floor, and leave out the reads that are set aside.
    """
    log10, reads = evidence.log10, np.arange(len(evidence.names))
    if prepared is not None:
        reads = np.flatnonzero(~evidence.set_aside)
        log10 = floor_scores(log10[reads], prepared)
    region = evidence.region
    flags = evidence.flag[reads].astype(np.int64)
    mates = np.where(flags & PAIRED, np.where(flags & FIRST, 1, np.where(flags & SECOND, 2, 0)), 0)
    place = f"{region.chrom}:{region.haplotype_start + 1}-{region.haplotype_end}"
    return LikelihoodRows(
        region.chrom,
        region.start,
        region.end,
        [samples[index] for index in evidence.sample[reads].tolist()],
        [evidence.names[index] for index in reads.tolist()],
        mates.tolist(),
        [haplotype.name or f"{place}/{index}" for index, haplotype in enumerate(evidence.haplotypes)],
        [haplotype.sequence for haplotype in evidence.haplotypes],
        [",".join(map(str, haplotype.alleles)) or "." for haplotype in evidence.haplotypes],
        ",".join(f"{one.pos + 1}:{one.ref}>{'/'.join(one.alts)}" for one in region.variants),
        [haplotype.is_nuisance for haplotype in evidence.haplotypes],
        log10,
        evidence.precision[reads],
    )
