"""From a BAM to calls and tables: time, memory and threads of pairhmm beside bcftools and samtools.

    apt install bwa samtools
    python benchmarks/throughput.py --workdir /tmp/throughput --repeats 3

The data are those of accuracy.py (default 5 Mb at 30x). Each command is a process of its own; they take turns, and the
best repeat counts. One thread is compared by CPU time of the whole process, start included; several threads by wall
time. "Bare reading" makes the arrays of all reads and drops them; samtools counts reads with a filter that makes it
parse them. A genome's worth is 3.1 Gb at the rate of the calls. With an NVIDIA GPU, `likelihoods` of an amplicon set
(60 kb at depth 5,000, up to 128 haplotypes a region) runs on it and on all cores. device.py measures kernels and
arrays. Prints a table and writes benchmarks/results/throughput-<name>.json.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import pysam
from accuracy import BCFTOOLS, cpu_name, make_data

RESULTS = Path(__file__).parent / "results"
GENOME = 3.1e9
FILTER = "mapq>=0 && length(seq)>0"
BARE_READING = """
import sys
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.io.alignments.read_blocks import read_blocks
from pairhmm.io.alignments.selection import ReadSelection
from pairhmm.io.sequences.fasta import Reference
with Reference(sys.argv[1]) as reference, AlignmentReader([sys.argv[2]], reference) as reader:
    print(sum(map(len, read_blocks(reader.sources, list(reader.contigs), ReadSelection(0, 0)))))
"""
AMPLICONS = ("--length", "60000", "--snvs", "1400", "--indels", "0", "--coverage", "5000")
AMPLICON_REGIONS = ("--join-distance", "100", "--max-depth", "5000")


class Cost(NamedTuple):
    """What a process took: seconds of wall time and of CPU time, and peak resident memory in MiB."""

    wall: float
    cpu: float
    peak_mb: float


def main() -> None:
    """Run the benchmark that the command line asks for."""
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
    rows = compare(data, costs, cores, options.length)
    print("| what | figure | wanted |\n|---|---|---|")
    print("\n".join(f"| {what} | {figure} | {wanted} |" for what, (figure, wanted) in rows.items()))
    about = {
        "command": " ".join(["python benchmarks/throughput.py", *sys.argv[1:]]),
        "processor": cpu_name(),
        "cores": cores,
        "python": platform.python_version(),
        "pysam": version("pysam"),
        "samtools": subprocess.run(["samtools", "--version"], capture_output=True).stdout.split(b"\n")[0].decode(),
        "length": options.length,
        "repeats": options.repeats,
    }
    results = {
        "about": about,
        "rows": rows,
        "costs": {name: [one._asdict() for one in of] for name, of in costs.items()},
    }
    destination = options.json or RESULTS / f"throughput-{options.name}.json"
    destination.parent.mkdir(parents=True, exist_ok=True)
    destination.write_text(json.dumps(results, indent=1) + "\n")


def parse() -> argparse.Namespace:
    """The options, with defaults for this machine."""
    name = re.sub(r"[^a-z0-9]+", "-", f"{cpu_name()} {os.cpu_count()} cores".lower()).strip("-")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=Path, default=Path("throughput-work"), help="made data are kept")
    parser.add_argument("--length", type=int, default=5_000_000, help="bases (default: %(default)s)")
    parser.add_argument("--coverage", type=float, default=30.0, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--name", default=name, help="of the machine, in the file's name (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="(default: benchmarks/results/throughput-<name>.json)")
    options = parser.parse_args()
    if shutil.which("samtools") is None:
        sys.exit("samtools is not installed; cure: apt-get install samtools")
    listed = subprocess.run(pairhmm("devices"), capture_output=True, text=True).stdout.splitlines()
    options.gpu = [line.split()[0] for line in listed if line.split()[1:2] == ["available"]]
    return options


def made_data(options: argparse.Namespace) -> Path:
    """The folder of the sample of accuracy.py, with its reads as CRAM, too."""
    data = options.workdir / f"{options.length}-{options.coverage:g}x-seed{options.seed}"
    if not (data / "aligned.bam.bai").exists():
        arguments = (data, options.length, options.coverage, options.seed)
        # In a process of its own: Linux counts the size of the parent at its fork as memory of the child.
        maker = get_context("spawn").Process(target=make_data, args=arguments)
        maker.start()
        maker.join()
        if maker.exitcode:
            sys.exit("the data could not be made")
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


def pairhmm(*arguments: object) -> list[str]:
    """The command line of this Python's pairhmm."""
    return [sys.executable, "-m", "pairhmm", *map(str, arguments)]


