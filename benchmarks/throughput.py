"""From a BAM to calls and tables: time, memory and threads of pairhmm beside bcftools and samtools.

    apt install bwa freebayes samtools
    python benchmarks/throughput.py --workdir /tmp/throughput --repeats 3

The data are those of accuracy.py (default 5 Mb at 30x). Each command is a process of its own; they take turns, and the
best repeat counts. One thread is compared by CPU time of the whole process, start included; several threads by wall
time. "Bare reading" makes the arrays of all reads and drops them; samtools counts reads with a filter that makes it
parse them. Real reads are those of real_reads.py; a genome's worth is 3.1 Gb at their rate, and the start. With an
NVIDIA GPU, `likelihoods` of an amplicon set (60 kb at depth 5,000, up to 128 haplotypes a region) runs on it and on all
cores. `pairhmm bench forward` measures kernels and arrays.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pysam
import real_reads
from accuracy import made_sample, sample_parser
from processes import Cost, bcftools, measure, pairhmm
from tables import write

GENOME = 3.1e9
FILTER = "mapq>=0 && length(seq)>0"
BARE_READING = """
import sys
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import ReadSelection
from pairhmm.sequences.fasta import Reference
with Reference(sys.argv[1]) as reference, AlignmentReader([sys.argv[2]], reference) as reader:
    print(sum(map(len, read_blocks(reader.sources, list(reader.contigs), ReadSelection(0, 0)))))
