"""The text that names a model in headers of outputs: its parameters, and the options that change its scores.

``gatk``, ``gatk (NAME)`` and ``profile (NAME)``, followed by each option whose value is not the default, such as
``gatk, gap_quality=5, cap_by_mapping_quality=false``. From the text, the options are found again.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

from pairhmm.errors import InputError, OptionError
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.parameter_file import read_options
from pairhmm.models.profile import PRESETS, ProfileModel, parameters_of
from pairhmm.models.str_parameters import LIBRARIES, str_model_of

_OF_BASES = ("trims_ends", "cap_by_mapping_quality", "base_quality_threshold")
_OF_INDELS = ("insertion_quality", "deletion_quality", "pcr_indel_model")
_NAMED = (*_OF_INDELS, "gap_quality", "indel_tags", *_OF_BASES)
_WORDS = {"true": True, "false": False, "none": None}
_LABEL = re.compile(r"(gatk|profile)(?: \((.*)\))?((?:, \w+=[\w-]+)*)", re.DOTALL)
_MOST_BYTES = 1 << 20
"""Bytes beyond which a file is not one of parameters."""


def label_of(options: GatkOptions, profile: ProfileModel | None = None) -> str:
    """The name of a model, its parameters and its options.

    Parameters
    ----------
    options : GatkOptions
        Of these, those are named that change a score and are not replaced by other parameters.
    profile : ProfileModel or None
        None for GATK's model.

    Examples
    --------
    >>> label_of(GatkOptions(gap_quality=5, base_quality_threshold=None))
    'gatk, gap_quality=5, base_quality_threshold=none'
    """
    used: tuple[str, ...]
    if profile is not None:
        name, used = profile.name, _OF_BASES
    elif options.str_model is not None:
        name, used = options.str_model.name, ("indel_tags", *_OF_BASES)
    elif options.indel_qualities is not None:
        name, used = options.indel_qualities.name, ("gap_quality", "indel_tags", *_OF_BASES)
    else:
        name, used = "", _NAMED
    default = GatkOptions()
    changed = [key for key in used if getattr(options, key) != getattr(default, key)]
    model = "gatk" if profile is None else "profile"
    named = f"{model} ({name})" if name else model
    return "".join([named, *(f", {key}={str(getattr(options, key)).lower()}" for key in changed)])


def model_of_label(text: str) -> tuple[GatkOptions, ProfileModel | None] | None:
    """The options and the profile model that a text of `label_of` names; None where its parameters are not here.

    Parameters
    ----------
    text : str
        From a file, so that it may be anything.
    """
    parts = _LABEL.fullmatch(text)
    if parts is None:
        return None
    model, name, changed = parts.groups()
    try:
        options = replace(GatkOptions(), **dict(map(_option_of, re.findall(r"(\w+)=([\w-]+)", changed))))
        if name is None:
            return (options, None) if model == "gatk" else None
        if name not in (PRESETS if model == "profile" else LIBRARIES) and not _may_be_parameters(name):
            return None
        return (options, parameters_of(name)) if model == "profile" else (_with_parameters(options, name), None)
    except (InputError, OptionError, LookupError, ValueError):
        return None


def _option_of(pair: tuple[str, str]) -> tuple[str, Any]:
    """The name and the value of an option of GATK's model, from their texts."""
    key, text = pair
    if key not in _NAMED:
        raise ValueError(key)
    if key == "pcr_indel_model":
        return key, text
    return key, int(text) if text.isdecimal() else _WORDS[text]


def _may_be_parameters(name: str) -> bool:
    """Whether a file of that name is here and not too large. It may be any file: the name is not the user's."""
    return os.path.isfile(name) and os.path.getsize(name) <= _MOST_BYTES


def _with_parameters(options: GatkOptions, name: str) -> GatkOptions:
    """GATK's options with the qualities of repeats that a name stands for: those of a library, or of a file."""
    if name in LIBRARIES:
        return replace(options, str_model=str_model_of(name))
    try:
        return replace(options, indel_qualities=read_options(name).indel_qualities)
    except InputError:
        return replace(options, str_model=str_model_of(name))
