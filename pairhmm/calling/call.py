"""`call`: genotypes of candidate variants."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Unpack

from pairhmm.arguments import AnyPath, Paths, Regions, path_of
from pairhmm.calling.genotyping import RegionGenotyper, Site
from pairhmm.calling.keywords import CallKeywords
from pairhmm.calling.parallel import open_results
from pairhmm.calling.reference_blocks import require_one_sample, walk_of
from pairhmm.calling.run import Batches, Refine, Run, Use, Watch
from pairhmm.calling.run_options import RunInputs, RunOptions, mixture_defaults
from pairhmm.calling.summary import SiteCounts
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.names import MODEL_RECORD
from pairhmm.likelihoods.mixture_table import open_haplotypes
from pairhmm.native import native, require_compiled
from pairhmm.options import check_number, with_keywords
from pairhmm.process import closed_at_exit
from pairhmm.sequences.intervals import listed
from pairhmm.variants.call_writer import open_calls, record_format
from pairhmm.variants.genotypes import GenotypeOptions, RecordOptions
from pairhmm.variants.ploidy import Ploidies

if TYPE_CHECKING:
    from pairhmm._cpu import RecordLines

log = logging.getLogger(__name__)

MIN_QUALITY = 10.0
"""QUAL (Phred) below which a record's filter is LowQual by default."""

# Characters of records that are written at once.
_TEXT_AT_ONCE = 1 << 16
# The highest ploidy of reference blocks.
_HIGHEST_PLOIDY = 2


def call(
    alignments: Paths,
    reference: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    genotypes: GenotypeOptions | None = None,
    **keywords: Unpack[CallKeywords],
) -> Iterator[Site]:
    """Genotype candidate variants.

    The candidates are the records of `candidates`, the differences between the given `haplotypes`, or, with neither,
    the variants that the reads show. In the last case, candidates that no sample has are left out.

    Parameters
    ----------
    alignments : path or sequence of paths
        BAM or CRAM files, sorted by coordinate. Samples are those of their read groups.
    reference : path
        FASTA that the reads were aligned to.
    candidates : path, optional
        VCF or BCF of candidate variants.
    haplotypes : path, optional
        FASTA of the haplotypes of the one region in `regions`.
    regions : str, (str, int, int), or sequence of these
        ``chr:begin-end`` or ``chr:position``, 1-based inclusive; or contig, start and end, 0-based half-open. Regions
        need indexed alignments.
    regions_file : path, optional
        BED, 0-based half-open. With neither `regions` nor `regions_file`, the call goes over everything.
    options : RunOptions, optional
        How reads are chosen, prepared and scored.
    genotypes : GenotypeOptions, optional
        Ploidy and priors.
    **keywords
        Fields of `RunOptions` and `GenotypeOptions` by name, such as ``threads=2`` or ``ploidy=1``. They override
        those of `options` and `genotypes`.

    Returns
    -------
    iterator of Site
        In coordinate order, as they are scored. Memory does not grow with the files.

    Raises
    ------
    InputError
        For files that can't be used; names file, record and cure.
    OptionError
        For an option with a value that it can't have.
    TypeError
        For a keyword that no option has.
    BackendUnavailable
        Where a named backend does not run here.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reads alignments.

    Examples
    --------
    >>> for site in pairhmm.call("sample.bam", "ref.fa", regions="chr1:10,001-20,000"):  # doctest: +SKIP
    ...     print(site.variant, site.quality, site.genotypes["NA12878"].alleles)
    """
    chosen, genotyping = _chosen("call", keywords, options, genotypes)
    inputs = RunInputs.of(alignments, reference, candidates, haplotypes, regions, regions_file)
    return closed_at_exit(_called(inputs, chosen, genotyping))


def _chosen(
    function: str, keywords: CallKeywords, options: RunOptions | None, genotypes: GenotypeOptions | None
) -> tuple[RunOptions, GenotypeOptions]:
    """The options with keywords applied, and the values that a mixture has in place of defaults."""
    genotyping = genotypes or GenotypeOptions()
    is_mixture = keywords.get("mixture", genotyping.mixture)
    given: Mapping[str, object] = keywords
    if is_mixture and options is None and keywords.keys().isdisjoint(("evidence", "joining", "model")):
        given = {**keywords, **mixture_defaults(keywords, keywords.get("families", "none"))}
    chosen, genotyping = with_keywords(function, given, options or RunOptions(), genotyping)
    if is_mixture:  # from here on, rates of errors say so: those that qualities promise, until reads were looked at
        require_compiled("mixtures")
        chosen = replace(chosen, discovery=replace(chosen.discovery, errors=native.ErrorRates()))
    return chosen, genotyping


