"""Sample files of every format give the same records, whatever the chunk; damaged ones an error that says where."""

import gzip
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pysam
import pytest

from pairhmm.alignments.record_blocks import sample_blocks
from pairhmm.errors import InputError
from pairhmm.files import byte_stream
from pairhmm.sequences.letters import decode_sets

RECORDS = [
    ("first", "ACGTNRYKMACGTACGTTTGA", 2),
    ("second", "ACGT" * 30, 12),
    ("empty", "", 0),
    ("one", "g", 93),
    ("second", "TTTTTTTT", 0),
]
LONG = [("chromosome", "".join(np.random.default_rng(2).choice(list("ACGTN"), 5000)), 30), ("next", "ACGTACGT", 30)]


def fastq(records, newline="\n"):
    return "".join(
        newline.join((f"@{name} more of it", letters, "+", chr(33 + quality) * len(letters), ""))
        for name, letters, quality in records
    )


def fasta(records, width=7, newline="\n"):
    lines = []
    for name, letters, _ in records:
        lines += [f">{name}\tmore", *(letters[at : at + width] for at in range(0, len(letters), width))]
    return newline.join(lines) + newline


def alignments(path, records, mode):
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}, "SQ": [{"SN": "c", "LN": 100}]})
    with pysam.AlignmentFile(path, mode, header=header) as out:
        for name, letters, quality in records:
            read = pysam.AlignedSegment(header)
            read.query_name, read.flag, read.query_sequence = name, 4, letters.upper()
            if letters and quality is not None:
                read.query_qualities = pysam.qualitystring_to_array(chr(33 + quality) * len(letters))
            out.write(read)


def read_back(path, chunk_size=1 << 16, overlap=0):
    """(name, letters, qualities or None) of each record, put together from its parts."""
    records, told = [], []
    for block in sample_blocks(str(path), chunk_size, overlap, None, told.append):
        samples = block.samples
        for index, name in enumerate(block.names):
            begin, end = samples.offset[index : index + 2]
            skipped = samples.carried if index == 0 else 0
            letters = decode_sets(samples.letters[begin + skipped : end])
            quality = None if samples.qualities is None else samples.qualities[begin + skipped : end].tolist()
            number = block.first_record + index
            if number == len(records):
                records.append((name, letters, quality))
                continue
            assert (index, number, name) == (0, len(records) - 1, records[-1][0])
            assert block.first_position + samples.carried == len(records[-1][1])
            carried = decode_sets(samples.letters[:skipped])
            assert records[-1][1].endswith(carried)
            records[-1] = (name, records[-1][1] + letters, quality)
    if Path(path).exists():
        assert sum(told) <= Path(path).stat().st_size
    return records


def expected(records, qualities=True):
    return [
        (name, letters.upper(), [quality] * len(letters) if qualities else None) for name, letters, quality in records
    ]


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7, 50, 1 << 16])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n\n"])
def test_text_in_chunks_of_any_size(tmp_path, chunk_size, newline, end):
    (tmp_path / "x.fq").write_bytes((fastq(RECORDS, newline) + end).encode())
    assert read_back(tmp_path / "x.fq", chunk_size) == expected(RECORDS)
    (tmp_path / "x.fa").write_bytes((fasta(RECORDS, newline=newline) + end).encode())
    assert read_back(tmp_path / "x.fa", chunk_size, overlap=4) == expected(RECORDS, qualities=False)


@pytest.mark.parametrize("chunk_size", [1, 100, 4999, 5100])
@pytest.mark.parametrize("overlap", [0, 1, 60, 7000])
def test_long_records_come_in_parts(tmp_path, chunk_size, overlap):
    (tmp_path / "x.fa").write_text(fasta(LONG, width=60))
    assert read_back(tmp_path / "x.fa", chunk_size, overlap) == expected(LONG, qualities=False)


def test_lines_without_an_end_and_qualities_in_several_lines(tmp_path):
    (tmp_path / "x.fq").write_text("@a\nACG\nTAC\n+a\n@@@\nIII\n@b\nAC\n+\n>>")
    assert read_back(tmp_path / "x.fq") == [("a", "ACGTAC", [31] * 3 + [40] * 3), ("b", "AC", [29, 29])]
    (tmp_path / "x.fa").write_text(">a\nACG")
    assert read_back(tmp_path / "x.fa") == [("a", "ACG", None)]


