"""The name of the sample that a file holds."""

from __future__ import annotations

import os

import pysam

from pairhmm.errors import InputError
from pairhmm.io.files.htslib import UNREADABLE, quiet
from pairhmm.io.files.names import check_names, decoded
from pairhmm.io.files.standard_streams import STDIN

_PACKED = (".gz", ".bgz")
_FORMATS = (".fasta", ".fastq", ".fa", ".fna", ".ffn", ".fas", ".fq", ".bam", ".cram", ".sam")


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
    named = _in_read_groups(path) if has_alignments and os.path.isfile(path) else set[str]()
    if len(named) > 1:
        rule = f"has reads of {len(named)} samples: {', '.join(sorted(named)[:3])}"
        raise InputError(path, "", rule, "divide it (samtools split), or name it as one with --sample")
    name = named.pop() if named else _of_file(path)
    check_names(path, "sample", [name], "rename it")
    return name


def _in_read_groups(path: str) -> set[str]:
    try:
        with quiet(), pysam.AlignmentFile(path, "r", check_sq=False) as file:
            groups = file.header.to_dict().get("RG", [])
    except UNREADABLE:
        # Reading its reads says what is wrong.
        return set()
    return {group["SM"] for group in groups if group.get("SM")}


def _of_file(path: str) -> str:
    if path == STDIN:
        return "stdin"
    name = decoded(os.path.basename(path))
    for endings in (_PACKED, _FORMATS):
        ending = next((one for one in endings if name.lower().endswith(one) and len(name) > len(one)), "")
        name = name[: len(name) - len(ending)]
    return name
