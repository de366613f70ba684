"""Which sample a read belongs to: one rule for every command.

A sample is the SM of read groups. Read groups without SM, and reads without a read group, belong to the file's only
sample. They have none in a file of several samples. A file in which no read group has SM is a sample that has the
file's name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pairhmm.errors import InputError
from pairhmm.io.files.htslib import UNREADABLE, quiet
from pairhmm.io.files.names import check_names, decoded
from pairhmm.io.files.standard_streams import STDIN

_PACKED = (".gz", ".bgz")
_FORMATS = (".fasta", ".fastq", ".fa", ".fna", ".ffn", ".fas", ".fq", ".bam", ".cram", ".sam")


def samples_of(path: str, read_groups: Sequence[Mapping[str, str]]) -> list[str]:
    """The samples of a file, in order of appearance.

    Parameters
    ----------
    path : str
        ``-`` is stdin.
    read_groups : sequence of mappings
        The fields of the header's lines @RG.
    """
    named = dict.fromkeys(group["SM"] for group in read_groups if group.get("SM"))
    return list(named) or [sample_of_file(path)]


def sample_of_file(path: str) -> str:
    """The sample that a file is, where nothing in it names one: its name, without what stands for its format."""
    if path == STDIN:
        return "stdin"
    name = decoded(os.path.basename(path))
    for endings in (_PACKED, _FORMATS):
        ending = next((one for one in endings if name.lower().endswith(one) and len(name) > len(one)), "")
        name = name[: len(name) - len(ending)]
    return name


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
    import pysam  # Most commands need no header, and start sooner without.

    try:
        with quiet(), pysam.AlignmentFile(path, "r", check_sq=False) as file:
            groups: list[dict[str, str]] = file.header.to_dict().get("RG", [])
    except UNREADABLE:
        # Reading its reads says what is wrong.
        return []
    return groups
