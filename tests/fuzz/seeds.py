"""Sound files to start from, small ones: a simulated sample, and what the commands make of it."""

from __future__ import annotations

import gzip
import importlib.resources
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import bgzf

_PARQUET = ("table.parquet", "table.haplotypes.parquet")
_RAW_SIGNALS = ("signal.slow5", "signal.blow5")
_ROWS = (
    ("ploidy.txt", "chr1 1 1000 M 1\n* * * M 1\n* * * F 2\n"),
    ("regions.bed", "# a comment\nchr1\t500\t900\nchr1\t1000\t1300\tname\nchr2\t400\t1500\n"),
    ("timings.tsv", "s\th:m:s\tmax_rss\tcpu_time\n1.5\t0:00:01\t120.5\t1.2\n2\t0:00:02\t-\tNA\n"),
    ("sheet.tsv", "sample\talignments\treads\tsex\tploidy\none\ta.bam,b.bam\tx.fastq.gz\tM\t\ntwo\tc.cram\t\t\t2\n"),
    ("read.tsv", "name\tposition\tA\tC\tG\tT\none\t1\t.7\t.1\t.1\t.1\none\t2\t0\t0\t1\t0\ntwo\t1\t0\t1\t0\t0\n"),
    ("read.profile", ">one positions=3\n.7 .1 .1 .1\n0 0 1 0\n.25 .25 .25 .25\n>two\n0 1 0 0\n1 0 0 0\n"),
)


def make_seeds(folder: Path) -> dict[str, bytes]:
    """Make the files in an empty folder; returns all that it has by name."""
    _simulate(folder)
    _sequences(folder)
    _variants(folder)
    for name, text in _ROWS:
        (folder / name).write_text(text)
    preset = importlib.resources.files("pairhmm.models") / "presets" / "normalised.toml"
    (folder / "parameters.toml").write_bytes(preset.read_bytes())
    reads = ("-f", "ref.fa", "reads.bam")
    for output in ("calls.vcf", "calls.vcf.gz", "calls.bcf"):
        _run(folder, "call", "--backend", "cpu", "--no-version", "-o", output, *reads)
    _run(folder, "call", "--backend", "cpu", "--no-version", "-o", "chr2.vcf", "-r", "chr2", *reads)
    for output in ("table.tsv", "table.tsv.gz", *(["table.parquet"] if has_parquet() else [])):
        _run(folder, "likelihoods", "--backend", "cpu", "-o", output, *reads)
    _run(folder, "scan", "--backend", "cpu", "--signatures", "signatures.fa", "-o", "hits.tsv", "few.fastq")
    _fitted(folder)
    _signals(folder)
    _cohort(folder)
    made = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    return dict.fromkeys((*_PARQUET, *_RAW_SIGNALS), b"") | made


def has_parquet() -> bool:
    """Whether pyarrow is installed; without it what needs Parquet is drawn, so that numbers stay, and skipped."""
    return find_spec("pyarrow") is not None


def has_signal() -> bool:
    """Whether pyslow5 is installed, which reads and writes SLOW5 and BLOW5."""
    return find_spec("pyslow5") is not None


def _run(folder: Path, *arguments: str) -> None:
    """A command in a process of its own: this one is to stay without threads."""
    subprocess.run([sys.executable, "-m", "pairhmm", "-q", *arguments], cwd=folder, check=True)


def _simulate(folder: Path) -> None:
    counts = ("--length", "4000", "--contigs", "2", "--coverage", "5", "--snvs", "6", "--indels", "3")
    _run(folder, "simulate", "-o", ".", *counts, "--read-length", "80", "--max-indel", "8")
    (folder / "reference.fa").rename(folder / "ref.fa")
    (folder / "reference.fa.fai").rename(folder / "ref.fa.fai")
    import pysam

    reads, reference = str(folder / "reads.bam"), str(folder / "ref.fa")
    (folder / "reads.sam").write_text(pysam.view("-h", reads))
    pysam.view("-C", "-T", reference, "-o", str(folder / "reads.cram"), reads, catch_stdout=False)
    pysam.index(str(folder / "reads.cram"))
    pysam.index("-c", "-o", f"{reads}.csi", reads)


