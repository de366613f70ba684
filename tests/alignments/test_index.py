"""Indices that are damaged or another file's: refused before htslib, which crashes on some, has seen them."""

import gzip
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.alignments.index import AlignmentIndex, find_index
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_density import read_densities
from pairhmm.errors import InputError
from pairhmm.sequences.fasta import Reference

LENGTH, CONTIGS, WITH_READS, READ = 60_000, 6, (1, 2, 4), 50


@pytest.fixture(scope="module")
def sequences():
    rng = random.Random(3)
    return ["".join(rng.choices("ACGT", k=LENGTH)) for _ in range(CONTIGS)]


@pytest.fixture
def make(tmp_path, sequences, monkeypatch):
    """``make(name, seed, contigs, reads)``: random reads, sorted and indexed; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("ref.fa").write_text("".join(f">c{number}\n{bases}\n" for number, bases in enumerate(sequences)))
    pysam.faidx("ref.fa")
    contigs = [{"SN": f"c{number}", "LN": LENGTH} for number in range(CONTIGS)]
    header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": contigs})

    def write(name, seed=1, contigs=WITH_READS, reads=300, unplaced=3, index=()):
        rng = random.Random(seed)
        mode = "wc" if name.endswith(".cram") else "wb"
        with pysam.AlignmentFile(name, mode, header=header, reference_filename="ref.fa") as out:
            places = [
                (contig, start) for contig in contigs for start in sorted(rng.choices(range(LENGTH - 50), k=reads))
            ]
            for contig, start in [*places, *[(-1, -1)] * unplaced]:
                read = pysam.AlignedSegment(header)
                read.query_name, read.flag = f"{rng.random():.12f}", 4 if contig < 0 else 0
                read.reference_id, read.reference_start, read.mapping_quality = contig, start, 60
                if contig >= 0:
                    read.cigartuples = [(0, READ)]
                read.query_sequence = sequences[contig][start : start + READ] if contig >= 0 else "A" * READ
                read.query_qualities = pysam.qualitystring_to_array("".join(rng.choices("FGHI", k=READ)))
                out.write(read)
        pysam.index(*index, name)
        return name

    return write


def check(path):
    index = AlignmentIndex(find_index(path), path)
    with pysam.AlignmentFile(path, check_sq=False) as file:
        index.check(file)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("x.bam", {}),
        ("x.bam", {"index": ["-c"]}),
        ("x.bam", {"index": ["-c", "-m", "16"]}),
        ("x.cram", {}),
        ("x.bam", {"contigs": ()}),
        ("x.bam", {"contigs": (), "unplaced": 0}),
        ("x.bam", {"unplaced": 0, "reads": 2}),
        ("x.cram", {"contigs": (0,), "reads": 1}),
    ],
)
def test_a_files_own_index(make, name, options):
    check(make(name, **options))


def test_indices_of_real_files(shared_data):
    for path in sorted(shared_data.glob("*/*.bam")):
        check(str(path))


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"seed": 2}, "begin"),
        ({"contigs": ()}, "it knows no reads"),
        ({"contigs": (1,)}, "it does not know the last reads"),
        ({"contigs": (1, 2)}, "it says|it does not know the last reads"),
        ({"contigs": (2, 4)}, "begin"),
        ({"contigs": (5,)}, "begin"),
        ({"reads": 2000}, "it leads beyond the file's end"),
    ],
)
@pytest.mark.parametrize("kind", [(), ("-c",)])
def test_another_bams_index(make, options, rule, kind):
    make("x.bam", index=kind)
    index = find_index(make("y.bam", **options, index=kind))
    shutil.copy(index, index.replace("y", "x"))
    what = r"^x\.bam\.[bc][as]i: is not the index of x\.bam as it is now: "
    with pytest.raises(InputError, match=rf"{what}.*({rule}).*; run samtools index x\.bam$"):
        check("x.bam")


def test_an_index_with_more_contigs(make):
    make("x.bam")
    header = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": "only", "LN": LENGTH}]})
    pysam.AlignmentFile("one.bam", "wb", header=header).close()
    shutil.copy("x.bam.bai", "one.bam.bai")
    with pytest.raises(InputError, match=r"it has 6 contigs, the file 1; run samtools index one\.bam"):
        check("one.bam")


def test_another_crams_index(make):
    make("x.cram", reads=3000)
    shutil.copy(f"{make('y.cram', seed=2, contigs=(0, 3), reads=3000)}.crai", "x.cram.crai")
    with pytest.raises(InputError, match=r"is not the index of x\.cram as it is now"):
        check("x.cram")


def test_an_older_index_is_announced(make, caplog):
    make("x.bam")
    os.utime("x.bam.bai", (1, 1))
    check("x.bam")
    assert "x.bam.bai is older than x.bam" in caplog.text


def mutations(data, rng):
    """A file with some bytes changed, cut off, or with numbers replaced by extreme ones."""
    changed = bytearray(data)
    kind = rng.randrange(3)
    if kind == 0:
        for _ in range(rng.choice([1, 2, 8])):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    elif kind == 1:
        del changed[rng.randrange(len(changed)) :]
    else:
        at = rng.randrange(len(changed) // 4) * 4
        changed[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\1\0\0\0"])
    return bytes(changed)


# In a process of its own, which a crash ends: each damaged index is refused, or every contig can be asked for.
WALK = """
import sys, pysam
from pairhmm.errors import InputError, PairhmmError
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.sequences.fasta import Reference
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import ReadSelection
path, index, *mutants = sys.argv[1:]
refused = 0
with Reference("ref.fa") as genome:
    for mutant in mutants:
        open(index, "wb").write(open(mutant, "rb").read())
        try:
            with AlignmentReader([path], genome, need_index=True) as reader:
                places = [(name, 0, length) for name, length in reader.contigs.items()]
                list(read_blocks(reader.sources, list(reader.contigs), ReadSelection(4, 0), regions=places))
        except InputError as error:
            refused += 1
