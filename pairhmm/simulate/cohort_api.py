"""Simulates a cohort with known faults, to compare `map relate` with a known truth."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairhmm.arguments import AnyPath, path_of
from pairhmm.errors import InputError
from pairhmm.files.output_folders import whole_folder
from pairhmm.options import check_number, check_whole
from pairhmm.simulate.cohort import (
    CohortSample,
    Individual,
    draw_frequencies,
    draw_genotypes,
    draw_reads,
    plan_individuals,
    plan_samples,
)
from pairhmm.simulate.cohort_files import write_cohort_vcf
from pairhmm.simulate.genome_files import write_truth_table

log = logging.getLogger(__name__)

CALLS, SHEET, TRUTH = "cohort.vcf.gz", "samples.tsv", "truth.tsv"
FILES = (CALLS, f"{CALLS}.tbi", SHEET, TRUTH)
SHEET_COLUMNS = ("sample", "individual", "father", "mother")
TRUTH_COLUMNS = (
    *("sample", "individual", "true_individual", "swapped_with", "duplicate_of"),
    *("contamination", "contamination_source"),
)
MOST_CONTAMINATION = 0.5
LEAST_ERROR, MOST_ERROR = 1e-6, 0.1
MOST_DEPTH = 10_000
# A separate random stream (`pairhmm.simulate.signal_api` has the one before).
_COHORT = 4


def simulate_cohort(
    output: AnyPath,
    *,
    families: int = 4,
    individuals: int = 14,
    samples_each: int = 3,
    swaps: int = 0,
    duplicates: int = 0,
    contamination: Sequence[float] = (),
    sites: int = 50_000,
    depth: float = 30.0,
    error_rate: float = 0.002,
    seed: int = 1,
    overwrite: bool = False,
) -> None:
    """Write the calls of a cohort, its sample sheet, and what is wrong in it; the same arguments give the same bytes.

    Parameters
    ----------
    output : path
        Folder for ``cohort.vcf.gz`` with its index, ``samples.tsv`` (sample, individual, father, mother) and
        ``truth.tsv``; made when missing.
    families : int
        Families of two parents and two children, with a sample of each.
    individuals : int
        Further individuals, unrelated to each other.
    samples_each : int
        Samples of each of these.
    swaps : int
        Pairs of samples with exchanged labels: of children, or of individuals with three samples or more.
    duplicates : int
        Samples that are added, of an individual that is in the sheet under another name too.
    contamination : sequence of float
        For each contaminated sample, the share of its reads that are of a stranger in the cohort, up to 0.5.
    sites : int
        Unlinked biallelic SNVs, with frequencies from 0.05 to 0.95.
    depth : float
        Mean reads of a sample at a site.
    error_rate : float
        Share of reads with the other allele, above 0 and at most 0.1.
    seed : int
    overwrite : bool
        What is there already may be replaced.

    Raises
    ------
    InputError
        Where there are too few samples for the faults, and where an output can't be written.
    OptionError
        For arguments out of range.
    """
    whole = {"families": families, "individuals": individuals, "swaps": swaps, "duplicates": duplicates, "seed": seed}
    for name, value in whole.items():
        check_whole(name, value, 0)
    for name, value in (("samples_each", samples_each), ("sites", sites)):
        check_whole(name, value, 1)
    for share in contamination:
        check_number("contamination", share, 0, MOST_CONTAMINATION)
    check_number("depth", depth, 0, MOST_DEPTH)
    check_number("error_rate", error_rate, LEAST_ERROR, MOST_ERROR)
    rng = np.random.default_rng((seed, _COHORT))
    try:
        people = plan_individuals(families, individuals)
        people, samples = plan_samples(
            rng, people, families, samples_each, swaps, duplicates=duplicates, contamination=contamination
        )
    except ValueError as error:
        cure = "raise --families or --individuals, or ask for fewer faults"
        raise InputError("--swaps/--duplicates/--contamination", "", str(error), cure) from error
    if not samples:
        raise InputError("--families/--individuals", "", "the cohort has no sample", "ask for some")
    genotypes = draw_genotypes(rng, people, draw_frequencies(rng, sites))
    counts = draw_reads(rng, samples, genotypes, depth, error_rate)
    reference = rng.integers(0, 4, sites)
    alternative = (reference + rng.integers(1, 4, sites)) % 4
    alleles = list(zip(reference.tolist(), alternative.tolist(), strict=True))
    with whole_folder(path_of(output), FILES, overwrite) as scratch:
        write_cohort_vcf(scratch / CALLS, [one.name for one in samples], alleles, counts, error_rate)
        _write_sheet(scratch / SHEET, people, samples)
        write_truth_table(scratch / TRUTH, TRUTH_COLUMNS, map(_truth_row, samples))
    log.info("%d samples, %d sites: %s", len(samples), sites, path_of(output))


def _write_sheet(path: Path, people: Sequence[Individual], samples: Sequence[CohortSample]) -> None:
    by_name = {one.name: one for one in people}
    rows = [SHEET_COLUMNS]
    for sample in samples:
        person = by_name[sample.individual]
        rows.append((sample.name, person.name, person.father, person.mother))
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def _truth_row(sample: CohortSample) -> Sequence[object]:
    return (
        *(sample.name, sample.individual, sample.true_individual),
        *(sample.swapped_with or ".", sample.duplicate_of or "."),
        *(sample.contamination, sample.source or "."),
    )