def _fitted(folder: Path) -> None:
    reads = ("-f", "ref.fa", "reads.bam")
    _run(folder, "fit", "-o", "fitted.toml", *reads)
    _run(folder, "calibrate-str", "-o", "slips.toml", *reads)
    sketch = ("map", "sketch", "--k", "11", "--slots", "128", "--each-record", "--min-count", "1")
    _run(folder, *sketch, "-o", "some.sketches", "few.fa")


def _signals(folder: Path) -> None:
    made = ("simulate", "signal", "--signatures", "signatures.fa", "--reads", "3", "--unrelated", "1", "--k", "3")
    _run(folder, *made, "--write-model", "kmers.model", "-o", "signal.tsv")
    for name in _RAW_SIGNALS if has_signal() else ():
        _run(folder, *made, "--write-model", "again.model", "--force", "-o", name)
    import numpy as np

    rows = np.sin(np.arange(120.0)).reshape(3, 40)
    np.save(folder / "signal.npy", rows)
    np.savez(folder / "signals.npz", one=rows[0], two=rows[1])


def _cohort(folder: Path) -> None:
    _run(folder, "simulate", "cohort", "-o", "cohort", "--sites", "60", "--families", "1", "--individuals", "2")
    (folder / "cohort.vcf").write_bytes(bgzf.unpack((folder / "cohort" / "cohort.vcf.gz").read_bytes()))
    (folder / "people.tsv").write_bytes((folder / "cohort" / "samples.tsv").read_bytes())
    (folder / "people.ped").write_text("f\tfamily1_child1\tfamily1_father\tfamily1_mother\t1\t0\n")


def _variants(folder: Path) -> None:
    from pysam import bcftools

    (folder / "truth.vcf").write_bytes(bgzf.unpack((folder / "truth.vcf.gz").read_bytes()))
    bcftools.view("-Ob", "-o", str(folder / "truth.bcf"), str(folder / "truth.vcf.gz"), catch_stdout=False)


def _sequences(folder: Path) -> None:
    lines = gzip.decompress((folder / "reads_1.fastq.gz").read_bytes()).splitlines()[:160]
    names, letters = [line[1:].decode() for line in lines[::4]], [line.decode() for line in lines[1::4]]
    text = b"\n".join(lines) + b"\n"
    (folder / "few.fastq").write_bytes(text)
    (folder / "few.fastq.gz").write_bytes(bgzf.pack(text, 2000))
    (folder / "plain.fastq.gz").write_bytes(gzip.compress(text, mtime=0))
    (folder / "few.fa").write_text(_fasta(names, letters))
    reference = (folder / "ref.fa").read_bytes()
    (folder / "ref.fa.gz").write_bytes(bgzf.pack(reference, 1500))
    chromosome = b"".join(reference.split(b">")[1].splitlines()[1:]).decode()
    pieces = [chromosome[at : at + 90] for at in range(600, 1000, 100)]
    (folder / "haplotypes.fa").write_text(_fasta(("h0", "h1", "h2", "h3"), pieces))
    (folder / "signatures.fa").write_text(_fasta(("s0", "s1", "s2"), [read[20:60] for read in letters[:3]]))
    region = chromosome[700:800]
    changed = region[:50] + ("A" if region[50] != "A" else "C") + region[51:]
    (folder / "region.fa").write_text(_fasta(("one", "two"), (region, changed)))
    (folder / "pairs.in").write_text("".join(map(_group, pieces)))
    known = (f"{piece[:60]} {piece[10:40]} {_QUALITIES} -2.0\n" for piece in pieces)
    (folder / "known.txt").write_text("# a comment\n" + "".join(known))


_QUALITIES = " ".join(letter * 30 for letter in "5NN+")


def _fasta(names: list[str] | tuple[str, ...], sequences: list[str] | tuple[str, ...]) -> str:
    return "".join(f">{name}\n{sequence}\n" for name, sequence in zip(names, sequences, strict=True))


def _group(piece: str) -> str:
    return f"2 2\n{piece[10:40]} {_QUALITIES}\n{piece[20:50]} {_QUALITIES}\n{piece[:60]}\n{piece[5:]}\n"
