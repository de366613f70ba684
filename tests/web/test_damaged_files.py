"""Damaged files: the page refuses what the command line refuses, and where both read on, their records are equal."""

from __future__ import annotations

import gzip
import json
import logging
import random
import shutil
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pysam
import pytest

import pairhmm
from pairhmm.errors import InputError
from pairhmm.files.bgzf import end_marker
from pairhmm.simulate.api import simulate
from tests.cli import test_cli_hostile_files as hostile_files
from tests.cli.reads import reads, write_bam, write_reference

TESTS = Path(__file__).parents[1]
READS, PLACE = ("-f", "ref.fa", "reads.bam"), ("-f", "ref.fa", "-r", "chr1:500-900", "reads.bam")
PACKED, LISTED = ("-f", "ref.fa.gz", "reads.bam"), ("-f", "ref.fa", "-v", "list.vcf.gz", "reads.bam")
GZIPPED, CRAM = ("-f", "ref.fa", "-v", "plain.vcf.gz", "reads.bam"), ("-f", "ref.fa", "reads.cram")
# What is damaged, how often, and the run that reads it.
FLIPPED = {
    "reads": ("reads.bam", 30, READS),
    "reads of a place": ("reads.bam", 10, PLACE),
    "CRAM": ("reads.cram", 15, CRAM),
    "reference": ("ref.fa", 20, READS),
    "packed reference": ("ref.fa.gz", 20, PACKED),
    "fai": ("ref.fa.fai", 15, READS),
    "fai of the packed": ("ref.fa.gz.fai", 6, PACKED),
    "gzi": ("ref.fa.gz.gzi", 6, PACKED),
    "list": ("list.vcf.gz", 15, LISTED),
    "gzipped list": ("plain.vcf.gz", 8, GZIPPED),
}
# Whatever an index lacks is read otherwise, or it is refused: records are not lost.
INDEXES = {
    "bai": ("reads.bam.bai", PLACE),
    "csi": ("other.bam.csi", ("-f", "ref.fa", "-r", "chr1:500-900", "other.bam")),
    "crai": ("reads.cram.crai", ("-f", "ref.fa", "-r", "chr1:500-900", "reads.cram")),
}
Answer = Mapping[str, object]


