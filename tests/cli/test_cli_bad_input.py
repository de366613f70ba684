"""Bad input as users meet it: `pairhmm call` ends with code 2, one line that names the file, and no output."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pysam
import pytest

LENGTH, READ = 3000, 100
SITE = 1500
VCF = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A reference, reads with a heterozygous SNV in BAM and CRAM, and candidates; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    letters = rng.choice(list("ACGT"), LENGTH)
    alt = "A" if letters[SITE] != "A" else "C"
    Path("ref.fa").write_text(f">q\n{''.join(letters)}\n")
    pysam.faidx("ref.fa")
    header = pysam.AlignmentHeader.from_dict(
        {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}]}
    )
    reads = []
    for number, start in enumerate(sorted(rng.integers(0, LENGTH - READ, 900).tolist())):
        read = pysam.AlignedSegment(header)
        read.query_name, read.reference_id, read.reference_start = f"r{number}", 0, start
        read.mapping_quality, read.cigartuples = 60, [(0, READ)]
        bases = letters[start : start + READ].copy()
        if number % 2 and start <= SITE < start + READ:
            bases[SITE - start] = alt
        read.query_sequence = "".join(bases)
        read.query_qualities = pysam.qualitystring_to_array("I" * READ)
        reads.append(read)
    for name, mode in (("x.bam", "wb"), ("x.cram", "wc")):
        with pysam.AlignmentFile(name, mode, header=header, reference_filename="ref.fa") as out:
            for read in reads:
                out.write(read)
        pysam.index(name)
    Path("x.vcf").write_text(f"{VCF}q\t{SITE + 1}\t.\t{letters[SITE]}\t{alt},<DEL>,*\t.\t.\t.\n")
    return SimpleNamespace(ref=str(letters[SITE]), alt=alt, other=next(iter(set("ACGT") - {letters[SITE], alt})))


def damage(name: str, change) -> None:
    Path("bad" + Path(name).suffix).write_bytes(change(Path(name).read_bytes()))


def damaged(files):
    damage("x.bam", lambda data: data[: len(data) // 2] + data[-28:])
    return ["bad.bam"], "bad.bam: can't be read to its end"


def other_cram_reference(files):
    Path("other.fa").write_text(f">q\n{'ACGT' * (LENGTH // 4)}\n")
    pysam.faidx("other.fa")
    return [
        "x.cram",
        "-f",
        "other.fa",
    ], "x.cram: can't be read to its end; it is cut off, or written with another reference"


def region_outside(files):
    return ["x.bam", "-r", "q:4,000-5,000"], "-r: q:4,000-5,000: outside q, which has 3000 bases"


def region_of_no_contig(files):
    return ["x.bam", "-r", "z:1-2"], "-r: z:1-2: no contig 'z'; contigs are q"


def other_vcf_reference(files):
    Path("bad.vcf").write_text(f"{VCF}q\t{SITE + 1}\t.\t{files.other}\t{files.alt}\t.\t.\t.\n")
    return ["x.bam", "-v", "bad.vcf"], f"bad.vcf: q:{SITE + 1}: REF {files.other} is {files.ref} in the reference"


def haplotype_letter(files):
    Path("haps.fa").write_text(">h1\nACGT\n>h2\nACG!\n")
    return ["x.bam", "--haplotypes", "haps.fa", "-r", "q:100-200"], "haps.fa: h2: letter '!' at position 4"


def no_qualities(files):
    text = pysam.view("-h", "x.bam").splitlines()
    rows = [line if line[0] == "@" else "\t".join([*line.split("\t")[:10], "*"]) for line in text]
    Path("bad.sam").write_text("\n".join(rows) + "\n")
    return ["bad.sam"], "bad.sam: read r0: it has no base qualities; give --default-base-quality"


def no_folder(files):
    return ["x.bam", "-o", "none/out.vcf"], "none: folder does not exist; choose another -o"


def full_disk(files):
    return ["x.bam", "-o", "/dev/full"], "/dev/full: No space left on device"


CASES = [
    *(damaged, other_cram_reference, region_outside, region_of_no_contig, other_vcf_reference, haplotype_letter),
    *(no_qualities, no_folder, full_disk),
]
"""Those of single readers are tested with these, in tests/io/."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_one_line_and_code_2(files, run_cli, case):
    arguments, message = case(files)
    if "-o" not in arguments:
        arguments += ["-o", "out.vcf"]
    if "-f" not in arguments:
        arguments += ["-f", "ref.fa"]
    done = run_cli("--quiet", "call", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not Path("out.vcf").exists()
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "arguments", [["x.bam"], ["x.cram"], ["x.bam", "-v", "x.vcf"], ["x.cram", "-r", "q:1400-1,600"]]
)
def test_the_same_files_undamaged(files, run_cli, arguments):
    done = run_cli("call", "-f", "ref.fa", *arguments)
    assert done.returncode == 0, done.stderr
    (row,) = [line.split("\t") for line in done.stdout.splitlines() if line[0] != "#"]
    assert (row[1], row[3], row[4], row[9][:3]) == (str(SITE + 1), files.ref, files.alt, "0/1")
    assert ("2 symbolic, *, breakend or ambiguous alleles skipped" in done.stderr) == ("-v" in arguments)


@pytest.mark.parametrize("name", ["out.vcf", "out.vcf.gz", "out.bcf"])
def test_a_region_without_anything_gives_a_valid_file(files, run_cli, name):
    done = run_cli("call", "-f", "ref.fa", "-r", "q:1-20", "-o", name, "x.bam")
    assert done.returncode == 0, done.stderr
    with pysam.VariantFile(name) as calls:
        assert list(calls.header.samples) == ["x"]
        assert list(calls) == []


def test_a_reference_without_index_is_announced(files, run_cli):
    Path("ref.fa.fai").unlink()
    done = run_cli("call", "-f", "ref.fa", "x.bam")
    assert done.returncode == 0
    assert "ref.fa has no index: made" in done.stderr
    assert Path("ref.fa.fai").exists()


def test_default_base_quality(files, run_cli):
    arguments, _ = no_qualities(files)
    done = run_cli("call", "-f", "ref.fa", "--default-base-quality", "40", *arguments)
    assert done.returncode == 0, done.stderr
    assert f"q\t{SITE + 1}\t" in done.stdout