def _called(inputs: RunInputs, options: RunOptions, genotypes: GenotypeOptions) -> Generator[Site]:
    caller = _Caller(genotypes, inputs.candidates_are_discovered)
    with open_results(inputs, options, caller, refine=refinement(inputs)) as run:
        check_names(genotypes, run.samples)
        counts = SiteCounts()
        for sites in run.results:
            for site in sites:
                counts.add(site)
                yield site
        counts.announce()


@kept_apart()
def write_calls(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    genotypes: GenotypeOptions | None = None,
    min_quality: float = MIN_QUALITY,
    records: RecordOptions | None = None,
    haplotype_table: AnyPath | None = None,
    provenance: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    **keywords: Unpack[CallKeywords],
) -> None:
    """Genotype candidate variants as `call` does, and write VCF or BCF.

    The files appear when they are whole.

    Parameters
    ----------
    alignments, reference, candidates, haplotypes, regions, regions_file
        As for `call`.
    output : path
        ``.vcf``, ``.vcf.gz`` or ``.bcf``, the last two with an index; ``-`` is VCF to stdout.
    options, genotypes
        As for `call`.
    min_quality : float
        QUAL (Phred) below which a record's filter is LowQual. Where every genotype is the reference, the lowest GQ
        decides.
    records : RecordOptions, optional
        Which records are written, and which filters they get.
    haplotype_table : path, optional
        A table of the haplotypes of mixtures: ``.tsv``, ``.tsv.gz`` or ``.parquet``.
    provenance : mapping of str to str, optional
        Header lines ``##key=value``; the label of the backend joins them. Without it the header has none of them, and
        the bytes are reproducible.
    watch : callable, optional
        ``watch(region, share)`` is told of each region once it is scored, and of the share of the run (0 to 1) that is
        done then.
    **keywords
        As for `call`.

    Raises
    ------
    InputError, OptionError, TypeError, BackendUnavailable, CompiledPartMissing
        As for `call`; InputError also where an output can't be written or would replace an input.

    Examples
    --------
    >>> pairhmm.write_calls("sample.bam", "ref.fa", "calls.vcf.gz", threads=4)  # doctest: +SKIP
    """
    chosen, genotyping = _chosen("write_calls", keywords, options, genotypes)
    check_number("min_quality", min_quality, 0)
    written = records or RecordOptions()
    inputs = RunInputs.of(alignments, reference, candidates, haplotypes, regions, regions_file)
    check_apart(inputs.files, [("-o", output), ("--haplotype-table", haplotype_table)])
    _check_records(written, inputs, genotyping)
    if haplotype_table is not None and not genotyping.mixture:
        raise InputError("--haplotype-table", "", "haplotypes have fractions in a mixture", "add --mixture")
    if chosen.joining.window and (chosen.reads.circular or not genotyping.mixture):
        cure = "leave out --circular" if genotyping.mixture else "add --mixture"
        raise InputError("--haplotype-window", "", "windows are those of a mixture without circles", cure)
    caller = _Caller(genotyping, inputs.candidates_are_discovered, written, haplotype_table is not None)
    use: Use[CallLines] = _RecordMaker(caller, min_quality, chosen.discovery.min_base_quality)
    with open_results(inputs, chosen, use, watch, refinement(inputs), makes_blocks=written.gvcf) as run:
        if written.gvcf:
            require_one_sample(inputs, run.samples)
        check_names(genotyping, run.samples)
        with (
            open_calls(
                path_of(output),
                run.contigs,
                run.samples,
                min_quality=min_quality,
                reference=inputs.reference,
                provenance={**provenance, "pairhmmBackend": run.backend, MODEL_RECORD: run.options.model_text}
                if provenance
                else {},
                records=written,
                mixture=genotyping.mixture,
            ) as writer,
            open_haplotypes(path_of(haplotype_table)) as table,
        ):
            lines, counts = native.RecordLines(), SiteCounts()
            for more_lines, more_counts in run.results:
                counts.add_counts(more_counts)
                lines.add(more_lines)
                table.append(lines.take_haplotypes())
                writer.append(lines.take())
            writer.append(lines.take_all())
            counts.announce()


@dataclass(frozen=True, slots=True)
class _Caller:
    """Genotypes regions."""

    options: GenotypeOptions
    discovered: bool
    records: RecordOptions = field(default_factory=RecordOptions)
    haplotypes: bool = False

    def __call__(self, regions: Batches, run: Run) -> Iterator[list[Site]]:
        """The sites of each region."""
        return map(self.genotyper(run).sites, chain.from_iterable(regions))

    def genotyper(self, run: Run) -> RegionGenotyper:
        """What genotypes the regions of a run."""
        return RegionGenotyper(
            run.samples,
            self.options,
            run.options.model,
            self.discovered,
            self.records,
            run.source_rates,
            run.slips,
            self.haplotypes,
            run.options.discovery.errors,
        )