print(refused)
"""


@pytest.mark.parametrize(("name", "kind"), [("x.bam", ()), ("x.bam", ("-c",)), ("x.cram", ())])
def test_a_damaged_index_crashes_nothing(make, name, kind):
    index = find_index(make(name, index=kind))
    data = Path(index).read_bytes()
    is_zipped = data.startswith(b"\x1f\x8b")
    plain = gzip.decompress(data) if is_zipped else data
    rng = random.Random(14)
    mutants = []
    for number in range(120):
        changed = mutations(plain, rng)
        mutants.append(f"mutant{number}")
        Path(mutants[-1]).write_bytes(gzip.compress(changed, 1) if is_zipped else changed)
    done = subprocess.run([sys.executable, "-c", WALK, name, index, *mutants], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert int(done.stdout) > 40


def test_a_damaged_index_is_named(make):
    make("x.bam")
    Path("x.bam.bai").write_bytes(Path("x.bam.bai").read_bytes()[:50])
    with Reference("ref.fa") as genome:
        with pytest.raises(InputError, match=r"^x\.bam\.bai: is damaged: it ends early; run samtools index x\.bam$"):
            AlignmentReader(["x.bam"], genome, need_index=True)


@pytest.mark.parametrize("kind", [(), ("-c",)])
def test_densities_of_both_kinds(make, kind):
    make("x.bam", index=kind)
    with Reference("ref.fa") as genome, AlignmentReader(["x.bam"], genome, need_index=True) as reader:
        densities = read_densities(reader.sources[0])
    assert list(densities) == [f"c{number}" for number in WITH_READS]
    assert {density.upto(LENGTH) for density in densities.values()} == {300.0}


def test_slices_of_several_contigs_count_once(make):
    make("x.bam")
    with pysam.AlignmentFile("x.bam") as reads:
        mode = {"template": reads, "reference_filename": "ref.fa", "format_options": [b"multi_seq_per_slice=1"]}
        with pysam.AlignmentFile("x.cram", "wc", **mode) as out:
            for read in reads:
                out.write(read)
    pysam.index("x.cram")
    with Reference("ref.fa") as genome, AlignmentReader(["x.cram"], genome, need_index=True) as reader:
        source = reader.sources[0]
    whole = {line.container: line.size for line in source.index.cram}
    assert len(whole) < len(WITH_READS) == len([line for line in source.index.cram if line.contig >= 0])
    total = sum(float(density.upto(np.array([LENGTH]))[0]) for density in read_densities(source).values())
    assert total == pytest.approx(sum(whole.values()))


def tables_of(bai):
    """Where each contig's table of offsets stands in a .bai, and how many it has."""
    words = np.frombuffer(bai[4:], "<u4", count=(len(bai) - 4) // 4).tolist()
    at, tables = 1, []
    for _ in range(words[0]):
        bins, at = words[at], at + 1
        for _ in range(bins):
            at += 2 + 4 * words[at + 1]
        tables.append((4 + 4 * (at + 1), words[at]))
        at += 1 + 2 * words[at]
    return tables


def offset_changed(make, contig, place, change):
    """The index of x.bam with another offset."""
    make("x.bam")
    bai = bytearray(Path("x.bam.bai").read_bytes())
    at = tables_of(bai)[contig][0] + 8 * place
    bai[at : at + 8] = change(int.from_bytes(bai[at : at + 8], "little")).to_bytes(8, "little")
    Path("x.bam.bai").write_bytes(bai)


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda offset: offset | 0xDB << 40, "is damaged: an offset lies outside the reads of its contig"),
        (lambda offset: 1, "is damaged: an offset lies outside the reads of its contig"),
        (lambda offset: offset + 5, "no read begins where it says|lie before the offset"),
    ],
)
def test_an_offset_that_leads_past_reads(make, run_cli, place, change, rule):
    """The bins were checked, and reads were found through the table of offsets: a region had no reads."""
    offset_changed(make, 2, place, change)
    done = run_cli("-q", "call", "-f", "ref.fa", "-r", "c2", "x.bam")
    assert done.returncode == 2
    assert re.fullmatch(rf"pairhmm: error: x\.bam\.bai: .*({rule}).*; run samtools index x\.bam\n", done.stderr)