@pytest.fixture(scope="module")
def page(ask) -> Callable[[Path, tuple[str, ...]], Answer]:
    """``page(folder, arguments)``: what the page's programs make of files."""
    return lambda folder, arguments: ask({"folder": folder, "arguments": arguments})


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A small sample in BAM and CRAM, with a plain and a bgzipped reference, and a bgzipped and a gzipped list."""
    folder, made = tmp_path_factory.mktemp("sound"), tmp_path_factory.mktemp("made")
    simulate(made, length=5000, contigs=2, coverage=6, snvs=6, indels=3, read_length=80, max_indel=8)
    truth = gzip.decompress((made / "truth.vcf.gz").read_bytes())
    for name, data in (("ref.fa", (made / "reference.fa").read_bytes()), ("list.vcf", truth)):
        (folder / name).write_bytes(data)
        with pysam.BGZFile(str(folder / f"{name}.gz"), "wb", index=None) as out:
            for at in range(0, len(data), 1500):
                out.write(data[at : at + 1500])
                out.flush()
    (folder / "plain.vcf.gz").write_bytes(gzip.compress(truth, mtime=0))
    for name in ("ref.fa", "ref.fa.gz"):
        pysam.faidx(str(folder / name))
    for name in ("reads.bam", "other.bam"):
        shutil.copy(made / "reads.bam", folder / name)
    cram = str(folder / "reads.cram")
    pysam.view("-C", "-T", str(folder / "ref.fa"), "-o", cram, str(folder / "reads.bam"), catch_stdout=False)
    for arguments in ((str(folder / "reads.bam"),), ("-c", str(folder / "other.bam")), (cram,)):
        pysam.index(*arguments)
    return folder


def of_the_command_line(folder: Path, arguments: tuple[str, ...]) -> Answer:
    """The same run by the package."""
    given = dict(zip(arguments[:-1:2], arguments[1:-1:2], strict=True))
    keywords: dict[str, object] = {"regions": given["-r"]} if "-r" in given else {}
    for option, name in (("-v", "candidates"), ("-R", "regions_file")):
        keywords |= {name: folder / given[option]} if option in given else {}
    output = folder / "out.vcf"
    output.unlink(missing_ok=True)
    logging.disable(logging.WARNING)
    try:
        pairhmm.write_calls(folder / arguments[-1], folder / given["-f"], output, backend="cpu", **keywords)
    except InputError as error:
        # The library names arguments, and the page options.
        text = str(error).replace(f"{folder}/", "").replace("FASTA with reference", "FASTA with -f")
        return {"records": [], "error": text, "defect": ""}
    finally:
        logging.disable(logging.NOTSET)
    records = [line for line in output.read_text().splitlines() if not line.startswith("#")]
    return {"records": records, "error": "", "defect": ""}


def compare(page, folder, arguments) -> Answer:
    """What both make of files."""
    ours = page(folder, arguments)
    theirs = of_the_command_line(folder, arguments)
    assert bool(ours["error"]) == bool(theirs["error"]), (ours["error"], theirs["error"])
    assert ours["records"] == theirs["records"]
    return ours


def copied(sound: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sound, folder)
    return folder


def flip(path: Path, chance: random.Random) -> str:
    """Change a bit of a file. Returns which one."""
    data = bytearray(path.read_bytes())
    at, bit = chance.randrange(len(data)), chance.randrange(8)
    data[at] ^= 1 << bit
    path.write_bytes(data)
    # An index that is older than its FASTA would be made anew.
    for index in path.parent.glob("ref.fa*.*i"):
        index.touch()
    return f"byte {at}, bit {bit}"


def flip_within(path: Path, chance: random.Random) -> str:
    """Change a bit of what a file holds, which is packed again."""
    packed = path.read_bytes()
    if not packed.startswith(b"\x1f\x8b"):
        return flip(path, chance)
    path.write_bytes(gzip.decompress(packed))
    place = flip(path, chance)
    changed = path.read_bytes()
    is_in_blocks = bool(end_marker(packed))
    path.write_bytes(block(changed, zlib.crc32(changed)) if is_in_blocks else gzip.compress(changed))
    return place


def test_sound_files_give_equal_records(page, sound, tmp_path):
    runs = [run for _, _, run in FLIPPED.values()] + [run for _, run in INDEXES.values()]
    for arguments in dict.fromkeys(runs):
        answer = compare(page, copied(sound, tmp_path / "run"), arguments)
        assert answer["records"] and not answer["error"]


@pytest.mark.parametrize("case", FLIPPED)
def test_one_bit(page, sound, tmp_path, case):
    name, count, arguments = FLIPPED[case]
    chance, wrong = random.Random(case), []
    for _ in range(count):
        folder = copied(sound, tmp_path / "run")
        place = flip(folder / name, chance)
        try:
            compare(page, folder, arguments)
        except AssertionError as error:
            wrong.append(f"{place}: {str(error).splitlines()[0]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", INDEXES)
def test_one_bit_of_an_index(page, sound, tmp_path, case):
    name, arguments = INDEXES[case]
    wanted, chance = page(sound, arguments)["records"], random.Random(case)
    for _ in range(40):
        folder = copied(sound, tmp_path / "run")
        place = flip_within(folder / name, chance)
        answer = page(folder, arguments)
        assert answer["error"] or answer["records"] == wanted, place


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("reads.bam", READS), ("reads.bam", PLACE), ("reads.cram", CRAM), ("ref.fa.gz", PACKED), ("list.vcf.gz", LISTED)],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_cut_files(page, sound, tmp_path, name, arguments, share):
    """At the end, only the end marker is missing."""
    folder = copied(sound, tmp_path / "run")
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: int(share * (len(data) - len(end_marker(data))))])
    error = compare(page, folder, arguments)["error"]
    assert "cut off" in error and "\n" not in error


@pytest.mark.parametrize("first", ["blocks", "a member"])
@pytest.mark.parametrize("name", ["list.vcf", "places.bed"])
def test_gzip_files_that_were_put_together(page, sound, tmp_path, name, first):
    """Of a list that is cut, both say so."""
    folder = copied(sound, tmp_path / "run")
    (folder / "places.bed").write_text("".join(f"chr1\t{at}\t{at + 300}\n" for at in range(0, 2400, 600)))
    option = "-v" if name == "list.vcf" else "-R"
    wanted = compare(page, folder, ("-f", "ref.fa", option, name, "reads.bam"))["records"]
    lines = (folder / name).read_bytes().splitlines(keepends=True)
    one, two = b"".join(lines[:-2]), b"".join(lines[-2:])
    path = folder / f"{name}.gz"
    path.write_bytes((block(one, zlib.crc32(one)) if first == "blocks" else gzip.compress(one)) + gzip.compress(two))
    arguments = ("-f", "ref.fa", option, path.name, "reads.bam")
    assert compare(page, folder, arguments)["records"] == wanted != []
    path.write_bytes(path.read_bytes()[:-9])
    assert "cut off" in compare(page, folder, arguments)["error"]


@pytest.mark.parametrize("head", [b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY"], ids=["xz", "zstd", "bzip2"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("reads.bam", READS), ("ref.fa", READS), ("list.vcf.gz", LISTED)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_of_other_packers(page, sound, tmp_path, name, arguments, head):
    folder = copied(sound, tmp_path / "run")
    (folder / name).write_bytes(head + bytes(100))
    error = page(folder, arguments)["error"]
    assert error == of_the_command_line(folder, arguments)["error"]
    assert error.startswith(f"{name}: is packed by ")


def test_other_letters_than_those_of_the_checksum(page, sound, tmp_path):
    """Packed as any block is, with the checksum of what it was: a damaged disk, or copy."""
    folder = copied(sound, tmp_path / "run")
    path = folder / "reads.bam"
    unpacked = bytearray(gzip.decompress(path.read_bytes()))
    unpacked[len(unpacked) // 2] ^= 0x11
    pieces = [unpacked[at : at + 20_000] for at in range(0, len(unpacked), 20_000)]
    was = gzip.decompress(path.read_bytes())
    checksums = [zlib.crc32(was[at : at + 20_000]) for at in range(0, len(was), 20_000)]
    path.write_bytes(b"".join(map(block, pieces, checksums)) + end_marker(path.read_bytes()))
    (folder / "reads.bam.bai").unlink()
    error = compare(page, folder, READS)["error"]
    assert error == "reads.bam: can't be read to its end; it is cut off or damaged: make it again"


def block(piece: bytes | bytearray, checksum: int) -> bytes:
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(piece) + deflate.flush()
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
    return head + packed + struct.pack("<II", checksum, len(piece))


@pytest.mark.parametrize("name", ["ref.fa.gz.fai", "ref.fa.gz.gzi", "ref.fa.fai"])
def test_an_index_that_is_missing_is_made(page, sound, tmp_path, name):
    folder = copied(sound, tmp_path / "run")
    (folder / name).unlink()
    arguments = PACKED if ".gz." in name else READS
    assert compare(page, folder, arguments)["records"] == page(sound, arguments)["records"] != []


def corpus() -> dict[str, tuple[str, ...]]:
    """What fuzzing found in runs that the page has, too; how threads and outputs were chosen does not matter."""
    cases = {}
    for path in sorted((TESTS / "fuzz" / "corpus").glob("call-*/case.json")):
        *options, alignments = json.loads(path.read_text())["arguments"]
        if alignments.endswith("reads.bam") and "--ploidy-file" not in options:
            listed = ("-v", options[options.index("-v") + 1]) if "-v" in options else ()
            cases[path.parent.name] = ("-f", "ref.fa", *listed, alignments)
    return cases


@pytest.mark.parametrize("name", corpus())
def test_what_fuzzing_found(page, tmp_path, name):
    folder, parent = tmp_path / "run", TESTS / "fuzz" / "corpus"
    shutil.copytree(parent / name, folder)
    for shared in json.loads((folder / "case.json").read_text()).get("shared", []):
        shutil.copy(parent / shared, folder)
    compare(page, folder, corpus()[name])


@pytest.mark.parametrize("message", hostile_files.CASES)
def test_files_that_no_program_wrote(page, tmp_path, monkeypatch, message):
    monkeypatch.chdir(tmp_path)
    write_reference("ref.fa")
    pysam.faidx("ref.fa")
    write_bam("good.bam", reads())
    written = hostile_files.CASES[message]
    write_bam("bad.bam", *written) if written else hostile_files.first_block()
    error = compare(page, tmp_path, ("-f", "ref.fa", "bad.bam"))["error"]
    assert error.startswith("bad.bam: ") and message in error


FASTA = {
    "names without bases": b">a\n>q\nACGT\n",
    "a last name without bases": b">q\nACGT\n>a\n",
    "two records of a name": b">q\nACGT\n>q\nGG\n",
    "a space in a line": b">q\nAC GTA\nACGTAC\n",
    "a line that is longer": b">q\nACGT\nACGTA\n",
    "a line behind a short one": b">q\nACGT\nAC\nAC\n",
    "blank lines": b"\n\n>q\nACGT\n\n>a\nAC\n\n",
    "line ends of two bytes": b">q\r\nACGT\r\nAC\r\n",
    "a byte order mark": b"\xef\xbb\xbf>q\nACGT\n",
    "a name that is not UTF-8": b">q\xff\nACGT\n",
    "a name behind a space": b"> q\nACGT\n",
    "nothing": b"",
}


@pytest.mark.parametrize("case", FASTA)
def test_indexes_that_are_made(page, tmp_path, case):
    """Contigs and their lengths are those of samtools: what is said of a BAM with other ones tells."""
    write_bam(tmp_path / "x.bam", [], b"@HD\tVN:1.6\n@SQ\tSN:q\tLN:77\n", ((b"q", 77),))
    (tmp_path / "ref.fa").write_bytes(FASTA[case])
    arguments = ("-f", "ref.fa", "x.bam")
    ours = page(tmp_path, arguments)
    assert ours["error"] == of_the_command_line(tmp_path, arguments)["error"] != ""
