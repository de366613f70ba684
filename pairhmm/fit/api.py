"""`fit`: parameters of a model from alignments."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated, Literal, Unpack

from pairhmm.arguments import AnyPath, Paths, Regions, path_of
from pairhmm.calling.keywords import RunKeywords
from pairhmm.calling.opening import open_run
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.errors import InputError, OptionError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import PARAMETER_ENDING, TEXT_TABLE, require_ending
from pairhmm.files.outputs import open_output
from pairhmm.fit.collecting import Collected, collect_given, collect_plain
from pairhmm.fit.files import gatk_toml, profile_toml, rounds_table
from pairhmm.fit.fit import Fitted, fit_gatk, fit_profile
from pairhmm.fit.gatk_model import GatkFit
from pairhmm.fit.maximisation import FitOptions, Round
from pairhmm.fit.pairs import FitPairs
from pairhmm.fit.profile_model import ProfileFit
from pairhmm.fit.spread import spread_over_windows
from pairhmm.models.profile import ProfileModel, preset
from pairhmm.options import Within, check_choice, check_whole, with_keywords

log = logging.getLogger(__name__)

ModelName = Literal["profile", "gatk"]
MODELS: tuple[ModelName, ...] = ("profile", "gatk")
_DEFAULTS = FitOptions()
MOST_READS = 100_000
"""Reads that a fit takes by default. They give a rate of 1 in 1,000 to about 1%."""


@kept_apart()
def fit(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    kind: ModelName = "profile",
    *,
    initial: ProfileModel | None = None,
    rounds_output: AnyPath | None = None,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    max_reads: Annotated[int, Within(1)] = MOST_READS,
    fitting: FitOptions = _DEFAULTS,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Fitted[ProfileFit] | Fitted[GatkFit]:
    """Fit the parameters of a model to reads, and write them.

    Without `candidates` and `haplotypes`, reads are taken where discovery finds no variant, and their haplotype is the
    reference; with them, each read's haplotype is the likeliest of its region.

    Parameters
    ----------
    alignments : path or sequence of paths
        BAM or CRAM files, sorted by coordinate.
    reference : path
        FASTA.
    output : path
        TOML; ``-`` is stdout.
    kind : {"profile", "gatk"}
        The model.
    initial : ProfileModel, optional
        The parameters that a profile fit begins with; by default the preset ``normalised``. A fit of GATK's model
        begins with the qualities of `options`.
    rounds_output : path, optional
        Table of the log-likelihood of each round.
    candidates, haplotypes, regions, regions_file
        As for `likelihoods`.
    max_reads : int
        Reads that are taken. If there are more, they are a sample that is spread over the files and regions.
    fitting : FitOptions, optional
        When the fit stops.
    options : RunOptions, optional
        Which reads are used, and how their qualities are prepared.
    **keywords
        Fields of `RunOptions` by name.

    Returns
    -------
    Fitted

    Raises
    ------
    InputError
        For files that can't be used, and where no read can be; names file, record and cure.
    OptionError
        For an option with a value that it can't have.
    TypeError
        For a keyword that no option has.
    BackendUnavailable
        Where a named backend does not run here.
    CompiledPartMissing
        Where the package was installed without its compiled part.

    Examples
    --------
    >>> fitted = pairhmm.fit("sample.bam", "ref.fa", "profile.toml", regions="chr20")  # doctest: +SKIP
    >>> fitted.model.model.by_copies[0, 0], fitted.errors["1 copy"][1]  # doctest: +SKIP
    """
    check_choice("kind", kind, MODELS)
    check_whole("max_reads", max_reads, 1)
    (chosen,) = with_keywords("fit", keywords, options or RunOptions())
    if chosen.molecules.are_on:
        raise OptionError("molecules", chosen.molecules, "is not for a fit, which takes reads one by one")
    inputs = RunInputs.of(alignments, reference, candidates, haplotypes, regions, regions_file)
    initial = initial or preset("normalised")
    wrong = initial.unlike_one()
    if wrong:
        raise InputError("--parameters", "", wrong, "begin a fit with distributions, such as those of 'normalised'")
    output = path_of(output)
    require_ending(output, "parameters", PARAMETER_ENDING)
    if rounds_output is not None:
        require_ending(path_of(rounds_output), "tables of rounds", TEXT_TABLE)
    destinations = [("-o", output)] + ([("--rounds", path_of(rounds_output))] if rounds_output is not None else [])
    check_apart(inputs.files, destinations)
    files = len(inputs.alignments)
    source = f"{files} alignment file{'s' if files > 1 else ''}"
    with ExitStack() as outputs:
        parameters = outputs.enter_context(open_output(output))
        table = None if rounds_output is None else outputs.enter_context(open_output(path_of(rounds_output)))
        pairs = _pairs(inputs, max_reads, chosen)
        fitted: Fitted[ProfileFit] | Fitted[GatkFit]
        if kind == "profile":
            fitted = fit_profile(pairs, initial, fitting, chosen.threads, _log_round)
            parameters.write(profile_toml(fitted, source))
        else:
            fitted, values, log10 = fit_gatk(pairs, chosen.model, fitting, chosen.threads, _log_round)
            parameters.write(gatk_toml(fitted, values, log10, source))
        if table is not None:
            for line in rounds_table(fitted.rounds):
                table.write(line)
    if fitted.beyond:
        log.warning("%d of %d reads fit their haplotype too badly to be counted", fitted.beyond, fitted.reads)
    return fitted


def _pairs(inputs: RunInputs, most: int, options: RunOptions) -> FitPairs:
    if not inputs.candidates_are_discovered:
        # Assembly would spell errors of noisy reads as haplotypes, beside which they count as no errors.
        options = replace(options, discovery=replace(options.discovery, assembly=False))
    with open_run(spread_over_windows(inputs, most), options) as run:
        if inputs.candidates_are_discovered:
            collected = collect_plain(run, run.stream.reference.fetch, options.model, most)
        else:
            collected = collect_given(run, options.model, most)
    if not collected.pairs:
        raise InputError(", ".join(inputs.alignments), "", *_nothing(collected))
    pairs = collected.sample()
    log.info(
        "fitting to %d of %d reads; left out: %d beside variants, %d too short or spliced",
        len(pairs),
        collected.pairs,
        collected.beside_variants,
        collected.unusable,
    )
    return pairs


def _nothing(collected: Collected) -> tuple[str, str]:
    if collected.beside_variants or collected.unusable:
        return (
            f"no read to fit to: {collected.beside_variants} lie beside variants or fit no haplotype,"
            f" {collected.unusable} are too short or spliced",
            "give more of the genome, or -v with the sample's variants",
        )
    return "no read to fit to", "check -r, --min-mapq and --exclude-flags"


def _log_round(state: Round) -> None:
    each = state.log10 / state.reads
    log.info("%s reads, round %d: log10 likelihood %.3f (%.6f a read)", state.pairs, state.number, state.log10, each)
