"""What can't be used is one line in the page, in the words of the command line."""

from __future__ import annotations

import gzip
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pysam
import pytest

import pairhmm
from pairhmm.alignments.primers import read_primers
from pairhmm.errors import InputError

LENGTH, READ = 6000, 100
LETTERS = "".join(random.Random(1).choices("ACGT", k=LENGTH))
OTHER = "".join(random.Random(2).choices("ACGT", k=LENGTH))
GROUPS = [{"ID": "a", "SM": "ann"}, {"ID": "b", "SM": "bob"}]


def write_fasta(path, letters=LETTERS, name="q"):
    path.write_text(f">{name}\n{letters}\n")
    pysam.faidx(str(path))
    return path


def write_bam(path, starts=range(0, LENGTH - READ, 10), head=None, change=lambda read: None, mode="wb", **given):
    header = pysam.AlignmentHeader.from_dict(
        {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}]} | (head or {})
    )
    with pysam.AlignmentFile(str(path), mode, header=header, **given) as out:
        for start in starts:
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start = f"r{start}", 0, start
            read.mapping_quality, read.cigartuples, read.query_sequence = 60, [(0, READ)], LETTERS[start : start + READ]
            read.query_qualities = pysam.qualitystring_to_array("I" * READ)
            change(read)
            out.write(read)
    return path


def indexed(path):
    pysam.index(str(path))
    return path


@pytest.fixture
def sound(tmp_path):
    """A reference and an indexed BAM that can be used, and a list."""
    write_fasta(tmp_path / "ref.fa")
    listed = tmp_path / "listed.vcf"
    rows = "".join(f"q\t{at + 1}\t.\tN\tA,C\t.\t.\t.\n" for at in range(100, LENGTH - 100, 400))
    listed.write_text(f"##fileformat=VCFv4.2\n{rows}")
    indexed(write_bam(tmp_path / "x.bam"))
    return tmp_path


def cut(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])


def damage(path):
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64)
    path.write_bytes(data)


def no_index(folder):
    (folder / "x.bam.bai").unlink()
    return {"region": "q:1-500"}


def other_index(starts):
    def make(folder):
        indexed(write_bam(folder / "other.bam", starts))
        shutil.copy(folder / "other.bam.bai", folder / "x.bam.bai")
        return {"region": "q:1-500"}

    return make


def region(text):
    return lambda folder: {"region": text}


def listed(text):
    def make(folder):
        (folder / "listed.vcf").write_text(text)
        return {"variants": folder / "listed.vcf"}

    return make


def packed_list(folder):
    path = folder / "listed.vcf.gz"
    pysam.tabix_compress(str(folder / "listed.vcf"), str(path))
    cut(path, 0.8)
    return {"variants": path}


def bed(text, kind="intervals"):
    def make(folder):
        (folder / "places.bed").write_text(text)
        return {kind: folder / "places.bed"}

    return make


def bam(**given):
    def make(folder):
        write_bam(folder / "x.bam", **given)
        (folder / "x.bam.bai").unlink()

    return make


def on_bam(change: Callable[[Path], None]):
    def make(folder):
        change(folder / "x.bam")
        (folder / "x.bam.bai").unlink()

    return make


def fasta(letters=LETTERS, name="q"):
    def make(folder):
        write_fasta(folder / "ref.fa", letters, name)

    return make


def without_qualities(read):
    read.query_qualities = None


def with_qualities(read):
    # Two reads have more than is known: the higher one is named.
    high = {"r100": 200, "r200": 220}.get(read.query_name)
    if high:
        read.query_qualities = [high] * READ


def not_utf8(path):
    data = gzip.decompress(path.read_bytes()).replace(b"SO:coordinate", b"SO:coordinat\xe9")
    with pysam.BGZFile(str(path), "wb") as out:
        out.write(data)


def in_group(name):
    return lambda read: read.set_tag("RG", name)


def with_short_tags(read):
    for tag in ("BI", "BD"):
        read.set_tag(tag, "I" * (READ - (read.query_name == "r200")), "Z")


