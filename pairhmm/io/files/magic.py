"""The first bytes of files of each format."""

from __future__ import annotations

import re
from typing import Final

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
