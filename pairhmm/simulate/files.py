"""Writes simulated genomes as FASTA, true variants as phased VCF, reads as FASTQ and BAM, and tables of the truth."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import pysam

from pairhmm.alignments.sam import FIRST, MATE_REVERSE, PAIRED, PROPER_PAIR, REVERSE, SECOND
from pairhmm.files import formats
from pairhmm.files.outputs import open_output
from pairhmm.sequences.letters import PHRED_OFFSET
from pairhmm.simulate.reads import CIGAR_M, SimulatedReads
from pairhmm.simulate.variants import TruthVariant
from pairhmm.variants.call_writer import VCF_COLUMNS

LETTERS = np.frombuffer(b"ACGT", dtype=np.uint8)
FASTA_WIDTH = 60


def letters(codes: Sequence[int] | np.ndarray) -> str:
    """Base codes (A 0, C 1, G 2, T 3) as text."""
    return bytes(LETTERS[np.asarray(codes)]).decode()


def write_fasta(path: Path, contigs: dict[str, np.ndarray]) -> None:
    """Write `contigs` (name -> uint8 codes) as FASTA and its .fai."""
    with open(path, "wb") as out:
        for name, codes in contigs.items():
            out.write(b">" + name.encode() + b"\n")
            text = LETTERS[codes]
            whole = len(text) // FASTA_WIDTH * FASTA_WIDTH
            lines = np.full((whole // FASTA_WIDTH, FASTA_WIDTH + 1), ord("\n"), dtype=np.uint8)
            lines[:, :-1] = text[:whole].reshape(-1, FASTA_WIDTH)
            out.write(lines.tobytes())
            if whole < len(text):
                out.write(text[whole:].tobytes() + b"\n")
    pysam.faidx(os.fspath(path))


GENOTYPE = "GT", "1", "String", "Phased genotype"
"""ID, number, type and description of a FORMAT."""


def write_truth(path: Path, sizes: dict[str, int], variants: dict[str, list[TruthVariant]], sample: str) -> None:
    """Write the variants (contig -> variants in order) as bgzipped VCF with phased genotypes, and its .tbi."""
    records = (
        (name, variant.start, letters(variant.ref), letters(variant.alt), ["|".join(map(str, variant.genotype))])
        for name, placed in variants.items()
        for variant in placed
    )
    write_vcf(path, sizes, [GENOTYPE], [sample], records)


def write_vcf(
    path: Path,
    sizes: Mapping[str, int],
    formats: Sequence[tuple[str, str, str, str]],
    samples: Sequence[str],
    records: Iterable[tuple[str, int, str, str, Iterable[str]]],
) -> None:
    """Write bgzipped VCF and its .tbi. Records have a contig, a 0-based position, REF, ALT and the samples' columns."""
    lines = ["##fileformat=VCFv4.2", '##FILTER=<ID=PASS,Description="All filters passed">']
    lines += [f"##contig=<ID={name},length={size}>" for name, size in sizes.items()]
    for name, number, kind, text in formats:
        lines.append(f'##FORMAT=<ID={name},Number={number},Type={kind},Description="{text}">')
    lines.append("\t".join((*VCF_COLUMNS, "FORMAT", *samples)))
    keys = ":".join(name for name, *_ in formats)
    with pysam.BGZFile(os.fspath(path), "wb", index=None) as out:
        out.write(("\n".join(lines) + "\n").encode())
        for contig, start, ref, alt, cells in records:
            fields = contig, str(start + 1), ".", ref, alt, ".", "PASS", ".", keys, *cells
            out.write(("\t".join(fields) + "\n").encode())
    pysam.tabix_index(os.fspath(path), preset="vcf", force=True)