VCF = "##fileformat=VCFv4.2\n"
CASES = {
    "no index": no_index,
    "cut off": on_bam(lambda path: cut(path, 0.6)),
    "cut off to nothing": on_bam(lambda path: cut(path, 0)),
    "damaged within": on_bam(damage),
    "not a BAM": on_bam(lambda path: path.write_text("some text\n" * 50)),
    "gzipped text": on_bam(lambda path: pysam.tabix_compress(__file__, str(path), force=True)),
    "unsorted": bam(starts=[100, 50, 300]),
    "sorted by name": bam(head={"HD": {"VN": "1.6", "SO": "queryname"}}),
    "no contigs": bam(starts=[], head={"SQ": []}),
    "without qualities": bam(change=without_qualities),
    "qualities that are too high": bam(change=with_qualities),
    "indel qualities that are too few": bam(change=with_short_tags),
    "header in Latin-1": on_bam(not_utf8),
    "group not in the header": bam(head={"RG": GROUPS}, change=in_group("c")),
    "without a group": bam(head={"RG": GROUPS}),
    "damaged index": lambda folder: (
        (folder / "x.bam.bai").write_bytes(b"BAI\1\7\0\0\0"),
        {"region": "q"},
    )[1],
    "index of another file": other_index(range(2000, 3000, 10)),
    "index of an empty file": other_index([]),
    "index of a longer file": other_index(range(0, LENGTH - READ, 2)),
    "other reference": fasta(OTHER),
    "contig of another length": fasta(LETTERS[:-1]),
    "contig of another name": fasta(name="chrq"),
    "contig that VCF can't hold": lambda folder: (
        write_fasta(folder / "ref.fa", name="q,1"),
        bam(head={"SQ": [{"SN": "q,1", "LN": LENGTH}]})(folder),
    )[1],
    "reference that is gzipped": lambda folder: (
        (folder / "ref.fa").write_bytes(gzip.compress((folder / "ref.fa").read_bytes())),
        (folder / "ref.fa.fai").unlink(),
    )[2:],
    "reference with uneven lines": lambda folder: (
        (folder / "ref.fa").write_text(f">q\n{LETTERS[:50]}\n{LETTERS[50:60]}\n{LETTERS[60:]}\n"),
        (folder / "ref.fa.fai").unlink(),
    )[2:],
    "reference is a BAM": lambda folder: shutil.copy(folder / "x.bam", folder / "ref.fa") and None,
    "reference with a digit": fasta(LETTERS[:3000] + "7" + LETTERS[3001:]),
    "unknown contig": region("z:1-100"),
    "region outside": region(f"q:{LENGTH + 1}-{LENGTH + 9}"),
    "region that ends early": region("q:100-50"),
    "circle that is no contig": lambda folder: {"circular": ["chrM"]},
    "region that ends just before it begins": lambda folder: {"circular": ["q"], "region": "q:100-99"},
    "region that a circle does not have": lambda folder: {"circular": ["q"], "region": "q:100-0"},
    "two regions": region("q:1-50,q:60-90"),
    "region with two readings": lambda folder: (
        (folder / "ref.fa").write_text(f">q\n{LETTERS}\n>q:1-50\n{OTHER}\n"),
        pysam.faidx(str(folder / "ref.fa")),
        write_bam(folder / "x.bam", head={"SQ": [{"SN": name, "LN": LENGTH} for name in ("q", "q:1-50")]}),
        indexed(folder / "x.bam"),
        {"region": "q:1-50"},
    )[-1],
    "position outside": region(f"q:{LENGTH + 1}"),
    "braces around another contig": region("{z}:1-100"),
    "braces and no interval": region("{q}:9-5"),
    "not a VCF": listed("a b c\n"),
    "VCF without records' columns": listed(VCF + "q\t100\n"),
    "VCF of another reference": listed(
        VCF + f"q\t101\t.\t{LETTERS[100].translate(str.maketrans('ACGT', 'CATG'))}\tN\t.\t.\t.\n"
    ),
    "VCF beyond the contig": listed(VCF + f"q\t{LENGTH + 1}\t.\tN\tA\t.\t.\t.\n"),
    "VCF with another contig": listed(VCF + "chrq\t100\t.\tN\tA\t.\t.\t.\n"),
    "VCF unsorted": listed(VCF + "q\t500\t.\tN\tA\t.\t.\t.\nq\t100\t.\tN\tA\t.\t.\t.\n"),
    "VCF with a contig that comes twice": listed(
        VCF + "z\t5\t.\tN\tA\t.\t.\t.\nq\t500\t.\tN\tA\t.\t.\t.\nz\t9\t.\tN\tA\t.\t.\t.\n"
    ),
    "VCF with a strange allele": listed(VCF + "q\t500\t.\tN\t7\t.\t.\t.\n"),
    "VCF with a strange REF": listed(VCF + "q\t500\t.\tX\tA\t.\t.\t.\n"),
    "VCF cut off": packed_list,
    "VCF with an unknown contig of the list": listed(VCF + "z\t100\t.\tN\tA\t.\t.\t.\n"),
    "BED with words": bed("q\ta\tb\n"),
    "BED with an interval without a base": bed("q\t1\t5\nq\t7\t7\n"),
    "BED that ends early": bed("q\t9\t5\n"),
    "BED outside": bed(f"q\t1\t{LENGTH + 1}\n"),
    "BED with another contig": bed("q\t1\t5\nchrq\t1\t9\n"),
    "primers without a strand": bed("q\t1\t5\tx_LEFT\nq\t9\t15\tx\n", "primers"),
    "primers of another reference": bed("q\t1\t5\tx_LEFT\nchrq\t9\t15\tx_RIGHT\n", "primers"),
    "no primers": bed("# none\n", "primers"),
}


