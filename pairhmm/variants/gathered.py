"""Joins the shards of a call set, in order. Records are copied unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.shards import DAMAGED, SAME_RUN, ShardFile
from pairhmm.files.text_lines import read_texts
from pairhmm.variants.call_writer import CALL_ENDINGS, VCF_COLUMNS, open_vcf
from pairhmm.variants.header import check_contigs, run_header
from pairhmm.variants.records import bcf_texts

_TAB = "\t"
_VCF_HEADER = _TAB.join(VCF_COLUMNS)
_CONTIG = re.compile(r"##contig=<ID=([^,>]+)(?:.*?[,<]length=([0-9]{1,10})\b)?")


def gather_vcf(shards: Sequence[str], destination: str) -> None:
    """Join VCF files, plain or bgzipped, and BCF. The header is that of the first file, with the provenance of all.

    The destination is VCF, bgzipped VCF or BCF, as its extension says; the last two get an index. Raises InputError for
    shards of other samples or contigs, or in another order.
    """
    headers = [_vcf_header(shards[0])]
    contigs, samples = _contigs(headers[0]), headers[0][-1]
    for path in shards[1:]:
        header = _vcf_header(path)
        for what, own, first in (("contigs", _contigs(header), contigs), ("samples", header[-1], samples)):
            if own != first:
                raise InputError(path, "", f"its {what} are not those of {shards[0]}", SAME_RUN)
        headers.append([line for line in header if "=<" not in line])
    rank = {name: number for number, name in enumerate(contigs)}
    tabs = samples.count(_TAB)
    text = "".join(f"{line}\n" for line in run_header(headers))
    last = (-1, -1)
    with open_vcf(destination, text, max(contigs.values(), default=0)) as out:
        for path in shards:
            with _open_variants(path) as shard:
                for number, line in shard.rows():
                    if line.count(_TAB) != tabs:
                        raise shard.fault(number, f"{line.count(_TAB) + 1} columns, the header has {tabs + 1}", DAMAGED)
                    chrom, pos, _ = line.split("\t", 2)
                    if chrom not in rank:
                        check_contigs(path, [chrom])
                        raise shard.fault(number, f"its header has no contig {chrom[:30]!r}", DAMAGED)
                    place = (rank[chrom], shard.position(number, pos))
                    if place < last:
                        raise InputError(path, f"{chrom}:{pos}", "not behind the piece before it", "mind the order")
                    last = place
                    out.write(line + "\n")


def _vcf_header(path: str) -> list[str]:
    """The lines of a header. The last one names the samples."""
    with _open_variants(path) as shard:
        if not shard.header or not shard.header[-1].startswith(_VCF_HEADER):
            raise InputError(path, "", "not a VCF file", "gather takes VCF and BCF into .vcf, .vcf.gz or .bcf")
        for number, line in enumerate(shard.header[:-1], start=1):
            if not line.startswith("##"):
                raise shard.fault(number, f"{line[:30]!r} within the header", DAMAGED)
        return shard.header


@contextmanager
def _open_variants(path: str) -> Iterator[ShardFile]:
    """Open a VCF or BCF, which its first bytes tell apart, and read its header."""
    is_bcf = _head(path).startswith(formats.BCF)
    with closing(bcf_texts(path) if is_bcf else read_texts(path)) as texts:
        yield ShardFile(path, texts)


def _head(path: str) -> bytes:
    with ByteStream(path, lambda _: None) as stream:
        return bytes(stream.head)


def has_variants(path: str) -> bool:
    """Whether a file is VCF or BCF by its first bytes."""
    return _head(path).startswith((formats.VCF, formats.BCF))


def _contigs(header: Sequence[str]) -> dict[str, int]:
    """The contigs of a header with their lengths."""
    found = [contig for line in header if (contig := _CONTIG.match(line))]
    return {one[1]: int(one[2] or 0) for one in found}


def is_vcf(path: str | Path) -> bool:
    """Whether a file name has an extension of VCF."""
    return str(path).endswith(CALL_ENDINGS)
