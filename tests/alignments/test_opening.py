"""Alignment files: what is opened, and one clear line for what can't be."""

import gzip
import os
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pysam
import pytest

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import ReadSelection
from pairhmm.errors import InputError
from pairhmm.files import htslib
from pairhmm.files.names import sample_name
from pairhmm.sequences.fasta import Reference

SEQUENCE = "ACGTTGCAAGCTTAGGCATC" * 50
CONTIGS = {"one": len(SEQUENCE), "two": 300}
SELECTION = ReadSelection(0x4 | 0x100 | 0x200 | 0x400 | 0x800, 20)
READ = 20


def header(groups=(), contigs=CONTIGS, **head):
    lines = {"HD": {"VN": "1.6", **head}, "SQ": [{"SN": name, "LN": size} for name, size in contigs.items()]}
    return {**lines, "RG": list(groups)} if groups else lines


def segment(head, start, name="r", contig=0, **changes):
    read = pysam.AlignedSegment(head)
    read.query_name, read.flag, read.reference_id, read.reference_start = name, 0, contig, start
    read.mapping_quality, read.cigartuples = 60, [(0, READ)]
    read.query_sequence = SEQUENCE[start : start + READ]
    read.query_qualities = pysam.qualitystring_to_array("I" * READ)
    for key, value in changes.items():
        if key == "tags":
            read.set_tags(value)
        else:
            setattr(read, key, value)
    return read


def write(path, segments, text=None, mode="wb", **options):
    """A file of segments given as (start, {attribute: value})."""
    text = text or header(SO="coordinate")
    head = pysam.AlignmentHeader.from_dict(text)
    with pysam.AlignmentFile(str(path), mode, header=head, **options) as out:
        for start, changes in segments:
            out.write(segment(head, start, **changes))
    return path


READS = [(start, {"name": f"r{start}"}) for start in range(0, 900, 9)]


@pytest.fixture
def fasta(tmp_path):
    path = tmp_path / "ref.fa"
    path.write_text(f">one\n{SEQUENCE}\n>two\n{SEQUENCE[:300]}\n")
    pysam.faidx(str(path))
    return path


def load(paths, fasta, need_index=False, selection=SELECTION, threads=1, **options):
    paths = [paths] if isinstance(paths, Path) else paths
    with Reference(fasta) as reference, AlignmentReader(paths, reference, need_index, threads) as reader:
        blocks = list(read_blocks(reader.sources, list(reader.contigs), selection, **options))
    reads = [
        (block.chrom, int(start), name, reader.samples[sample])
        for block in blocks
        for start, name, sample in zip(block.start, block.names, block.sample, strict=True)
    ]
    return reader, reads


def test_a_file_without_read_groups_is_a_sample(tmp_path, fasta):
    reader, reads = load(write(tmp_path / "nora.bam", READS), fasta)
    assert reader.contigs == CONTIGS
    assert reader.samples == ["nora"]
    assert [read[1] for read in reads] == [start for start, _ in READS]
    assert {read[3] for read in reads} == {"nora"}


def test_read_groups_of_several_samples(tmp_path, fasta):
    groups = [{"ID": "a", "SM": "ann"}, {"ID": "b", "SM": "bob"}, {"ID": "c", "SM": "ann"}, {"ID": "d"}]
    segments = [(i, {"name": f"r{i}", "tags": [("RG", "abcd"[i])]}) for i in range(4)]
    reader, reads = load(write(tmp_path / "x.bam", segments[:3], header(groups)), fasta)
    assert reader.samples == ["ann", "bob"]
    assert [read[3] for read in reads] == ["ann", "bob", "ann"]
    path = write(tmp_path / "y.bam", segments, header(groups))
    with pytest.raises(
        InputError, match=r"read r3: its read group 'd' has no sample \(SM\); run samtools addreplacerg"
    ):
        load(path, fasta)


def test_read_groups_without_a_sample_beside_one_that_has_it(tmp_path, fasta):
    """They made a second sample of the file's name, which `map sketch` did not."""
    segments = [(i, {"name": f"r{i}", "tags": [("RG", name)] if name else []}) for i, name in enumerate(("a", "d", ""))]
    path = write(tmp_path / "x.bam", segments, header([{"ID": "a", "SM": "ann"}, {"ID": "d"}]))
    reader, reads = load(path, fasta)
    assert reader.samples == ["ann"] == [sample_name(str(path), True)]
    assert {read[3] for read in reads} == {"ann"}
    path = write(tmp_path / "y.bam", segments, header([{"ID": "a"}, {"ID": "d"}]))
    assert load(path, fasta)[0].samples == ["y"] == [sample_name(str(path), True)]