@pytest.mark.parametrize("packer", ["gzip", "bgzip", "members"])
@pytest.mark.parametrize("has_isal", [False, True])
def test_packed_text(tmp_path, monkeypatch, packer, has_isal):
    if has_isal and importlib.util.find_spec("isal") is None:
        pytest.skip("isal is not installed")
    if not has_isal:
        monkeypatch.setattr(byte_stream, "gunzip", gzip)
    text = fastq(RECORDS * 300).encode()
    path = tmp_path / "x.fq.gz"
    if packer == "bgzip":
        with pysam.BGZFile(str(path), "wb") as out:
            out.write(text)
    else:
        parts = [text] if packer == "gzip" else [text[:100], text[100:]]
        path.write_bytes(b"".join(map(gzip.compress, parts)))
    assert read_back(path, 1000) == expected(RECORDS * 300)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"x\.fq\.gz.*is cut off: its .* copy or make it again"):
        read_back(path)
    path.write_bytes(whole[:500] + bytes(64) + whole[564:])
    with pytest.raises(InputError, match=r"x\.fq\.gz.*(is damaged|is not|letters|begins with)"):
        read_back(path)


@pytest.mark.parametrize(("name", "mode"), [("x.bam", "wb"), ("x.sam", "wh"), ("x.cram", "wc")])
@pytest.mark.parametrize("chunk_size", [1, 100, 1 << 20])
def test_alignment_files(tmp_path, name, mode, chunk_size):
    alignments(str(tmp_path / name), RECORDS, mode)
    assert read_back(tmp_path / name, chunk_size) == expected(RECORDS)


@pytest.mark.parametrize(("name", "mode"), [("x.bam", "wb"), ("x.sam", "wh"), ("x.cram", "wc")])
def test_reads_are_those_of_the_sequencer(tmp_path, name, mode):
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}, "SQ": [{"SN": "c", "LN": 100}]})
    Path(tmp_path / "ref.fa").write_text(">c\n" + "A" * 100 + "\n")
    with pysam.AlignmentFile(tmp_path / name, mode, header=header, reference_filename=str(tmp_path / "ref.fa")) as out:
        for flag in (0, 16, 256, 2048, 65, 145):
            read = pysam.AlignedSegment(header)
            read.query_name, read.flag, read.reference_id, read.reference_start = "r", flag, 0, 5
            read.query_sequence, read.cigartuples = "AACRN", [(0, 5)]
            read.query_qualities = pysam.qualitystring_to_array("!#$%&")
            out.write(read)
    blocks = sample_blocks(str(tmp_path / name), 1 << 16, 0, str(tmp_path / "ref.fa"), lambda _: None)
    (block,) = list(blocks)
    letters = [decode_sets(part) for part in np.split(block.samples.letters, block.samples.offset[1:-1])]
    qualities = [part.tolist() for part in np.split(block.samples.qualities, block.samples.offset[1:-1])]
    assert list(block.names) == ["r", "r", "r/1", "r/2"]
    assert letters == ["AACRN", "NYGTT", "AACRN", "NYGTT"]
    assert qualities == [[0, 2, 3, 4, 5], [5, 4, 3, 2, 0]] * 2


@pytest.mark.parametrize(("name", "mode"), [("x.bam", "wb"), ("x.sam", "wh")])
def test_reads_with_and_without_qualities_are_kept_apart(tmp_path, name, mode):
    alignments(str(tmp_path / name), [("a", "ACGT", 5), ("b", "AC", None), ("c", "", 0), ("d", "G", 7)], mode)
    assert read_back(tmp_path / name) == [("a", "ACGT", [5] * 4), ("b", "AC", None), ("c", "", None), ("d", "G", [7])]