def refusal(folder, alignments, given):
    """The message of the package for a call, with the options of the command line, as the page has it."""
    names = {"region": "regions", "variants": "candidates", "intervals": "regions_file", "primers": "primers"}
    texts = "region", "circular"
    keywords = {names.get(key, key): value if key in texts else str(value) for key, value in given.items()}
    with pytest.raises(InputError) as error:
        if "primers" in keywords:
            keywords["primers"] = read_primers(keywords["primers"])
        pairhmm.write_calls(alignments, folder / "ref.fa", folder / "out.vcf", backend="cpu", **keywords)
    return error.value.of_command_line.replace(f"{folder}/", "")


@pytest.mark.parametrize("name", CASES)
def test_one_line_in_the_words_of_the_package(sound, call_in_node, name):
    given = CASES[name](sound) or {}
    expected = refusal(sound, sound / "x.bam", given)
    options = {"circular": given.pop("circular", [])}
    found = call_in_node([sound / "x.bam"], sound / "ref.fa", options=options, **given)
    assert found.error == expected
    assert "\n" not in found.error
    assert found.vcf == ""


def write_crai(path, text):
    path.write_bytes(gzip.compress(text.encode()))


CRAM_CASES = {
    "cut off": lambda path: cut(path, 0.6),
    "damaged within": damage,
    "other reference": lambda path: write_fasta(path.with_name("ref.fa"), OTHER),
    "no index": lambda path: path.with_name("x.cram.crai").unlink(),
    "damaged index": lambda path: path.with_name("x.cram.crai").write_bytes(b"no index"),
    "index of another file": lambda path: write_crai(path.with_name("x.cram.crai"), "0\t1\t500\t9000\t30\t800\n"),
    "index that begins elsewhere": lambda path: write_crai(path.with_name("x.cram.crai"), "0\t1\t500\t99\t30\t80\n"),
}


@pytest.mark.parametrize("name", CRAM_CASES)
def test_cram(sound, call_in_node, name):
    cram = sound / "x.cram"
    pysam.view("-C", "-T", str(sound / "ref.fa"), "-o", str(cram), str(sound / "x.bam"), catch_stdout=False)
    indexed(cram)
    CRAM_CASES[name](cram)
    given = {"region": "q:1-3000"}
    assert call_in_node([cram], sound / "ref.fa", **given).error == refusal(sound, cram, given)


@pytest.mark.parametrize("case", ["alleles skipped", "telomeres", "reads elsewhere", "checksum"])
def test_warnings_of_the_package(sound, call_in_node, caplog, case):
    given = {}
    if case == "alleles skipped":
        given = listed(VCF + "q\t500\t.\tN\t<DEL>\t.\t.\t.\nq\t600\t.\tN\tA,*\t.\t.\t.\n")(sound)
    elif case == "telomeres":
        last = f"q\t{LENGTH + 1}\t.\tN\t<DEL>\t.\t.\t.\n"
        given = listed(VCF + "q\t0\t.\t.\tC]q:4]\t.\t.\t.\nq\t600\t.\tN\tA\t.\t.\t.\n" + last)(sound)
    elif case == "reads elsewhere":
        bam(head={"SQ": [{"SN": "q", "LN": LENGTH}, {"SN": "z", "LN": 900}]})(sound)
    else:
        bam(head={"SQ": [{"SN": "q", "LN": LENGTH, "M5": "0" * 32}]})(sound)
    keywords = {"candidates": str(given["variants"])} if given else {}
    with caplog.at_level("INFO"):
        pairhmm.write_calls(sound / "x.bam", sound / "ref.fa", sound / "out.vcf", backend="cpu", **keywords)
    said = [message.replace(f"{sound}/", "") for message in caplog.messages]
    found = call_in_node([sound / "x.bam"], sound / "ref.fa", **given)
    texts = found.told("warning") + found.told("note")
    assert texts
    assert set(texts) <= set(said)