def make_commands(data: Path, cores: int) -> dict[str, list[str]]:
    """The command line of every contestant, by name."""
    reference, bam, cram = data / "reference.fa", data / "aligned.bam", data / "aligned.cram"
    targets, sites = str(data / "candidates.tsv.gz"), data / "candidates.vcf.gz"

    def bcftools(name: str, mpileup: list[str], call: list[str]) -> list[str]:
        paths = [str(reference), str(bam), str(data / "piled.bcf"), str(data / f"{name}.vcf.gz")]
        return [sys.executable, "-c", BCFTOOLS, *map(json.dumps, [*paths, mpileup, call])]

    def own(command: str, threads: int, output: str, *extra: object) -> list[str]:
        out = data / output
        return pairhmm("-q", command, "-f", reference, "-@", threads, "--backend", "cpu", *extra, "-o", out, bam)

    def counted(path: Path) -> list[str]:
        return ["samtools", "view", "-c", "-e", FILTER, "-T", str(reference), str(path)]

    def read(path: Path) -> list[str]:
        return [sys.executable, "-c", BARE_READING, str(reference), str(path)]

    return {
        "bcftools": bcftools("bcftools", [], ["-mv"]),
        "bcftools -T": bcftools("bcftools-t", ["-T", targets], ["-m", "-C", "alleles", "-T", targets]),
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
            *("-q", "likelihoods", *common, "--backend", backend),
            *("-o", data / f"{backend}.parquet", data / "reads.bam"),
        )
        for backend in ("cpu", "cuda")
    }


def called(threads: int) -> str:
    """The file of the calls of so many threads."""
    return f"call-{threads}.vcf"


def measure(line: list[str]) -> Cost:
    """What a command took, which must succeed."""
    begin = time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    messages = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        sys.exit(f"failed: {' '.join(line)}\n{messages.decode()}")
    # ru_maxrss is in KiB on Linux.
    return Cost(round(wall, 3), round(usage.ru_utime + usage.ru_stime, 3), round(usage.ru_maxrss / 1024))


def compare(data: Path, costs: dict[str, list[Cost]], cores: int, length: int) -> dict[str, tuple[str, str]]:
    """The figure of each row, and what is wanted."""
    cpu = {name: min(one.cpu for one in of) for name, of in costs.items()}
    wall = {name: min(one.wall for one in of) for name, of in costs.items()}
    peak = {name: max(one.peak_mb for one in of) for name, of in costs.items()}
    with gzip.open(data / "scores.tsv.gz", "rb") as table:
        pairs = sum(1 for _ in table) - 1

    def ratio(one: str, other: str) -> str:
        return f"{cpu[one] / cpu[other]:.2f}x ({cpu[one]:.2f} s of {cpu[other]:.2f} s)"

    rows = {
        "call / bcftools": (ratio("call -@ 1", "bcftools"), "<= 0.12x"),
        "call -v / bcftools -T": (ratio("call -v", "bcftools -T"), "<= 1.0x"),
        "likelihoods to TSV.gz": (f"{pairs / cpu['likelihoods, TSV']:,.0f} pairs/s", ""),
        "likelihoods to Parquet": (f"{pairs / cpu['likelihoods, Parquet']:,.0f} pairs/s", ""),
        "a genome's worth of calls": (f"{cpu['call -@ 1'] * GENOME / length / 60:.0f} core-minutes", "<= 25"),
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
        rows[f"peak memory of -@ {threads}"] = f"{peak[name]:.0f} MB", "<= 200" if threads == 1 else "<= 1,000"
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
