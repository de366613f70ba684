"""Pipes of BAM, CRAM and SAM, which can be read once: the header, which pysam parses, and then the records."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import BinaryIO, cast

from pairhmm.alignments.bam_records import BamStream
from pairhmm.alignments.htslib_records import DecodedRecords
from pairhmm.alignments.sources import FORMATS, OTHER_FORMAT, Kind, RecordStream
from pairhmm.errors import InputError
from pairhmm.files import bgzf, formats
from pairhmm.files.background import prefetch
from pairhmm.files.bgzf import block_reader
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.descriptors import pipe_from
from pairhmm.files.htslib import open_by_htslib
from pairhmm.native import native


@dataclass(frozen=True, slots=True)
class PipedRecords:
    """The records of a pipe, which has no index.

    Attributes
    ----------
    header : bytes
        A file without records: BAM that is not packed, or SAM.
    kind : {"BAM", "CRAM", "SAM"}
    check_end : callable
        To be called once all was read: raises an error where the end marker is missing.
    """

    header: bytes
    kind: Kind
    stream: RecordStream
    check_end: Callable[[], None]

    def whole(self) -> RecordStream:
        """All records."""
        return self.stream

    def through_index(self, tid: int, start: int, end: int) -> Generator[RecordStream]:
        """Not for pipes."""
        raise NotImplementedError


def open_pipe(path: str, reference: str, threads: int) -> PipedRecords:
    """Open a pipe, or stdin, and read its header.

    Raises InputError for a pipe that has no alignments, or is damaged at its beginning.

    `reference`: FASTA that CRAM is decoded with. `threads`: with 2 or more, others unpack beside the thread that reads.
    """
    stream = ByteStream(path, lambda _: None)
    try:
        start = stream.raw.peek()
        if threads > 1:
            bgzf.check_stream_heads(path, start)
        if stream.head.startswith(formats.BAM) and bgzf.block_size(start[: formats.BGZF_HEAD_SIZE]) > 0:
            return _piped_bam(stream, threads > 1)
    except BaseException:
        stream.close()
        raise
    # The stream's end is seen here, since htslib checks the end of files only.
    with pipe_from(cast(BinaryIO, stream.raw), stream.close) as pipe:
        reader = open_by_htslib(path, reference=reference, threads=threads, descriptor=pipe.fileno())
    if reader is None:
        raise InputError(path, "", OTHER_FORMAT, FORMATS)
    return PipedRecords(reader.header, cast(Kind, reader.kind), DecodedRecords(reader), stream.check_end)


def _piped_bam(stream: ByteStream, reads_ahead: bool) -> PipedRecords:
    reader, records = block_reader(lambda address, size: stream.raw.read(size)), native.BamStream(0, None)
    header = records.take_header(reader)
    if not header:
        raise InputError(stream.path, "", OTHER_FORMAT, FORMATS)
    ahead = prefetch(iter(reader.next, None)) if reads_ahead else None
    return PipedRecords(header, "BAM", BamStream(records, reader, ahead, stream.close), stream.check_end)
