"""Cures that messages name: each message is provoked, its cure is run, and the command then works.

A row of `CASES` for each cure that names a program. Programs come from pysam, so that none needs to be installed.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pysam
import pysam.bcftools
import pytest

from pairhmm.cli.workflow import check_files
from pairhmm.errors import InputError
from pairhmm.files.sample_sheet import read_sheet
from tests.cli.reads import ALT, HEAD, LENGTH, LETTERS, READ, SITE, record, write_bam, write_reference

ONE = HEAD + b"@RG\tID:a\tSM:ann\n"
TWO = ONE + b"@RG\tID:b\tSM:bob\n"
CALL = ("call", "-f", "ref.fa", "-o", "out.vcf")

PROGRAM = """\
import os, shutil, sys, tempfile
import pysam, pysam.bcftools
program, verb, *arguments = {name!r}, *sys.argv[1:]
if program == "bgzip":
    with tempfile.NamedTemporaryFile() as packed:
        with pysam.BGZFile(packed.name, "wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        shutil.copyfileobj(packed, sys.stdout.buffer)
    sys.exit()
if verb.startswith("+"):
    # Plugins are in no package of Python.
    os.execv({real!r}, [program, verb, *arguments])
run = getattr(pysam.bcftools if program == "bcftools" else pysam, verb)
with tempfile.NamedTemporaryFile() as text:
    try:
        run(*arguments, **({{"catch_stdout": False}} if "-o" in arguments else {{"save_stdout": text.name}}))
    except pysam.SamtoolsError as error:
        sys.exit(str(error))
    with open(text.name, "rb") as found:
        shutil.copyfileobj(found, sys.stdout.buffer)
"""


@pytest.fixture(scope="session")
def shell(tmp_path_factory) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs a line in a shell that finds samtools, bcftools and bgzip."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("samtools", "bcftools", "bgzip"):
        (folder / f"{name}.py").write_text(PROGRAM.format(name=name, real=shutil.which(name)))
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$0.py" "$@"\n')
        (folder / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    def run(line: str) -> subprocess.CompletedProcess[str]:
        given = {"capture_output": True, "text": True, "timeout": 60, "check": False}
        return subprocess.run(["bash", "-o", "pipefail", "-c", line], env=environment, **given)

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a reference and a sound BAM."""
    monkeypatch.chdir(tmp_path)
    write_reference("ref.fa")
    write_bam("x.bam", reads())
    pysam.index("x.bam")
    return tmp_path


def reads(groups=""):
    """Reads along the contig, which are of each of the read groups in turn."""
    tags = [b"RGZ%s\0" % group.encode() for group in groups] or [b""]
    starts = range(0, LENGTH - READ, 5)
    return [record(b"r%d" % at, at, tags=tags[at % len(tags)], alt=at % 2 == 1) for at in starts]


def bam(text=HEAD, groups="", backwards=False):
    return lambda: write_bam("bad.bam", reads(groups)[:: -1 if backwards else 1], text)


def copied(name, *more):
    """A copy of the sound BAM without its index; `more` is the content of an index."""

    def make():
        if name.endswith(".cram"):
            pysam.view("-C", "-T", "ref.fa", "-o", name, "x.bam", catch_stdout=False)
        else:
            shutil.copy("x.bam", name)
        for content in more:
            Path(f"{name}.bai").write_bytes(content)

    return make


def index_of_another_file():
    write_bam("bad.bam", reads())
    write_bam("few.bam", reads()[-60:])
    pysam.index("few.bam")
    shutil.copy("few.bam.bai", "bad.bam.bai")


def listed(name, *records, contigs=("q",), columns=""):
    """A VCF or BCF whose contigs, but for the first, are those of `three_contigs`."""

    def make():
        lines = ["##fileformat=VCFv4.2", *(f"##contig=<ID={one},length={LENGTH}>" for one in contigs)]
        lines.append('##FORMAT=<ID=GT,Number=1,Type=String,Description="x">')
        lines.append(f"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO{columns}")
        text = "".join(f"{line}\n" for line in (*lines, *records))
        Path("text.vcf").write_text(text)
        if name.endswith(".bcf"):
            pysam.bcftools.view("-Ob", "-o", name, "text.vcf", catch_stdout=False)
        elif name.endswith("z"):
            Path(name).write_bytes(gzip.compress(text.encode()))
        else:
            Path(name).write_text(text)

    return make


def gzipped_fasta():
    Path("bad.fa.gz").write_bytes(gzip.compress(Path("ref.fa").read_bytes()))


def uneven_fasta():
    Path("bad.fa").write_text(f">q x\n{LETTERS[:50]}\n{LETTERS[50:60]}\n{LETTERS[60:]}\n>r\nACGT\n\nAC\n")


HEADER = "printf '@HD\\tVN:1.6\\tSO:coordinate\\n@SQ\\tSN:q\\tLN:3000\\n@RG\\tID:a\\tSM:ann\\n' > header.sam"
REHEADER = f"{HEADER}; samtools reheader header.sam bad.bam > fixed.bam"
GROUPS = "samtools addreplacerg -r '@RG\\tID:c\\tSM:cid' -o fixed.bam bad.bam"
SORT = "samtools sort -o fixed.bam bad.bam"
FIRST, SECOND = (f"q\t{at + 1}\t.\t{LETTERS[at]}\tN\t.\t.\t." for at in (400, 800))
SNVS = [f"1\t{at}\t.\tA\tC\t50\tPASS\t.\tGT\t0/0\t0/1" for at in range(1, 900, 50)]
OTHER = "z\t5\t.\tN\tA\t.\t.\t."
BAD, FIXED = (*CALL, "bad.bam"), (*CALL, "fixed.bam")
LIST = (*CALL, "-r", "q", "x.bam", "-v")


class Case(NamedTuple):
    """A message and its cure.

    Attributes
    ----------
    make : callable
        Writes the file that provokes it.
    command : tuple of str
    names : str
        What the message names; its cure is everything behind "run ", where it is a whole command.
    cure : str or None
        The line for the shell, where the message names only its program; None for the message's own.
    works : tuple of str
        What works then.
    """

    make: Callable[[], object]
    command: tuple[str, ...]
    names: str
    cure: str | None
    works: tuple[str, ...]


REGION = (*CALL, "-r", "q:100-200")
SCATTER = ("scatter", "-f", "ref.fa", "-n", "2", "-o", "pieces")
INDEXED = {
    "no index": (copied("bad.bam"), (*REGION, "bad.bam")),
    "no index of CRAM": (copied("bad.cram"), (*REGION, "bad.cram")),
    "no index of pieces": (copied("bad.bam"), (*SCATTER, "bad.bam")),
    "damaged index": (copied("bad.bam", b"none"), (*REGION, "bad.bam")),
    "index of another file": (index_of_another_file, (*REGION, "bad.bam")),
}
HEADERS = {
    "group without ID": HEAD + b"@RG\tSM:ann\n",
    "header in Latin-1": ONE.replace(b"SO:coordinate", b"SO:\xe9"),
    "header with a strange line": ONE + b"@XX\tfoo\n@SQ\tLN:5\n",
    "contig twice": ONE + b"@SQ\tSN:q\tLN:3000\n",
    "sample with a line break": ONE.replace(b"SM:ann", b"SM:a\rnn"),
}
CASES = {
    **{
        why: Case(make, command, f"run samtools index {command[-1]}", None, command)
        for why, (make, command) in INDEXED.items()
    },
    **{why: Case(bam(text, "a"), BAD, "samtools reheader", REHEADER, FIXED) for why, text in HEADERS.items()},
    "unsorted": Case(bam(backwards=True), BAD, "run samtools sort", SORT, FIXED),
    "sorted by name": Case(bam(HEAD.replace(b"coordinate", b"queryname")), BAD, "run samtools sort", SORT, FIXED),
    "group not in the header": Case(bam(TWO, "abc"), BAD, "run samtools addreplacerg", GROUPS, FIXED),
    "no group": Case(bam(TWO), BAD, "run samtools addreplacerg", GROUPS, FIXED),
    **{
        f"REF {ref}": Case(
            listed("bad.vcf", f"q\t{SITE + 1}\t.\t{ref}\t{ALT}\t.\t.\t."),
            (*LIST, "bad.vcf"),
            "bcftools norm -c s -f REFERENCE",
            "bcftools norm -c s -f ref.fa -o fixed.vcf bad.vcf",
            (*LIST, "fixed.vcf"),
        )
        for ref in (".", "<X>", "Q", "*")
    },
    **{
        f"unsorted {name}, {why}": Case(
            listed(name, *records, contigs=contigs),
            (*LIST, name),
            "sorted",
            None,
            (*LIST, "sorted.bcf" if name.endswith(".bcf") else "sorted.vcf"),
        )
        for name, why, records, contigs in (
            ("bad.vcf", "positions", (SECOND, FIRST), ("q", "z")),
            ("bad.bcf", "positions", (SECOND, FIRST), ("q", "z")),
            ("bad.vcf.gz", "contigs in another order", (SECOND, OTHER, FIRST), ("z", "q")),
            ("bad.vcf.gz", "no contig lines", (SECOND, OTHER, FIRST), ()),
            ("b d'.vcf", "no contig lines", (SECOND, OTHER, FIRST), ()),
        )
    },
    "sample twice": Case(
        listed("bad.vcf", *SNVS, contigs=("1",), columns="\tFORMAT\ts\ts"),
        ("map", "relate", "-o", "out.tsv", "bad.vcf"),
        "rename one (bcftools reheader)",
        "printf 's\\nt\\n' > names; bcftools reheader -s names -o fixed.vcf bad.vcf",
        ("map", "relate", "-o", "out.tsv", "fixed.vcf"),
    ),
    "no frequencies": Case(
        listed("bad.vcf", *SNVS, contigs=("1",), columns="\tFORMAT\ts\tt"),
        ("map", "relate", "-o", "out.tsv", "--frequencies", "bad.vcf", "bad.vcf"),
        "bcftools +fill-tags -- -t AF",
        "bcftools +fill-tags bad.vcf -o fixed.vcf -- -t AF",
        ("map", "relate", "-o", "out.tsv", "--frequencies", "fixed.vcf", "bad.vcf"),
    ),
    "gzipped FASTA": Case(
        gzipped_fasta,
        ("call", "-f", "bad.fa.gz", "-o", "out.vcf", "x.bam"),
        "run gunzip -c bad.fa.gz | bgzip -c > bgzipped.fa.gz",
        None,
        ("call", "-f", "bgzipped.fa.gz", "-o", "out.vcf", "x.bam"),
    ),
    "FASTA with uneven lines": Case(
        uneven_fasta,
        ("call", "-f", "bad.fa", "-o", "out.vcf", "x.bam"),
        "run awk ",
        None,
        ("call", "-f", "even.fa", "-o", "out.vcf", "x.bam"),
    ),
    "samples of one file": Case(
        bam(TWO, "ab"),
        ("map", "sketch", "-o", "out.sketches", "bad.bam"),
        "divide it (samtools split)",
        "samtools split -f 'fixed_%!.bam' bad.bam",
        ("map", "sketch", "-o", "out.sketches", "fixed_a.bam", "fixed_b.bam"),
    ),
    "reads to align": Case(
        copied("bad.bam"),
        ("align", "--all", "-o", "out.tsv", "bad.bam", "ref.fa"),
        "as samtools fastq makes it",
        "samtools fastq bad.bam > fixed.fq",
        ("align", "--all", "-o", "out.tsv", "fixed.fq", "ref.fa"),
    ),
}


def test_the_cure_of_the_sample_sheet(folder, shell):
    """It is checked before a workflow's jobs."""
    write_bam("bad.bam", reads("a"), ONE)
    pysam.index("bad.bam")
    Path("sheet.tsv").write_text("sample\talignments\nbob\tbad.bam\n")
    with pytest.raises(InputError, match="or run samtools addreplacerg"):
        check_files("sheet.tsv", read_sheet("sheet.tsv"), "ref.fa")
    done = shell("samtools addreplacerg -r '@RG\\tID:c\\tSM:bob' -o fixed.bam bad.bam && samtools index fixed.bam")
    assert done.returncode == 0, done.stderr
    Path("sheet.tsv").write_text("sample\talignments\nbob\tfixed.bam\n")
    check_files("sheet.tsv", read_sheet("sheet.tsv"), "ref.fa")


@pytest.mark.parametrize("name", CASES)
def test_the_cure_cures(folder, run_cli, shell, name):
    case = CASES[name]
    case.make()
    done = run_cli("-q", *case.command)
    assert done.returncode == 2, done.stderr
    (error,) = (line for line in done.stderr.splitlines() if "error: " in line)
    assert case.names in error
    line = case.cure if case.cure is not None else re.search(r"; (?:if .*, )?run (.*)$", error)[1]
    if "+fill-tags" in line and shutil.which("bcftools") is None:
        pytest.skip("no plugins of bcftools: apt install bcftools")
    if "zgrep" in line and shutil.which("zgrep") is None:
        pytest.skip("no zgrep, which gzip brings")
    cured = shell(line)
    assert cured.returncode == 0, cured.stderr
    done = run_cli("-q", *case.works)
    assert done.returncode == 0, done.stderr