def test_an_empty_file_has_no_records(tmp_path):
    (tmp_path / "x.fq").write_bytes(b"")
    (tmp_path / "x.fq.gz").write_bytes(gzip.compress(b"\n"))
    alignments(str(tmp_path / "x.bam"), [], "wb")
    for name in ("x.fq", "x.fq.gz", "x.bam"):
        assert read_back(tmp_path / name) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@a\nACGT\n+\nIIIII\n", r"record 1 \(a\): 4 letters and 5 qualities; repair or remove the record"),
        ("@a\nAC\n+\nII\n@b\nACGT\n+\nIII\n", r"record 2 \(b\): 4 letters and 3 qualities"),
        ("@a\nAC\n+\nII\n@b\nACGT\n+\nII", r"record 2 \(b\): 4 letters and 2 qualities"),
        ("@a\nAC\n+\nII\n@b\nAC", r"record 2 \(b\): the file ends within the record; copy or make it again"),
        ("@a\nAC\n+\nII\n@b", r"record 2 \(b\): the file ends within the record"),
        ("@a\nAC\n+\n", r"record 1 \(a\): the file ends within the record"),
        (">a\nACGTX\n", r"record 1 \(a\): letter 'X' at position 5 is not an IUPAC base; use A C G T U"),
        (">a\nACGT\nAC-T\n", r"letter '-' at position 7"),
        ("@a\nACGT\n+\nII I\n", r"record 1 \(a\): ' ' at position 3 is not a quality; qualities must be Phred\+33"),
        ("chr1\t5\t6\n", r"record 1: begins with 'c', not with > or @; give FASTA, FASTQ, BAM or CRAM"),
        (">a\nACGT\n@b\nAC\n", r"letter '@' at position 5"),
        ("@a\nAC\n+\nII\n>b\nAC\n", "record 2: FASTA and FASTQ in one file"),
    ],
)
@pytest.mark.parametrize("chunk_size", [1, 1 << 16])
def test_what_is_wrong_with_text(tmp_path, text, message, chunk_size):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        read_back(tmp_path / "x.txt", chunk_size)


@pytest.mark.parametrize(("name", "mode"), [("x.bam", "wb"), ("x.cram", "wc")])
def test_what_is_wrong_with_alignments(tmp_path, name, mode):
    path = tmp_path / name
    alignments(str(path), [(f"r{n}", "ACGTACGT" * 20, 30) for n in range(3000)], mode)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cut off"):
        read_back(path)


def test_a_pipe_of_cram_without_its_end_marker(tmp_path, capfd):
    """htslib says nothing of it on stderr."""
    alignments(str(tmp_path / "x.cram"), RECORDS, "wc")
    data = (tmp_path / "x.cram").read_bytes()[:-38]
    os.mkfifo(tmp_path / "pipe")
    Thread(target=(tmp_path / "pipe").write_bytes, args=(data,), daemon=True).start()
    capfd.readouterr()
    with pytest.raises(InputError, match="pipe: is cut off: its end marker is missing"):
        read_back(tmp_path / "pipe")
    assert capfd.readouterr().err == ""


def test_a_bam_whose_records_do_not_fit(tmp_path):
    alignments(str(tmp_path / "x.bam"), [("a", "ACGT", 5)] * 3, "wb")
    with pysam.BGZFile(str(tmp_path / "x.bam"), "rb") as packed:
        data = bytearray(packed.read(1 << 20))
    for at, value, message in ((len(data) - 30, 255, "cut off|is no BAM"), (8, 200, "cut off|is no BAM")):
        broken = bytes(data[:at]) + bytes([value] * 4) + bytes(data[at + 4 :])
        with pysam.BGZFile(str(tmp_path / "y.bam"), "wb") as out:
            out.write(broken[:-3])
        with pytest.raises(InputError, match=message):
            read_back(tmp_path / "y.bam")


def test_files_that_can_not_be_opened(tmp_path):
    for path in (tmp_path / "none.fq", tmp_path):
        with pytest.raises(InputError, match=r"No such file|Is a directory"):
            read_back(path)


@pytest.mark.parametrize("name", ["x.fq", "x.fq.gz", "x.bam", "x.cram"])
def test_stdin_holds_any_format(tmp_path, name):
    path = tmp_path / name
    if name.startswith("x.fq"):
        text = fastq(RECORDS).encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    else:
        alignments(str(path), RECORDS, "wb" if name == "x.bam" else "wc")
    code = (
        "from pairhmm.alignments.record_blocks import sample_blocks\n"
        "for block in sample_blocks('-', 1000, 0, None, lambda _: None):\n"
        "    print(*block.names, len(block.samples.letters))"
    )
    with path.open("rb") as stdin:
        done = subprocess.run([sys.executable, "-c", code], stdin=stdin, capture_output=True, text=True, check=True)
    bases = sum(len(letters) for _, letters, _ in RECORDS)
    assert done.stdout.split() == [*(record[0] for record in RECORDS), str(bases)]
