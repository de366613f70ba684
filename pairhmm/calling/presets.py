"""Options for kinds of reads: sets of values that a name stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pairhmm.options import check_choice

# Long reads have errors that base qualities do not tell, so that a best score says little of where a read belongs: none
# is set aside, and mapping qualities do not cap base qualities. Their gaps are frequent, and not those of PCR.
_LONG: Mapping[str, Any] = {
    "pcr_indel_model": "none",
    "cap_by_mapping_quality": False,
    "error_rate": None,
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "illumina": {},
    "hifi": {**_LONG, "insertion_quality": 30, "deletion_quality": 30},
    "ont": {
        **_LONG,
        "insertion_quality": 22,
        "deletion_quality": 19,
        "gap_quality": 5,
        "base_quality_threshold": None,
        "min_snv_fraction": 0.2,
        "min_indel_fraction": 0.2,
    },
}
"""The values of each preset, by the names of options. Others have their defaults, which are those of short reads."""


def preset_options(name: str) -> Mapping[str, Any]:
    """The options of a preset, as keywords of `pairhmm.call` and `pairhmm.likelihoods`.

    Parameters
    ----------
    name : {"illumina", "hifi", "ont"}

    Returns
    -------
    mapping of str to object
        Values by the names of options; empty for "illumina".

    Raises
    ------
    OptionError
        For another name.

    Examples
    --------
    >>> pairhmm.preset_options("hifi")["insertion_quality"]
    30
    """
    check_choice("preset", name, tuple(PRESETS))
    return dict(PRESETS[name])
