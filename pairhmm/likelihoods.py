"""The verb `likelihoods`: log10 P(read | haplotype) of every read in every region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pairhmm.evidence import Evidence
from pairhmm.io.destinations import check_apart
from pairhmm.io.tables import LikelihoodRows, companion, open_likelihoods
from pairhmm.models.gatk import GatkOptions, floor_scores, set_aside
from pairhmm.reads import FIRST, PAIRED, SECOND
from pairhmm.regions import Region
from pairhmm.runs import RunOptions, open_run


def likelihoods(
    alignments: Sequence[str],
    reference: str,
    candidates: str | None = None,
    haplotypes: str | None = None,
    regions: Sequence[str] = (),
    regions_file: str | None = None,
    options: RunOptions | None = None,
) -> Iterator[Evidence]:
    """Score reads against the haplotypes of each region.

    Parameters
    ----------
    alignments : sequence of str
        BAM or CRAM files, sorted by coordinate.
    reference : str
        FASTA.
    candidates : str, optional
        VCF or BCF of candidates, whose combinations are the haplotypes.
    haplotypes : str, optional
        FASTA of the haplotypes of the one region in `regions`. With neither, candidates are found in the reads.
    regions : sequence of str
        ``chr:begin-end``, 1-based inclusive; everything without any. Needs indexed alignments.
    regions_file : str, optional
        BED, 0-based half-open.
    options : RunOptions, optional

    Yields
    ------
    Evidence
        One a region, in coordinate order; `Evidence.log10` is float64 (reads, haplotypes). Memory does not grow with
        the files.

    Raises
    ------
    InputError
        Naming file, record and cure.
    """
    with open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options) as run:
        yield from run.evidence()


def write_likelihoods(
    alignments: Sequence[str],
    reference: str,
    output: str,
    candidates: str | None = None,
    haplotypes: str | None = None,
    regions: Sequence[str] = (),
    regions_file: str | None = None,
    options: RunOptions | None = None,
    prepared: bool = False,
    watch: Callable[[Region], None] | None = None,
) -> None:
    """Write the likelihood table and its companion; the parameters are those of `likelihoods`.

    Parameters
    ----------
    output : str
        ``-`` for stdout; the format follows the extension (`pairhmm.io.tables`).
    prepared : bool
        Write likelihoods as genotypes use them: raised to the read's best minus 4.5, without the reads that fit no
        haplotype.
    watch : callable, optional
        Told of each region as it is scored.
    """
    options = options or RunOptions()
    inputs = (*alignments, reference, candidates, haplotypes, regions_file)
    check_apart(inputs, (("-o", path) for path in (output, companion(output))))
    with open_run(alignments, reference, candidates, haplotypes, regions, regions_file, options) as run:
        with open_likelihoods(output) as writer:
            for evidence in run.evidence(watch):
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
        reads = np.flatnonzero(~set_aside(log10, evidence.length, prepared))
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
        log10,
        evidence.precision[reads],
    )
