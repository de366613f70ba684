"""Which sample a read belongs to: one rule for every command.

A sample is the SM of read groups. Read groups without SM, and reads without a read group, belong to the file's only
sample. They have none in a file of several samples. A file in which no read group has SM is a sample that has the
file's name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pairhmm.io.files.names import decoded
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
