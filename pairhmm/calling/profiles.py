"""`profiles`: reads of alignments as the profile model takes them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Unpack

from pairhmm.arguments import AnyPath, Paths, Texts, path_of
from pairhmm.calling.keywords import RunKeywords
from pairhmm.calling.profile_making import MadeProfile, made_profiles
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.models.profile import PRESETS, preset
from pairhmm.models.profile_writer import open_profiles
from pairhmm.options import with_keywords
from pairhmm.process import closed_at_exit

log = logging.getLogger(__name__)


def profiles(
    alignments: Paths,
    reference: AnyPath,
    regions: Texts = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Iterator[MadeProfile]:
    """Make the profiles that the profile model scores: letter probabilities of reads, joined where that is asked for.

    Base qualities are prepared as for scoring. Reads are whole, where scoring cuts them to regions.

    Parameters
    ----------
    alignments : path or sequence of paths
        BAM or CRAM files, sorted by coordinate. Samples are those of their read groups.
    reference : path
        FASTA that the reads were aligned to.
    regions : str or sequence of str
        ``chr:begin-end`` or ``chr:position``, 1-based inclusive. Regions need indexed alignments.
    regions_file : path, optional
        BED, 0-based half-open. With neither `regions` nor `regions_file`, all reads are taken.
    options : RunOptions, optional
        Which reads are used, how their qualities are prepared (`GatkOptions`), and which of them are joined
        (`MoleculeOptions`). The other options are about haplotypes and scores.
    **keywords
        Fields of `RunOptions` by name, such as ``join_mates=True`` or ``families="MI"``. They override those of
        `options`.

    Returns
    -------
    iterator of MadeProfile
        In the order of their positions; `MadeProfile.probabilities` is float64[m, 4]. Memory does not grow with the
        files.

    Raises
    ------
    InputError
        For files that can't be used; names file, record and cure.
    OptionError
        For an option with a value that it can't have.
    TypeError
        For a keyword that no option has.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reads alignments.

    Examples
    --------
    >>> for one in pairhmm.profiles("sample.bam", "ref.fa", "chr1:10,001-10,100", join_mates=True):  # doctest: +SKIP
    ...     print(one.name, one.reads, one.probabilities.shape)
    """
    chosen = _with_model("profiles", options, keywords)
    inputs = RunInputs.of(alignments, reference, None, None, regions, regions_file)
    return closed_at_exit(made_profiles(inputs, chosen))


def _with_model(function: str, options: RunOptions | None, keywords: RunKeywords) -> RunOptions:
    """The options of a function. Joining needs a profile model, though its parameters have no part in a profile."""
    given = options or RunOptions()
    (chosen,) = with_keywords(function, keywords, replace(given, profile=given.profile or preset(PRESETS[0])))
    return chosen


@kept_apart()
def write_profiles(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    regions: Texts = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> int:
    """Write the profiles that `profiles` makes. The file appears when it is whole.

    Parameters
    ----------
    alignments, reference, regions, regions_file, options, **keywords
        As for `profiles`.
    output : path
        ``.profile`` or ``.tsv``, with ``.gz`` bgzipped; ``-`` is `.profile` to stdout.

    Returns
    -------
    int
        Profiles written.

    Raises
    ------
    InputError, OptionError, TypeError, CompiledPartMissing
        As for `profiles`; InputError also where the output can't be written or would replace an input.

    Examples
    --------
    >>> pairhmm.write_profiles("sample.bam", "ref.fa", "families.tsv.gz", families="MI")  # doctest: +SKIP
    """
    chosen, output = _with_model("write_profiles", options, keywords), path_of(output)
    inputs = RunInputs.of(alignments, reference, None, None, regions, regions_file)
    check_apart(inputs.files, [("-o", output)])
    count = reads = 0
    with open_profiles(output) as write:
        for one in made_profiles(inputs, chosen):
            write(one)
            count, reads = count + 1, reads + one.reads
    log.info("%d profiles of %d reads", count, reads)
    return count