"""
AMPLICONS = ("--length", "60000", "--snvs", "1400", "--indels", "0", "--coverage", "5000")
AMPLICON_REGIONS = ("--join-distance", "100", "--max-depth", "5000")


def main() -> None:
    options = parse()
    # pip compiles modules as it installs them. In a checkout the first repeat has to, and keep what it made.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    data = made_data(options)
    cores = os.cpu_count() or 1
    commands = make_commands(data, cores)
    has_gpu = "cuda" in options.gpu
    if has_gpu:
        commands |= make_gpu_commands(made_amplicons(options.workdir), cores)
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(options.repeats):
        for name, line in commands.items():
            costs[name].append(measure(line))
    rows = compare(data, costs, cores)
    real: list[dict[str, Any]] = []
    if real_reads.BAM.exists():
        real += real_reads.rows(options.workdir, options.repeats)
        minutes = (real[0]["CPU s a megabase"] * GENOME / 1e6 + real[0]["start, CPU s"]) / 60
        rows["a genome's worth of calls from real reads"] = f"{minutes:.0f} core-minutes", "<= 50"
    else:
        print(f"{real_reads.BAM} is missing: no table of real reads", file=sys.stderr)
    figures = [{"what": what, "figure": figure, "wanted": wanted} for what, (figure, wanted) in rows.items()]
    samtools = subprocess.run(["samtools", "--version"], capture_output=True).stdout.split(b"\n")[0].decode()
    about = {"cores": cores, "pysam": version("pysam"), "samtools": samtools, "data": data.name}
    write(options.output, {"figures": figures, "real reads": real}, repeats=options.repeats, **about)


def _best(costs: list[Cost]) -> Cost:
    return Cost(min(one.wall for one in costs), min(one.cpu for one in costs), max(one.peak_mb for one in costs))


def parse() -> argparse.Namespace:
    """The options, and the GPU backends of this machine."""
    options = sample_parser(__doc__, "throughput-work", repeats=3).parse_args()
    if shutil.which("samtools") is None:
        sys.exit("samtools is not installed; cure: apt-get install samtools")
    listed = subprocess.run(pairhmm("devices"), capture_output=True, text=True).stdout.splitlines()
    options.gpu = [line.split()[0] for line in listed if line.split()[1:2] == ["available"]]
    return options


def made_data(options: argparse.Namespace) -> Path:
    """The folder of the sample of accuracy.py, with its reads as CRAM, too."""
    data = made_sample(options)
    cram = data / "aligned.cram"
    if not (data / "aligned.cram.crai").exists():
        line = ["samtools", "view", "-C", "-T", data / "reference.fa", "-o", cram, data / "aligned.bam"]
        subprocess.run(line, check=True)
        pysam.index(str(cram))
    return data


def made_amplicons(workdir: Path) -> Path:
    """The folder of a deep sample with many variants."""
    data = workdir / "amplicons"
    if not (data / "truth.vcf.gz.tbi").exists():
        subprocess.run(pairhmm("simulate", "-o", data, "--force", *AMPLICONS), check=True)
    return data


def make_commands(data: Path, cores: int) -> dict[str, list[str]]:
    """The command line of every contestant, by name."""
    reference, bam, cram = data / "reference.fa", data / "aligned.bam", data / "aligned.cram"
    targets, sites = str(data / "candidates.tsv.gz"), data / "candidates.vcf.gz"

    def own(command: str, threads: int, output: str, *extra: object) -> list[str]:
        out = data / output
        return pairhmm(command, "-f", reference, "-@", threads, "--backend", "cpu", *extra, "-o", out, bam)

    def counted(path: Path) -> list[str]:
        return ["samtools", "view", "-c", "-e", FILTER, "-T", str(reference), str(path)]

    def read(path: Path) -> list[str]:
        return [sys.executable, "-c", BARE_READING, str(reference), str(path)]

    return {
        "bcftools": bcftools(reference, [bam], data / "bcftools.vcf.gz"),
        "bcftools -T": bcftools(
            reference, [bam], data / "bcftools-t.vcf.gz", ["-T", targets], ["-m", "-C", "alleles", "-T", targets]
        ),
        "call -v": own("call", 1, "call-v.vcf.gz", "-v", sites),
        **{f"call -@ {threads}": own("call", threads, called(threads)) for threads in sorted({1, 2, cores})},
        "likelihoods, TSV": own("likelihoods", 1, "scores.tsv.gz", "-v", sites),
        "likelihoods, Parquet": own("likelihoods", 1, "scores.parquet", "-v", sites),
        "samtools, BAM": counted(bam),
        "reading, BAM": read(bam),
        "samtools, CRAM": counted(cram),
        "reading, CRAM": read(cram),
    }


def make_gpu_commands(data: Path, cores: int) -> dict[str, list[str]]:
    """The same likelihoods on a GPU and on all cores."""
    common = ("-f", data / "reference.fa", "-v", data / "truth.vcf.gz", *AMPLICON_REGIONS, "-@", cores)
    return {
        f"amplicons, {backend}": pairhmm(
            *("likelihoods", *common, "--backend", backend),
            *("-o", data / f"{backend}.parquet", data / "reads.bam"),
        )
        for backend in ("cpu", "cuda")
    }


def called(threads: int) -> str:
    """The file of the calls of so many threads."""
    return f"call-{threads}.vcf"


def compare(data: Path, costs: dict[str, list[Cost]], cores: int) -> dict[str, tuple[str, str]]:
    """The figure of each row, and what is wanted."""
    best = {name: _best(of) for name, of in costs.items()}
    cpu = {name: cost.cpu for name, cost in best.items()}
    wall = {name: cost.wall for name, cost in best.items()}
    with gzip.open(data / "scores.tsv.gz", "rb") as table:
        pairs = sum(1 for _ in table) - 1

    def ratio(one: str, other: str) -> str:
        return f"{cpu[one] / cpu[other]:.2f}x ({cpu[one]:.2f} s of {cpu[other]:.2f} s)"

    rows = {
        "call / bcftools": (ratio("call -@ 1", "bcftools"), "<= 0.12x"),
        "call -v / bcftools -T": (ratio("call -v", "bcftools -T"), "<= 1.0x"),
        "likelihoods to TSV.gz": (f"{pairs / cpu['likelihoods, TSV']:,.0f} pairs/s", ""),
        "likelihoods to Parquet": (f"{pairs / cpu['likelihoods, Parquet']:,.0f} pairs/s", ""),
        "bare reading of BAM / samtools view -c": (ratio("reading, BAM", "samtools, BAM"), "<= 1.5x"),
        "bare reading of CRAM / samtools view -c": (ratio("reading, CRAM", "samtools, CRAM"), "<= 1.3x"),
    }
    first = (data / called(1)).read_bytes()
    for threads in sorted({1, 2, cores}):
        name = f"call -@ {threads}"
        if threads > 1:
            wanted = {2: ">= 1.8x", 16: ">= 9x"}.get(threads, "")
            rows[f"speed of -@ {threads} / -@ 1"] = f"{wall['call -@ 1'] / wall[name]:.2f}x", wanted
            is_same = body(first) == body((data / called(threads)).read_bytes())
            rows[f"-@ {threads} makes the calls of -@ 1"] = str(is_same), "True"
        rows[f"peak memory of -@ {threads}"] = f"{best[name].peak_mb:.0f} MB", "<= 200" if threads == 1 else "<= 1,000"
    if "amplicons, cuda" in wall:
        faster = wall["amplicons, cpu"] / wall["amplicons, cuda"]
        rows[f"amplicons: a GPU / {cores} threads"] = f"{faster:.2f}x", ">= 5x"
    return rows


def body(calls: bytes) -> str:
    """A digest of a VCF's records. Its header has the command line."""
    lines = (line for line in calls.splitlines() if not line.startswith(b"#"))
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


if __name__ == "__main__":
    main()
