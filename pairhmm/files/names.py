"""Names of samples, reads and files, and checks that they fit tables and VCF.

Control characters would break columns, rows and header lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDIN

MODEL_RECORD = "pairhmmModel"
"""The key of the header line that names the model and its parameters."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_BYTES = bytes([*range(0x20), 0x7F])
_RULE = "a name with a tab, a line break or another control character"
_PACKED = (".gz", ".bgz")
_FORMATS = (".fasta", ".fastq", ".fa", ".fna", ".ffn", ".fas", ".fq", ".bam", ".cram", ".sam")


def check_names(path: str, what: str, names: Iterable[str], cure: str) -> None:
    """Raise an error for names with control characters.

    Raises InputError for the first name that has one.

    `what`: what the names belong to, for the message, such as ``sample``.
    """
    for name in names:
        if _CONTROL.search(name):
            raise InputError(path, f"{what} {name!r}".lstrip(), _RULE, cure)


def check_row_names(path: str, what: str, names: Iterable[str], cure: str) -> None:
    """Raise an error for names in the first column that begin with ``#``, which tables take for a header.

    The parameters are those of `check_names`.

    Raises InputError for the first name that does.
    """
    for name in names:
        if name.startswith("#"):
            raise InputError(
                path, f"{what} {name!r}".lstrip(), "a table takes a row that begins with # for a header", cure
            )


def check_file_names(what: str, paths: Sequence[str]) -> None:
    """Require names of files that can stand in a table, as `decoded` gives them, and that it tells apart.

    Raises InputError for control characters, and for two files that only bytes that are not UTF-8 tell apart.
    """
    check_names(what, "file", paths, "rename the file: its name stands in the table")
    shown: dict[str, str] = {}
    for path in paths:
        if shown.setdefault(decoded(path), path) != path:
            rule = "is not UTF-8, and reads as the name of another file does"
            raise InputError(what, f"file {path!r}", rule, "rename the file: its name stands in the table")


def check_packed_names(path: str, text: bytes, names: Iterable[str]) -> None:
    """Like `check_names`, for the names of a block of reads, all at once: they are laid end to end in `text`."""
    if len(text.translate(None, _CONTROL_BYTES)) < len(text):
        check_names(path, "read", names, "repair or remove the read")


def decoded(name: str) -> str:
    """A file name as text. Bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def printable(text: str) -> str:
    """A text as messages and header lines show it: as from `decoded`, with control characters escaped."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], decoded(text))


def samples_of(path: str, read_groups: Sequence[Mapping[str, str]]) -> list[str]:
    """The samples of a file, in order of appearance: one rule for every command.

    A sample is the SM of read groups. Read groups without SM, and reads without a read group, belong to the file's only
    sample. They have none in a file of several samples. A file in which no read group has SM is a sample that has the
    file's name.

    `path`: ``-`` is stdin. `read_groups`: the fields of the header's lines @RG.
    """
    named = dict.fromkeys(group["SM"] for group in read_groups if group.get("SM"))
    return list(named) or [sample_of_file(path)]


def sample_of_file(path: str) -> str:
    """The sample that a file is, where nothing in it names one: its name, without what stands for its format."""
    if path == STDIN:
        return "stdin"
    name = decoded(os.path.basename(path))
    for endings in (_PACKED, _FORMATS):
        ending = next((suffix for suffix in endings if name.lower().endswith(suffix) and len(name) > len(suffix)), "")
        name = name[: len(name) - len(ending)]
    return name


def sample_name(path: str, has_alignments: bool) -> str:
    """The sample of a file: of alignments in a regular file, their read groups' (SM); of others, the file's name.

    Raises InputError for read groups of several samples, and for a name with control characters.

    `path`: ``-`` is stdin. `has_alignments`: whether it is BAM, CRAM or SAM.
    """
    names = samples_of(path, _read_groups(path) if has_alignments and os.path.isfile(path) else [])
    if len(names) > 1:
        rule = f"has reads of {len(names)} samples: {', '.join(sorted(names)[:3])}"
        raise InputError(path, "", rule, "divide it (samtools split), or name it as one with --sample")
    check_names(path, "sample", names, "rename it")
    return names[0]


def _read_groups(path: str) -> list[dict[str, str]]:
    import pysam  # Most commands read no header, and start sooner without.

    from pairhmm.files.htslib import UNREADABLE, quiet

    try:
        with quiet(), pysam.AlignmentFile(path, "r", check_sq=False) as file:
            groups: list[dict[str, str]] = file.header.to_dict().get("RG", [])
    except UNREADABLE:
        # Reading its reads says what is wrong.
        return []
    return groups