CallLines = tuple["RecordLines", SiteCounts]
"""Lines of records, with the blocks between them, and the counts of the records."""


@dataclass(frozen=True, slots=True)
class _RecordMaker:
    """Genotypes regions, and makes records of them, in a gVCF with the blocks between them."""

    caller: _Caller
    min_quality: float
    min_base_quality: int

    def __call__(self, regions: Batches, run: Run) -> Iterator[CallLines]:
        """The lines of some regions, and the counts of their sites."""
        options, records = self.caller.options, self.caller.records
        walk = walk_of(run, options, self.min_base_quality, records.gq_bands) if records.gvcf else None
        record_of = record_format(self.min_quality, records)
        lines, counts = native.RecordLines(), SiteCounts()
        genotyper = self.caller.genotyper(run).native
        for batch in regions:
            counts.add_counts(SiteCounts(*lines.add_regions(record_of, genotyper, batch, walk)))
            if lines.size >= _TEXT_AT_ONCE:
                yield lines, counts
                lines, counts = native.RecordLines(), SiteCounts()
        if walk is not None:
            lines.add_rest(walk)
        yield lines, counts


def _check_records(records: RecordOptions, inputs: RunInputs, genotypes: GenotypeOptions) -> None:
    """Require what some records need."""
    if genotypes.mixture and records.gvcf:
        raise InputError("--gvcf", "", "a gVCF has genotypes, and a mixture has none", "leave out --gvcf or --mixture")
    for flag in ("gvcf", "mnv"):
        if getattr(records, flag) and not inputs.candidates_are_discovered:
            path = inputs.candidates or inputs.haplotypes or ""
            rule = f"--{flag} is for variants that are found in reads"
            raise InputError(f"--{flag}", path, rule, f"leave out --{flag} or the file")
    ploidies = genotypes.ploidies
    highest = max(genotypes.ploidy, *ploidies.of_sample.values(), *(rule.ploidy for rule in ploidies.rules), 0)
    if records.gvcf and highest > _HIGHEST_PLOIDY:
        raise InputError("--gvcf", f"ploidy {highest}", "a gVCF has ploidy 0, 1 or 2", "leave out --gvcf")


def refinement(inputs: RunInputs) -> Refine | None:
    """What changes the scored regions of a run before they are genotyped."""
    require_compiled("reading alignments")
    if inputs.candidates_are_listed:
        return native.ScoredRegions.on_listed_alleles
    return native.ScoredRegions.with_many_unfit if inputs.candidates_are_discovered else None


def check_names(options: GenotypeOptions, samples: Sequence[str]) -> None:
    """Require that the samples that options of genotypes name exist."""
    for name in (*options.ploidies.of_sample, *options.ploidies.sex_of):
        if name not in samples:
            near = ", ".join(samples[:3]) + (", ..." if len(samples) > 3 else "")
            raise InputError("--sample-ploidy, --sample-sex", name, "no such sample", f"samples are {near}")
    _check_sexes(options.ploidies, samples)
    _check_families(options, samples)


def _check_sexes(ploidies: Ploidies, samples: Sequence[str]) -> None:
    """Require rules for the sexes of samples. Warn of samples whose sex is not given."""
    sexes = list(dict.fromkeys(rule.sex for rule in ploidies.rules))
    for name, sex in ploidies.sex_of.items():
        if not sexes:
            raise InputError("--sample-sex", f"{name}={sex}", "no rule says what it means", "add --ploidy-file")
        if sex not in sexes:
            cure = f"sexes of --ploidy-file are {listed(sexes)}"
            raise InputError("--sample-sex", f"{name}={sex}", "no rule is for this sex", cure)
    without = [name for name in samples if name not in ploidies.sex_of and name not in ploidies.of_sample]
    if sexes and without:
        log.warning("--ploidy-file: not used for %s, whose sex is not given: add --sample-sex", listed(without))


def _check_families(options: GenotypeOptions, samples: Sequence[str]) -> None:
    """Say which families are used. Require that a pedigree has one."""
    pedigree = options.pedigree
    if pedigree is None:
        return
    families, left_out = pedigree.families(samples)
    if not families and not left_out:
        raise InputError(
            pedigree.name,
            "",
            "has no child that is a sample and whose father and mother are samples",
            "give the three of a family, under the names of their read groups",
        )
    children = sum(len(family.children) for family in families)
    log.info("%s: families %d, with children %d", pedigree.name, len(families), children)
    if left_out:
        log.warning("%s: families close a loop, so that %s count as founders", pedigree.name, ", ".join(left_out))