@pytest.mark.parametrize("count", [2, 70])
def test_many_files_are_not_open_at_once(tmp_path, fasta, count):
    """A thousand did not fit the usual limit."""
    paths = [write(tmp_path / f"{number}.bam", READS) for number in range(count)]
    for path in paths:
        pysam.index(str(path))
    with Reference(fasta) as reference, AlignmentReader(paths, reference, True) as reader:
        before = len(os.listdir("/proc/self/fd"))
        blocks = read_blocks(reader.sources, list(reader.contigs), SELECTION, chunk_size=2)
        first = next(blocks)
        opened = len(os.listdir("/proc/self/fd")) - before
        assert len(first) + sum(map(len, blocks)) == count * len(READS)
    assert opened <= count if count == 2 else opened == 0


def test_sam_that_is_bgzipped_and_indexed(tmp_path, fasta):
    bam = write(tmp_path / "x.bam", [*READS, (100, {"contig": 1, "name": "s"})])
    text = pysam.view("-h", str(bam), catch_stdout=True)
    packed = tmp_path / "x.sam.gz"
    with pysam.BGZFile(str(packed), "wb", index=None) as out:
        out.write(text.encode())
    pysam.index(str(packed))
    pysam.index(str(bam))
    asked = [("one", 100, 130), ("one", 140, 141), ("two", 119, 150)]
    for options in ({}, {"regions": asked}, {"wanted": asked}):
        expected = load(bam, fasta, need_index=True, **options)[1]
        assert load(packed, fasta, need_index=True, **options)[1] == expected


@pytest.mark.parametrize("ending", ["sam", "sam.gz"])
def test_the_cure_for_a_file_without_an_index_cures(tmp_path, fasta, ending, monkeypatch):
    """`samtools index` was named, which SAM can't have."""
    monkeypatch.chdir(tmp_path)
    write(Path("x.bam"), READS)
    text = pysam.view("-h", "x.bam", catch_stdout=True).encode()
    Path(f"x.{ending}").write_bytes(text if ending == "sam" else gzip.compress(text))
    with pytest.raises(InputError, match="has no index, which regions need; run samtools sort") as error:
        load(Path(f"x.{ending}"), fasta, need_index=True)
    command, other = error.value.cure.removeprefix("run samtools ").split(", and give ")
    pysam.sort(*command.split()[1:])
    assert len(load(Path(other), fasta, need_index=True, regions=[("one", 0, 1000)])[1]) == len(READS)


@pytest.mark.parametrize(
    ("tags", "message"),
    [([], "read r: no read group in a file of several samples"), ([("RG", "z")], "read r: its read group 'z' is not")],
)
def test_a_read_of_no_sample(tmp_path, fasta, tags, message):
    groups = [{"ID": "a", "SM": "ann"}, {"ID": "b", "SM": "bob"}]
    path = write(tmp_path / "x.bam", [(0, {"tags": tags})], header(groups))
    with pytest.raises(InputError, match=message):
        load(path, fasta)


def test_files_are_merged_in_order(tmp_path, fasta):
    first = write(tmp_path / "a.bam", [*READS[::2], (5, {"contig": 1})])
    second = write(tmp_path / "b.bam", [*READS[1::2], (3, {"contig": 1})])
    reader, reads = load([first, second], fasta)
    assert reader.samples == ["a", "b"]
    assert [read[:2] for read in reads] == [("one", start) for start, _ in READS] + [("two", 3), ("two", 5)]


def test_one_sample_in_two_files(tmp_path, fasta):
    groups = [{"ID": "a", "SM": "ann"}]
    paths = [write(tmp_path / f"{name}.bam", READS, header(groups)) for name in "xy"]
    assert load(paths, fasta)[0].samples == ["ann"]