def write_truth_table(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a tab-separated table. Its first line names the columns and begins with ``#``.

    Raises
    ------
    InputError
        Where the file can't be written.
    """
    with open_output(path) as out:
        out.write("#" + "\t".join(columns) + "\n")
        out.writelines("\t".join(map(str, row)) + "\n" for row in rows)


# BAM's four-bit codes of A, C, G and T (SAM specification, section 4.2).
NIBBLES = np.array([1, 2, 4, 8], dtype=np.uint8)
MAPQ = 60
ROWS_AT_ONCE = 1 << 15
# Mates face each other: the left one is on the forward strand, the right one on the reverse strand.
LEFT_FLAG, RIGHT_FLAG = PAIRED | PROPER_PAIR | MATE_REVERSE, PAIRED | PROPER_PAIR | REVERSE


class ReadWriter:
    """FASTQ pairs and the coordinate-sorted BAM of one sample, contig by contig; a context manager.

    Parameters
    ----------
    first, second, bam : pathlib.Path
        The FASTQ files (bgzipped) and the BAM; its index is made on leaving.
    sizes : dict of str to int
        Contig lengths in the order in which `add` is called.
    sample : str
        SM of the read group.
    """

    def __init__(self, first: Path, second: Path, bam: Path, sizes: dict[str, int], sample: str) -> None:
        self._bam_path = os.fspath(bam)
        self._fastqs = [_open_fast(os.fspath(path)) for path in (first, second)]
        self._bam = _open_fast(self._bam_path)
        self._names = list(sizes)
        self._sample = sample
        self._next = 0
        self._bam.write(_bam_header(sizes, sample))

    def __enter__(self) -> ReadWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in (*self._fastqs, self._bam):
            handle.close()
        if kind is None:
            pysam.index(self._bam_path)

    def add(self, reads: SimulatedReads) -> None:
        """Write the reads of the next contig."""
        index = self._next
        self._next += 1
        prefix = f"{self._names[index]}:"
        for mate, handle in enumerate(self._fastqs):
            for block in _fastq_blocks(reads, prefix, mate):
                handle.write(block)
        order = np.argsort(reads.starts, kind="stable")
        for begin in range(0, len(order), ROWS_AT_ONCE):
            self._bam.write(_bam_records(reads, order[begin : begin + ROWS_AT_ONCE], index, prefix, self._sample))


def _open_fast(path: str) -> pysam.BGZFile:
    # Level 1 is used since simulated qualities hardly compress, and level 6 would take most of the run's time. The type
    # stubs know no levels.
    return pysam.BGZFile(path, "wb1", index=None)  # type: ignore[arg-type]


def _names(prefix: str, fragments: np.ndarray) -> np.ndarray:
    """Read names of equal width, uint8, shape (fragments, width)."""
    digits = (fragments[:, None] // 10 ** np.arange(8, -1, -1)) % 10 + ord("0")
    head = np.broadcast_to(np.frombuffer(prefix.encode(), dtype=np.uint8), (len(fragments), len(prefix)))
    return np.concatenate((head, digits.astype(np.uint8)), axis=1)


def _fastq_blocks(reads: SimulatedReads, prefix: str, mate: int) -> Iterator[bytes]:
    fragments = len(reads.first_is_left)
    length = reads.codes.shape[1]
    for begin in range(0, fragments, ROWS_AT_ONCE):
        chosen = np.arange(begin, min(fragments, begin + ROWS_AT_ONCE))
        # The left read is on the forward strand. It is the first of its pair where first_is_left.
        right = reads.first_is_left[chosen] == bool(mate)
        rows = 2 * chosen + right
        codes, quals = reads.codes[rows], reads.quals[rows]
        codes[right] = 3 - codes[right, ::-1]
        quals[right] = quals[right, ::-1]
        names = _names(prefix, chosen)
        width = names.shape[1]
        text = np.full((len(chosen), width + 2 * length + 8), ord("\n"), dtype=np.uint8)
        text[:, 0] = ord("@")
        text[:, 1 : width + 1] = names
        text[:, width + 1 : width + 3] = (ord("/"), ord("1") + mate)
        at = width + 4
        text[:, at : at + length] = LETTERS[codes]
        text[:, at + length + 1] = ord("+")
        text[:, at + length + 3 : at + 2 * length + 3] = quals + PHRED_OFFSET
        yield text.tobytes()


def _bam_header(sizes: dict[str, int], sample: str) -> bytes:
    text = "@HD\tVN:1.6\tSO:coordinate\n"
    text += "".join(f"@SQ\tSN:{name}\tLN:{size}\n" for name, size in sizes.items())
    text += f"@RG\tID:{sample}\tSM:{sample}\tPL:ILLUMINA\tLB:{sample}\n"
    parts = [formats.BAM, struct.pack("<i", len(text)), text.encode(), struct.pack("<i", len(sizes))]
    for name, size in sizes.items():
        parts.append(struct.pack("<i", len(name) + 1) + name.encode() + b"\0" + struct.pack("<i", size))
    return b"".join(parts)


def _bins(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """BAI bin of [start, end) (SAM specification, section 5.3, reg2bin)."""
    last = ends - 1
    bins = np.zeros(len(starts), dtype=np.uint16)
    for shift in (26, 23, 20, 17, 14):
        offset = ((1 << (29 - shift)) - 1) // 7
        same = starts >> shift == last >> shift
        bins[same] = (offset + (starts >> shift))[same]
    return bins


def _bam_records(reads: SimulatedReads, rows: np.ndarray, contig: int, prefix: str, sample: str) -> bytes:
    """BAM records of `rows`, in that order. Records of one CIGAR length have one size, and are made together."""
    length = reads.codes.shape[1]
    counts = np.array([len(reads.cigars.get(row, ())) or 1 for row in rows.tolist()])
    plain = _record_type(1, len(prefix) + 10, length, sample).itemsize
    sizes = plain + 4 * (counts - 1)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    out = np.empty(int(offsets[-1]), dtype=np.uint8)
    for count in np.unique(counts).tolist():
        chosen = np.flatnonzero(counts == count)
        records = _fill_records(reads, rows[chosen], contig, prefix, sample, count)
        size = records.itemsize
        out[offsets[chosen][:, None] + np.arange(size)] = records.view(np.uint8).reshape(-1, size)
    return out.tobytes()


def _record_type(cigar_ops: int, name_size: int, length: int, sample: str) -> np.dtype:
    return np.dtype(
        [
            ("block_size", "<i4"),
            ("contig", "<i4"),
            ("start", "<i4"),
            ("name_size", "u1"),
            ("mapq", "u1"),
            ("bin", "<u2"),
            ("cigar_ops", "<u2"),
            ("flag", "<u2"),
            ("length", "<i4"),
            ("mate_contig", "<i4"),
            ("mate_start", "<i4"),
            ("tlen", "<i4"),
            ("name", "u1", (name_size,)),
            ("cigar", "<u4", (cigar_ops,)),
            ("bases", "u1", ((length + 1) // 2,)),
            ("quals", "u1", (length,)),
            ("read_group", f"S{4 + len(sample)}"),
        ]
    )


def _fill_records(
    reads: SimulatedReads, rows: np.ndarray, contig: int, prefix: str, sample: str, cigar_ops: int
) -> np.ndarray:
    length = reads.codes.shape[1]
    records = np.zeros(len(rows), dtype=_record_type(cigar_ops, len(prefix) + 10, length, sample))
    mates = rows ^ 1
    right = rows & 1
    starts, ends = reads.starts[rows], reads.ends[rows]
    mate_starts, mate_ends = reads.starts[mates], reads.ends[mates]
    span = np.maximum(ends, mate_ends) - np.minimum(starts, mate_starts)
    is_first = reads.first_is_left[rows >> 1] != (right == 1)
    records["block_size"] = records.itemsize - 4
    records["contig"] = records["mate_contig"] = contig
    records["start"], records["mate_start"] = starts, mate_starts
    records["name_size"] = len(prefix) + 10
    records["mapq"] = MAPQ
    records["bin"] = _bins(starts, ends)
    records["cigar_ops"] = cigar_ops
    records["flag"] = np.where(right == 1, RIGHT_FLAG, LEFT_FLAG) + np.where(is_first, FIRST, SECOND)
    records["length"] = length
    records["tlen"] = np.where(right == 1, -span, span)
    records["name"][:, :-1] = _names(prefix, rows >> 1)
    if cigar_ops == 1:
        records["cigar"] = length << 4 | CIGAR_M
    else:
        packed = [[size << 4 | op for op, size in reads.cigars[row]] for row in rows.tolist()]
        records["cigar"] = np.array(packed, dtype=np.uint32)
    nibbles = NIBBLES[reads.codes[rows]]
    if length % 2:
        nibbles = np.concatenate((nibbles, np.zeros((len(rows), 1), dtype=np.uint8)), axis=1)
    records["bases"] = nibbles[:, ::2] << 4 | nibbles[:, 1::2]
    records["quals"] = reads.quals[rows]
    # The padding of the fixed-width field serves as the terminating NUL.
    records["read_group"] = b"RGZ" + sample.encode()
    return records
