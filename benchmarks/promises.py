"""Errors of calls beside those that QUAL and GQ promise, with and without artefacts.

    python benchmarks/promises.py --workdir /tmp/promises

Samples are those of benchmarks/artefacts.py, with two seeds or more of each kind. Each rate of a kind has seeds of its
own: reads of one seed have the same errors at any rate, which would count several times. A record is wrong by QUAL if
no allele of its genotype is in the truth, and by GQ if its genotype is another one. Promised are the sums of
10^(-QUAL / 10) and 10^(-GQ / 10). The last bin has everything from there on.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pysam
from processes import ROOT, made, run
from tables import parser, write

from pairhmm.bench.dosages import normalise, read_dosages

KINDS: dict[str, list[list[object]]] = {
    "clean, 30x": [["contamination", "--rate", 0, "--length", 4_000_000]],
    "clean, 10x": [["contamination", "--rate", 0, "--coverage", 10, "--length", 4_000_000]],
    "motif on a strand, 30x": [["strand-motif", "--rate", rate] for rate in (0.2, 0.4, 0.8, 1)],
    "motif on a strand, 10x": [["strand-motif", "--rate", rate, "--coverage", 10] for rate in (0.4, 0.8)],
    "copies elsewhere, 30x": [["paralogue", "--rate", rate] for rate in (0.08, 0.15, 0.25)],
    "stutter, 30x": [["stutter", "--rate", rate] for rate in (1, 5, 15)],
    "stutter, 10x": [["stutter", "--rate", rate, "--coverage", 10] for rate in (1, 5, 15)],
    "copies elsewhere, 20x": [["paralogue", "--coverage", 20]],
    "copies elsewhere, 10x": [["paralogue", "--coverage", 10]],
    "copies elsewhere, mixed mapping qualities": [["paralogue", "--mapq", "mixed"]],
}
"""Options of benchmarks/artefacts.py for the samples of each kind."""

APART = 100
"""Between the seeds of one rate and those of the next."""

HIGHEST, WIDTH = 60, 10
"""Where the last bin begins, and how wide the others are: Phred."""


def main() -> None:
    options = parser(__doc__, "promises-work")
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="(default: 1 2)")
    options.add_argument("--data", default="", help="only the kinds whose name contains this word")
    given = options.parse_args()
    rows: list[dict[str, Any]] = []
    for name, kinds in KINDS.items():
        if given.data in name:
            samples = [
                sample(given.workdir, kind, seed + number * APART)
                for number, kind in enumerate(kinds)
                for seed in given.seeds
            ]
            rows += bins(name, samples)
    write(given.output, {"promises": rows}, seeds=given.seeds)


def sample(workdir: Path, kind: list[object], seed: int) -> Path:
    """The folder of a sample, with its calls."""
    words = [*map(str, kind), "--seed", str(seed)]
    folder = workdir / "-".join(word.strip("-") for word in words)

    def make(path: Path) -> None:
        subprocess.run([sys.executable, ROOT / "benchmarks" / "artefacts.py", *words, "--output", path], check=True)

    made(folder, make)
    run("call", "-f", folder / "reference.fa", "-o", folder / "calls.vcf.gz", folder / "reads.bam")
    return folder


def bins(name: str, samples: list[Path]) -> Iterator[dict[str, Any]]:
    """Records, errors and promised errors of each bin."""
    count, wrong, promised = (defaultdict[tuple[str, int], float](float) for _ in range(3))
    for folder in samples:
        for scale, phred, is_wrong in records(folder):
            key = scale, min(int(phred) // WIDTH * WIDTH, HIGHEST)
            count[key] += 1
            wrong[key] += is_wrong
            promised[key] += 10 ** (-phred / 10)
    for scale, low in sorted(count, reverse=True):
        key = scale, low
        yield {
            "data": name,
            "of": scale,
            "from": low,
            "records": round(count[key]),
            "wrong": round(wrong[key]),
            "promised": promised[key],
        }


def records(folder: Path) -> Iterator[tuple[str, Any, bool]]:
    """QUAL and GQ of each record, and whether it is wrong by them."""
    reference = folder / "reference.fa"
    truth = read_dosages(folder / "truth.vcf.gz", reference)
    with pysam.VariantFile(str(folder / "calls.vcf.gz")) as calls, pysam.FastaFile(str(reference)) as fasta:
        for record in calls:
            called = copies(record, fasta)
            yield "QUAL", record.qual, not called.keys() & truth.keys()
            yield "GQ", record.samples[0]["GQ"], any(truth[allele] != n for allele, n in called.items())


def copies(record: Any, fasta: pysam.FastaFile) -> Counter[Any]:
    """Copies of each allele of a record's genotype."""
    found: Counter[Any] = Counter()
    for number, n in Counter[int](record.samples[0]["GT"]).items():
        alt = record.alleles[number]
        if number and alt != "*":
            alleles = normalise(record.chrom, record.start, record.ref, alt, lambda *at: fasta.fetch(record.chrom, *at))
            found.update(dict.fromkeys(alleles, n))
    return found


if __name__ == "__main__":
    main()