def test_intervals_on_contigs_that_a_file_does_not_know(tmp_path, fasta):
    whole = write(tmp_path / "x.bam", [*READS, (100, {"contig": 1})])
    part = write(tmp_path / "y.bam", READS, header(contigs={"one": CONTIGS["one"]}))
    for path in (whole, part):
        pysam.index(str(path))
    # In another order than the files', as a reference may have it.
    asked = [("two", 90, 110), ("one", 0, 5)]
    _, reads = load([whole, part], fasta, regions=asked)
    assert [read[:2] for read in reads] == [("one", 0), ("one", 0), ("two", 100)]
    assert load([whole, part], fasta, wanted=asked[::-1])[1] == reads
    assert load(part, fasta, regions=asked[:1])[1] == []


def test_cram_with_a_reference_in_a_read_only_folder(tmp_path, fasta, monkeypatch):
    path = write(tmp_path / "x.cram", READS, mode="wc", reference_filename=str(fasta))
    Path(f"{fasta}.fai").unlink()
    real = os.access
    monkeypatch.setattr(os, "access", lambda where, mode: mode != os.W_OK and real(where, mode))
    assert len(load(path, fasta)[1]) == len(READS)
    assert not Path(f"{fasta}.fai").exists()


def test_cram_without_its_reference(tmp_path, fasta, capfd):
    path = write(tmp_path / "x.cram", READS, mode="wc", reference_filename=str(fasta))
    other = tmp_path / "other.fa"
    other.write_text(f">one\n{SEQUENCE[::-1]}\n>two\n{SEQUENCE[:300]}\n")
    with pytest.raises(InputError, match=r"x\.cram: can't be read to its end; .*written with another reference"):
        load(path, other)
    assert capfd.readouterr().err == ""


def test_reads_without_qualities(tmp_path, fasta):
    path = write(tmp_path / "x.bam", [(0, {"query_qualities": None})])
    with pytest.raises(InputError, match=r"x\.bam: read r: it has no base qualities; give default_base_quality"):
        load(path, fasta)
    with Reference(fasta) as reference, AlignmentReader([path], reference) as reader:
        (block,) = read_blocks(reader.sources, list(reader.contigs), ReadSelection(0, 0, 30))
    assert block.quals.tolist() == [30] * READ


