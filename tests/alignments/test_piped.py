"""BAM through a pipe: the header for pysam, and the records for the compiled part."""

import os
from contextlib import ExitStack
from threading import Thread

import numpy as np
import pysam
import pytest

from pairhmm.alignments.piped import open_pipe
from pairhmm.errors import InputError
from pairhmm.files.bgzf import DamagedBlockError
from pairhmm.native import native


@pytest.fixture(params=[1, 20_000])
def bam(request, tmp_path):
    """A file whose header has so many contigs, and thus one block or several."""
    rng = np.random.default_rng(3)
    names = [f"contig{number}-{rng.bytes(20).hex()}" for number in range(request.param)]
    header = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": name, "LN": 1000} for name in names]})
    path = tmp_path / "x.bam"
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for number in range(3000):
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start = f"r{number}", 0, number // 10
            read.query_sequence, read.cigarstring = "ACGT" * 10, "40M"
            out.write(read)
    return path


@pytest.fixture
def piped(tmp_path):
    """``piped(data, threads=1)``: what comes from a pipe."""
    with ExitStack() as stack:

        def opened(data, threads=1):
            pipe = tmp_path / "pipe" / "x.bam"
            pipe.parent.mkdir()
            os.mkfifo(pipe)
            Thread(target=pipe.write_bytes, args=(data,), daemon=True).start()
            records = open_pipe(str(pipe), "", threads)
            stack.callback(records.stream.close)
            return records

        yield opened


def parser():
    rank, length = np.zeros(20_000, np.int32), np.full(20_000, 1000)
    return native.AlignmentParser(rank, length, 4, 0, 30, 93, {}, 0, "", 1 << 30, False)


@pytest.mark.parametrize("threads", [1, 2])
def test_header_and_records(bam, tmp_path, piped, threads):
    with pysam.BGZFile(str(bam)) as file:
        data = file.read()
    piped = piped(bam.read_bytes(), threads)
    assert piped.header == data[: len(piped.header)]
    taking = parser()
    assert piped.stream.parse(taking, 10_000) == "more"
    assert taking.reads == 3000
    header = tmp_path / "header.bam"
    header.write_bytes(piped.header)
    with pysam.AlignmentFile(str(bam)) as one, pysam.AlignmentFile(str(header)) as other:
        assert other.header.to_dict() == one.header.to_dict()
        assert list(other) == []


@pytest.mark.parametrize("keep", [10, 40, 60])
def test_what_has_no_whole_header_is_refused(bam, piped, keep):
    with pytest.raises(InputError, match=r"x\.bam: not a BAM or CRAM file, or damaged at its beginning"):
        piped(bam.read_bytes()[:keep])


def test_a_cut_is_seen(bam, piped):
    data = bam.read_bytes()
    piped = piped(data[: len(data) - 40])
    with pytest.raises(DamagedBlockError):
        piped.stream.parse(parser(), 10_000)