def test_offsets_that_fall(make):
    make("x.bam", reads=3000)
    bai = bytearray(Path("x.bam.bai").read_bytes())
    at, count = tables_of(bai)[2]
    assert count == 4
    bai[at + 8 : at + 16], bai[at + 24 : at + 32] = bai[at + 24 : at + 32], bai[at + 8 : at + 16]
    Path("x.bam.bai").write_bytes(bai)
    with pytest.raises(InputError, match="is damaged: its offsets do not rise"):
        check("x.bam")


def test_offsets_of_zero_and_padding_are_accepted(make):
    """htsjdk writes zeros where no read has begun, and bamtools behind the index."""
    offset_changed(make, 1, 0, lambda offset: 0)
    check("x.bam")
    # Without the number of reads that have no contig.
    Path("x.bam.bai").write_bytes(Path("x.bam.bai").read_bytes()[:-8] + bytes(40))
    check("x.bam")


def test_an_index_that_counts_more_reads_than_the_file_can_hold(make, run_cli):
    """With two threads, pieces were made of 10^14 reads, without end."""
    make("x.bam")
    bai = Path("x.bam.bai").read_bytes()
    count = (300).to_bytes(8, "little")
    assert bai.count(count) == len(WITH_READS)
    Path("x.bam.bai").write_bytes(bai.replace(count, (10**14).to_bytes(8, "little"), 1))
    for threads in "12":
        done = run_cli("-q", "call", "-@", threads, "-f", "ref.fa", "x.bam")
        assert done.returncode == 2
        assert "x.bam.bai: is not the index of x.bam as it is now: it counts more reads of c1 than" in done.stderr


def test_a_line_of_a_crai_is_missing(make):
    make("x.cram", reads=12_000)
    lines = gzip.decompress(Path("x.cram.crai").read_bytes()).splitlines(keepends=True)
    assert len(lines) > 3
    for missing in range(len(lines) - 1):
        Path("x.cram.crai").write_bytes(gzip.compress(b"".join(lines[:missing] + lines[missing + 1 :])))
        with pytest.raises(InputError, match=r"it does not know all reads|no slice of the file begins"):
            check("x.cram")


def test_a_slice_whose_place_is_wrong(make):
    make("x.cram", contigs=(1,), reads=3000)
    line = gzip.decompress(Path("x.cram.crai").read_bytes()).splitlines(keepends=True)[0].split(b"\t")
    rest = gzip.decompress(Path("x.cram.crai").read_bytes()).splitlines(keepends=True)[1:]
    line[2] = b"100"
    Path("x.cram.crai").write_bytes(gzip.compress(b"\t".join(line) + b"".join(rest)))
    with pytest.raises(InputError, match="its slices have reads of other places"):
        check("x.cram")