def test_missing_index(tmp_path, fasta):
    path = write(tmp_path / "x.bam", READS)
    with pytest.raises(InputError, match=r"x\.bam: has no index, which regions need; run samtools index .*x\.bam"):
        load(path, fasta, need_index=True)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[: len(data) // 2], "x.bam: is cut off: its end marker is missing"),
        (lambda data: data[: len(data) // 2] + data[-28:], "x.bam: can't be read to its end; it is cut off or damaged"),
        (lambda data: b"hello\n", "x.bam: not a BAM or CRAM file"),
        (lambda data: b"", "x.bam: is cut off: nothing is in it"),
    ],
    ids=["cut", "cut inside", "text", "empty"],
)
def test_damaged_files(tmp_path, fasta, capfd, damage, message):
    path = write(tmp_path / "x.bam", [(i // 20, {"name": f"{i * 7919 % 10007:x}"}) for i in range(10000)])
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=message):
        load(path, fasta)
    assert capfd.readouterr().err == ""


def test_missing_file(tmp_path, fasta):
    with pytest.raises(InputError, match=r"none\.bam: no such file"):
        load(tmp_path / "none.bam", fasta)
    with pytest.raises(InputError, match="is a folder"):
        load(tmp_path, fasta)


def test_unaligned_reads(tmp_path, fasta):
    path = tmp_path / "x.bam"
    pysam.AlignmentFile(str(path), "wb", header={"HD": {"VN": "1.6"}}).close()
    with pytest.raises(InputError, match="its header has no contigs"):
        load(path, fasta)


def test_unsorted(tmp_path, fasta):
    path = write(tmp_path / "x.bam", [(10, {"name": "late"}), (5, {"name": "early"})], header())
    with pytest.raises(
        InputError, match=r"x\.bam: read early: the file is not sorted by coordinate; run samtools sort"
    ):
        load(path, fasta)
    path = write(tmp_path / "y.bam", READS, header(SO="queryname"))
    with pytest.raises(InputError, match=r"y\.bam: sorted by read name; run samtools sort"):
        load(path, fasta)


@pytest.mark.parametrize(
    ("contigs", "message"),
    [
        ({"three": 5, "four": 6}, r"ref\.fa: contig three: not in the reference, but in .*x\.bam"),
        (
            {"chrone": 1000},
            r"ref\.fa: contig chrone: not in the reference, which has one in its place, but in .*x\.bam",
        ),
        ({"one": 999, "two": 300}, r"ref\.fa: contig one: 999 bases in .*x\.bam and 1000 in the reference"),
    ],
)
def test_contigs_of_another_reference(tmp_path, fasta, contigs, message):
    path = write(tmp_path / "x.bam", READS, header(contigs=contigs))
    with pytest.raises(InputError, match=message):
        load(path, fasta)


def test_files_with_contigs_in_different_orders(tmp_path, fasta):
    first = write(tmp_path / "x.bam", READS)
    second = write(tmp_path / "y.bam", [(0, {})], header(contigs=dict(reversed(CONTIGS.items()))))
    with pytest.raises(InputError, match=r"y\.bam: its contigs are in another order than those of .*x\.bam"):
        load([first, second], fasta)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("mode", "ending"), [("wb", "bam"), ("wbu", "bam"), ("w", "sam"), ("wc", "cram")])
def test_named_pipes(tmp_path, fasta, mode, ending, threads):
    """They are read as files are, and a cut is seen at their end."""
    path = write(tmp_path / f"x.{ending}", READS, mode=mode, reference_filename=str(fasta))
    expected = load(path, fasta)[1]
    data = path.read_bytes()
    (tmp_path / "pipe").mkdir()
    pipe = tmp_path / "pipe" / path.name
    os.mkfifo(pipe)
    for kept in (len(data), len(data) - 28 if ending == "bam" else len(data) // 2):
        writer = Thread(target=pipe.write_bytes, args=(data[:kept],))
        writer.start()
        if kept == len(data):
            assert load(pipe, fasta, threads=threads)[1] == expected
        else:
            with pytest.raises(InputError, match=rf"x\.{ending}: (is cut off|can't be read to its end)"):
                load(pipe, fasta, threads=threads)
        writer.join()


def test_a_pipe_of_sam_without_a_header(tmp_path, fasta):
    os.mkfifo(tmp_path / "pipe")
    text = b"r\t0\tone\t1\t60\t4M\t*\t0\t0\tACGT\tIIII\n"
    Thread(target=(tmp_path / "pipe").write_bytes, args=(text,), daemon=True).start()
    with pytest.raises(InputError, match=r"pipe: its header has no contigs \(@SQ\)"):
        load(tmp_path / "pipe", fasta)


def test_a_damaged_line_in_a_long_pipe(tmp_path, fasta):
    """htslib's threads are ended, which wait for what a thread of Python has read."""
    *_, line = lines = write(tmp_path / "x.sam", READS, mode="w").read_bytes().splitlines(keepends=True)
    lines += [line] * 10_000 + [line.replace(b"20M", b"21M")] + [line] * 30_000
    os.mkfifo(tmp_path / "pipe")

    def fill():
        with suppress(BrokenPipeError):
            (tmp_path / "pipe").write_bytes(b"".join(lines))

    writer = Thread(target=fill, daemon=True)
    writer.start()
    with pytest.raises(InputError, match="pipe: can't be read to its end; it is cut off or damaged"):
        load(tmp_path / "pipe", fasta, threads=2)
    writer.join()


@pytest.mark.parametrize(("mode", "ending"), [("w", "sam"), ("wc", "cram"), ("wb", "bam")])
def test_without_the_functions_of_htslib(tmp_path, fasta, monkeypatch, mode, ending):
    """BAM needs none of them."""
    monkeypatch.setattr(htslib, "htslib_functions", lambda: None)
    path = write(tmp_path / f"x.{ending}", READS, mode=mode, reference_filename=str(fasta))
    if ending == "bam":
        assert len(load(path, fasta)[1]) == len(READS)
        return
    with pytest.raises(InputError, match=rf"x\.{ending}: can't be read: the library in pysam's .*, or give BAM$"):
        load(path, fasta)


def test_a_line_of_sam_that_cannot_be_read_is_named(tmp_path, fasta, capfd):
    """It was "can't be read to its end; it is cut off or damaged"."""
    bam = write(tmp_path / "x.bam", READS)
    lines = pysam.view("-h", str(bam), catch_stdout=True).splitlines()
    number = next(at for at, line in enumerate(lines) if line.startswith("r9\t"))
    lines[number] = lines[number].replace("20M", "21M")
    path = tmp_path / "x.sam"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"x\.sam: line {number + 1}: CIGAR and query .*; repair or remove the line$"):
        load(path, fasta)
    assert capfd.readouterr().err == ""
