"""BAM through a pipe: the header for pysam, the records for the compiled part, and everything again if it is no BAM."""

from __future__ import annotations

import io

import numpy as np
import pysam
import pytest

from pairhmm.io.alignments.piped_bam import HeldPipe, piped_bam
from pairhmm.io.files.bgzf_blocks import DamagedBlockError


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


def pipe_of(data):
    return HeldPipe(io.BufferedReader(io.BytesIO(data)))


@pytest.mark.parametrize("reads_ahead", [False, True])
def test_header_and_records(bam, tmp_path, reads_ahead):
    with pysam.BGZFile(str(bam)) as file:
        data = file.read()
    piped = piped_bam(pipe_of(bam.read_bytes()), reads_ahead)
    records = b""
    while True:
        held, at, limit = piped.stream.held()
        assert limit == len(held)
        records += held[at:].tobytes()
        piped.stream.at = len(held)
        if not piped.stream.extend():
            break
    assert piped.header + records == data
    header = tmp_path / "header.bam"
    header.write_bytes(piped.header)
    with pysam.AlignmentFile(str(bam)) as one, pysam.AlignmentFile(str(header)) as other:
        assert other.header.to_dict() == one.header.to_dict()
        assert list(other) == []


@pytest.mark.parametrize("keep", [10, 40, 60])
def test_what_has_no_whole_header_can_be_read_again(bam, keep):
    data = bam.read_bytes()[:keep]
    pipe = pipe_of(data)
    assert piped_bam(pipe, False) is None
    assert pipe.again().read() == data


def test_a_cut_is_seen(bam):
    data = bam.read_bytes()
    piped = piped_bam(pipe_of(data[: len(data) - 40]), False)

    def read_on():
        while piped.stream.extend():
            piped.stream.at = len(piped.stream.held()[0])

    piped.stream.at = len(piped.stream.held()[0])
    with pytest.raises(DamagedBlockError):
        read_on()
