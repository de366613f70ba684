"""The name of the sample that a file holds."""

from __future__ import annotations

import os

import pysam

from pairhmm.errors import InputError
from pairhmm.io.files.htslib import UNREADABLE, quiet
from pairhmm.io.files.names import check_names, samples_of


def sample_name(path: str, has_alignments: bool) -> str:
    """The sample of a file: of alignments in a regular file, their read groups' (SM); of others, the file's name.

    Parameters
    ----------
    path : str
        ``-`` is stdin.
    has_alignments : bool
        Whether it is BAM, CRAM or SAM.

    Raises
    ------
    InputError
        For read groups of several samples, and for a name with control characters.
    """
    names = samples_of(path, _read_groups(path) if has_alignments and os.path.isfile(path) else [])
    if len(names) > 1:
        rule = f"has reads of {len(names)} samples: {', '.join(sorted(names)[:3])}"
        raise InputError(path, "", rule, "divide it (samtools split), or name it as one with --sample")
    check_names(path, "sample", names, "rename it")
    return names[0]


def _read_groups(path: str) -> list[dict[str, str]]:
    try:
        with quiet(), pysam.AlignmentFile(path, "r", check_sq=False) as file:
            groups: list[dict[str, str]] = file.header.to_dict().get("RG", [])
    except UNREADABLE:
        # Reading its reads says what is wrong.
        return []
    return groups
