"""Reads the parameters of GATK's model from a file, as `pairhmm fit --model gatk` writes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pairhmm.errors import InputError, OptionError
from pairhmm.models.gatk import GatkOptions, IndelQualities, pcr_quality
from pairhmm.models.parameter_file import BY_COPIES, KEYS, check_keys, qualities_of, read_table
from pairhmm.options import rules_of

_DEFAULTS = GatkOptions()


def read_options(path: str | Path, options: GatkOptions = _DEFAULTS) -> GatkOptions:
    """Options of GATK's model, with the qualities of a TOML file.

    Qualities by copies are rounded to whole numbers, as qualities of reads are. A file without them has the table that
    its options make.

    Parameters
    ----------
    options : GatkOptions
        Gives all other values.

    Raises
    ------
    InputError
        For a file that is not TOML, is empty or has the profile model's parameters, for unknown or missing keys, and
        for values that are no qualities.
    """
    source = str(path)
    table = check_keys(read_table(path, "gatk"), KEYS["gatk"], "", source, optional=(BY_COPIES,))
    for key in KEYS["gatk"]:
        try:
            rules_of(GatkOptions)[key].check(key, table[key])
        except OptionError as error:
            raise InputError(source, "", str(error), "") from error
    named = replace(options, **{key: table[key] for key in KEYS["gatk"]})
    by_copies = _by_copies(table[BY_COPIES], source) if BY_COPIES in table else _of_options(named, source)
    return replace(named, indel_qualities=by_copies)


def _of_options(options: GatkOptions, source: str) -> IndelQualities:
    cap = pcr_quality(options.pcr_indel_model)[1:].tolist()
    qualities = (
        [min(quality, most) for most in cap] for quality in (options.insertion_quality, options.deletion_quality)
    )
    insertion, deletion = map(tuple, qualities)
    return IndelQualities(insertion, deletion, source)


def _by_copies(table: object, source: str) -> IndelQualities:
    known = check_keys(table, ("insertion", "deletion"), f"{BY_COPIES}.", source)
    insertion, deletion = (qualities_of(known[key], f"{BY_COPIES}.{key}", source) for key in ("insertion", "deletion"))
    return IndelQualities(insertion, deletion, source)
