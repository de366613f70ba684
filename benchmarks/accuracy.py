"""Accuracy, time and memory of `pairhmm call` beside bcftools on a simulated sample aligned with bwa mem.

    python benchmarks/accuracy.py --workdir /tmp/accuracy

Simulates a genome (default 5 Mb at 30x with 5,000 variants), aligns it with `bwa mem` (Debian package bwa), and
calls the same BAM with bcftools (the one pysam bundles) and with pairhmm, each in a process of its own on one thread:
once with candidates found in the reads and once with the truth's alleles as candidates. bcftools gets the latter in two
ways: `call -C alleles -T` only, and `mpileup -T` too, which then piles up nowhere else. Times are the best of
--repeats, taken in turns.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pysam
from calling_data import align, index
from processes import bcftools, measure
from processes import pairhmm as command_of
from tables import parser, write

from pairhmm.bench.accuracy import compare
from pairhmm.simulate.api import simulate


def main() -> None:
    options = sample_parser(__doc__, "accuracy-work", repeats=1)
    options.add_argument("--backend", default="cpu", help="of pairhmm (default: %(default)s)")
    options.add_argument("--only", default="", help="only the callers whose name contains this word")
    given = options.parse_args()
    data = made_sample(given)
    commands = {name: line for name, line in make_commands(data, given.backend).items() if given.only in name}
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(given.repeats):
        for name, line in commands.items():
            cost = measure(line)
            costs[name].append((cost.wall, cost.peak_mb))
    rows: list[dict[str, Any]] = []
    for name, took in costs.items():
        found = compare(data / f"{name}.vcf.gz", data / "truth.vcf.gz", data / "reference.fa")
        seconds, peak = min(took)[0], max(peak for _, peak in took)
        figures = {kind: accuracy.as_dict() for kind, accuracy in found.items()}
        rows.append({"caller": name, "seconds": seconds, "peak MB": peak, **figures})
    write(given.output, {"callers": rows}, pysam=version("pysam"), data=data.name)


def sample_parser(document: str, workdir: str, repeats: int) -> argparse.ArgumentParser:
    """Options of benchmarks of the simulated sample."""
    options = parser(document, workdir)
    options.add_argument("--length", type=int, default=5_000_000, help="bases (default: %(default)s)")
    options.add_argument("--coverage", type=float, default=30.0, help="(default: %(default)s)")
    options.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    options.add_argument("--repeats", type=int, default=repeats, help="(default: %(default)s)")
    return options


def made_sample(options: argparse.Namespace) -> Path:
    """The folder of the sample."""
    data: Path = options.workdir / f"{options.length}-{options.coverage:g}x-seed{options.seed}"
    if not (data / "aligned.bam.bai").exists():
        # In a process of its own: Linux counts the size of the parent at its fork as memory of the child.
        arguments = (data, options.length, options.coverage, options.seed)
        maker = get_context("spawn").Process(target=make_data, args=arguments)
        maker.start()
        maker.join()
        if maker.exitcode:
            sys.exit("the data could not be made")
    return data


def make_data(data: Path, length: int, coverage: float, seed: int) -> None:
    """Simulate a sample into the folder `data` and align its reads; the BAM's index is written last."""
    made = simulate(data, length=length, coverage=coverage, seed=seed, overwrite=True)
    index(made.reference)
    align(made.reference, (made.fastq_1, made.fastq_2), "sample", os.cpu_count() or 1).rename(data / "aligned.bam")
    write_candidates(made.truth, data)
    pysam.index(str(data / "aligned.bam"))


def write_candidates(truth: Path, data: Path) -> None:
    """Write the truth's alleles without its genotypes: as VCF for pairhmm, as the table `bcftools -T` reads."""
    sites, targets = data / "candidates.vcf.gz", data / "candidates.tsv.gz"
    with (
        pysam.BGZFile(str(truth), "rb", index=None) as lines,
        pysam.BGZFile(str(sites), "wb", index=None) as records,
        pysam.BGZFile(str(targets), "wb", index=None) as table,
    ):
        for line in lines:
            fields = line.split(b"\t")
            records.write(b"\t".join(fields[:8]) + b"\n")
            if not line.startswith(b"#"):
                table.write(b"\t".join((fields[0], fields[1], fields[3] + b"," + fields[4])) + b"\n")
    pysam.tabix_index(str(sites), preset="vcf", force=True)
    pysam.tabix_index(str(targets), seq_col=0, start_col=1, end_col=1, force=True)


def make_commands(data: Path, backend: str) -> dict[str, list[str]]:
    """Command line of every caller, by name; each writes `<name>.vcf.gz`."""
    reference, bam, targets = data / "reference.fa", data / "aligned.bam", str(data / "candidates.tsv.gz")
    alleles = ["-m", "-C", "alleles", "-T", targets]

    def pairhmm(name: str, extra: list[str]) -> list[str]:
        out = data / f"{name}.vcf.gz"
        return command_of("call", "-f", reference, "-@", 1, "--backend", backend, *extra, "-o", out, bam)

    others = {
        "bcftools": ([], ["-mv"]),
        "bcftools-alleles": ([], alleles),
        "bcftools-alleles-targets": (["-T", targets], alleles),
    }
    return {
        **{name: bcftools(reference, [bam], data / f"{name}.vcf.gz", *extra) for name, extra in others.items()},
        "pairhmm": pairhmm("pairhmm", []),
        "pairhmm-v": pairhmm("pairhmm-v", ["-v", str(data / "candidates.vcf.gz")]),
    }


if __name__ == "__main__":
    main()
