"""`calibrate-str`: the STR model of a sample, from its own reads."""

from __future__ import annotations

import logging
from typing import Unpack

from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.arguments import AnyPath, Paths, Regions, path_of
from pairhmm.calling.keywords import RunKeywords
from pairhmm.calling.opening import open_files
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.str_counts import count_changes
from pairhmm.calling.str_rates import StrRates, estimate_rates
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import PARAMETER_ENDING, require_ending
from pairhmm.files.outputs import open_output
from pairhmm.models.str_model import StrModel
from pairhmm.models.str_parameters import model_of_rates, str_toml
from pairhmm.native import require_compiled
from pairhmm.options import with_keywords
from pairhmm.plurals import counted

log = logging.getLogger(__name__)

FEW_CHANGES = 100
"""Changes below which the built-in priors decide most rates."""


def calibrate_str(
    alignments: Paths,
    reference: AnyPath,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> tuple[StrModel, StrRates]:
    """Estimate how often the tandem repeats of a sample stutter in its reads.

    Repeats that most reads show in one length count. Reads of other lengths have gained or lost units. All samples of
    the files count as one.

    Parameters
    ----------
    alignments : path or sequence of paths
        BAM or CRAM files, sorted by coordinate.
    reference : path
        FASTA that the reads were aligned to.
    regions : str, (str, int, int), or sequence of these
        ``chr:begin-end`` or ``chr:position``, 1-based inclusive; or contig, start and end, 0-based half-open. Regions
        need indexed alignments.
    regions_file : path, optional
        BED, 0-based half-open. With neither `regions` nor `regions_file`, all reads count.
    options : RunOptions, optional
        Which reads are used, and the gap qualities where there is no repeat.
    **keywords
        Fields of `RunOptions` by name. They override those of `options`.

    Returns
    -------
    model : StrModel
        For ``call(..., str_model=model)``.
    rates : StrRates

    Raises
    ------
    InputError
        For files that can't be used, and where no repeat has enough reads.
    OptionError
        For an option with a value that it can't have.
    TypeError
        For a keyword that no option has.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reads alignments.

    Examples
    --------
    >>> model, rates = pairhmm.calibrate_str("sample.bam", "ref.fa")  # doctest: +SKIP
    >>> pairhmm.write_calls("sample.bam", "ref.fa", "calls.vcf.gz", str_model=model)  # doctest: +SKIP
    """
    require_compiled("reading alignments")
    (chosen,) = with_keywords("calibrate_str", keywords, options or RunOptions())
    inputs = RunInputs.of(alignments, reference, None, None, regions, regions_file)
    with open_files(inputs, chosen) as files:
        order = list(files.contigs)
        blocks = read_blocks(files.reader.sources, order, chosen.reads, chosen.chunk_size, files.requested)
        sites = count_changes(files.check.watch(blocks), files.genome.fetch)
    rates = estimate_rates(sites)
    name = ", ".join(inputs.alignments)
    if not rates.repeats.any():
        raise InputError(name, "", "no tandem repeat has 8 reads or more", "give a deeper sample, or more of it")
    changes = int(rates.changes.sum())
    repeats, reads = int(rates.repeats.sum()), int(rates.reads.sum())
    log.info("%s, %s over them, %d with other units", counted(repeats, "repeat"), counted(reads, "read"), changes)
    if changes < FEW_CHANGES:
        few = counted(int(changes), "read has", "reads have")
        log.warning("only %s other units: most rates are those that are expected without any reads", few)
    quality = min(chosen.model.insertion_quality, chosen.model.deletion_quality)
    return model_of_rates(rates.gain, rates.loss, name, quality, chosen.model.gap_quality), rates


@kept_apart()
def write_str_model(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> None:
    """Write what `calibrate_str` estimates, as TOML. The file appears when it is whole.

    Parameters
    ----------
    alignments, reference, regions, regions_file, options, **keywords
        As for `calibrate_str`.
    output : path
        TOML; ``-`` is stdout.

    Raises
    ------
    InputError, OptionError, TypeError, CompiledPartMissing
        As for `calibrate_str`; InputError also where the output can't be written or would replace an input.

    Examples
    --------
    >>> pairhmm.write_str_model("sample.bam", "ref.fa", "sample.str.toml")  # doctest: +SKIP
    """
    output = path_of(output)
    require_ending(output, "STR models", PARAMETER_ENDING)
    inputs = RunInputs.of(alignments, reference, None, None, regions, regions_file)
    check_apart(inputs.files, [("-o", output)])
    model, rates = calibrate_str(alignments, reference, regions, regions_file, options, **keywords)
    with open_output(output) as out:
        out.write(str_toml(model, _comments(model, rates)))


def _comments(model: StrModel, rates: StrRates) -> list[str]:
    """Repeats, reads and changes behind the model, by unit."""
    lines = [f"STR model of {model.name}", "for 'pairhmm call --str-model FILE'", "unit repeats reads changes"]
    for unit, columns in enumerate(zip(rates.repeats, rates.reads, rates.changes, strict=True), start=1):
        lines.append(" ".join(map(str, (unit, *(int(column.sum()) for column in columns)))))
    return lines
