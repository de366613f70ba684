"""Reads allele frequencies of a population from a VCF or BCF."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.map.genotype_blocks import record_key
from pairhmm.variants.records import RecordLines

_FREQUENCY = re.compile(rb"(?:^|;)AF=([^;,]+)(?:;|$)")
_CURE = "give a VCF with AF in INFO (bcftools +fill-tags -- -t AF)"


def read_frequencies(path: str, keys: Sequence[str]) -> NDArray[np.float64]:
    """The frequency of the alternative allele at each site (AF in INFO): float64 (sites,); NaN where the file lacks it.

    Parameters
    ----------
    path : str
    keys : sequence of str
        `pairhmm.map.cohort.site_key` of each site.

    Raises
    ------
    InputError
        For a file that can't be read, an AF that is no frequency, and where no site is in the file.
    """
    place = {key: number for number, key in enumerate(keys)}
    found = np.full(len(keys), np.nan)
    for fields in RecordLines(path, _CURE):
        number = place.get(record_key(fields))
        value = _FREQUENCY.search(fields[7]) if number is not None else None
        if value is not None:
            found[number] = _frequency(path, keys[number or 0], value[1])
    if np.isnan(found).all():
        raise InputError(path, "", "has no frequency for any site of the samples", _CURE)
    return found


def _frequency(path: str, key: str, text: bytes) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise InputError(path, key, f"AF={text.decode('utf-8', 'replace')} is not a frequency", _CURE)
    return value
