"""Formats of files: the first bytes of each, and the endings of names that choose one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDOUT, is_device

GZIP: Final = b"\x1f\x8b"
GZIP_DEFLATE: Final = b"\x1f\x8b\x08"
"""The first bytes of a gzip file, with the compression method. Deflate is the only one."""
BGZF_HEAD_SIZE: Final = 18
"""Bytes of a BGZF block before its data (SAM specification, section 4.1)."""

BAM: Final = b"BAM\1"
CRAM: Final = b"CRAM"
SAM: Final = (b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t", b"@CO\t")
"""A SAM file with a header begins with one of these."""
BLOW5: Final = b"BLOW5\1"
SLOW5: Final = b"#slow5_version\t"
BCF: Final = b"BCF"
VCF: Final = b"##fileformat=VCF"

OTHER_PACKERS: Final = (
    ("xz", "xz -d", re.compile(rb"\xfd7zXZ\x00")),
    ("zstd", "zstd -d", re.compile(rb"\x28\xb5\x2f\xfd")),
    ("bzip2", "bzip2 -d", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", re.DOTALL)),
)
"""Programs that pack files as nothing here reads them: name, command that unpacks, and first bytes."""
PACKED_HEAD_SIZE: Final = 10

TEXT_TABLE = (".tsv",)
PARAMETER_ENDING = (".toml",)
FASTA_ENDINGS = (".fa", ".fasta", ".fna", ".fas")
HTML_ENDINGS = (".html", ".htm")
TABIX_INDICES = (".tbi", ".csi")
"""Suffixes of the indices of bgzipped tables and VCF. A run makes one; an earlier run may have left the other."""
MULTIQC_ENDING = "_mqc.json"
"""The ending by which MultiQC recognises files of custom content."""


def require_ending(destination: str | Path, what: str, endings: tuple[str, ...]) -> None:
    """Require that an output's name has one of the `endings` or none at all. Stdout and devices are not checked.

    Raises InputError for any other ending.

    `what`: what is written, in the plural, for the message.
    """
    name = Path(destination).name
    if str(destination) == STDOUT or is_device(destination) or "." not in name.lstrip("."):
        return
    if not name.endswith(endings):
        either = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise InputError(str(destination), "", f"not a name for {what}", f"end it in {either}")
