"""Calls beside bcftools and freebayes on simulated samples with what makes calling hard.

    python benchmarks/calling.py --workdir /tmp/calling

Three genomes (seeds) of 2 Mb: benchmarks/calling_data.py says what they hold. bwa mem aligns the reads. The samples of
a genome: one at 30x, one at 10x, one at 30x with reads of 250 bases, a trio at 10x each, which is called jointly, and
a tetraploid at 60x. Only unique sequence counts: alleles in duplicated segments are left out of calls and truth.

F1 "with genotype" counts an allele only where it has as many copies as in the truth. Found are alleles of any number of
copies, by size. A Mendel error is an SNV whose alleles the child can't have from its parents, among records that no
filter failed. Times are CPU time. freebayes is left out where it is not installed.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pysam
from calling_data import (
    CONTIG,
    REFERENCE,
    TRUTH,
    UNIQUE,
    Genome,
    Sample,
    make_genome,
    make_variants,
    write_genome,
    write_sample,
)
from processes import bcftools, measure
from processes import pairhmm as command_of
from tables import parser, write

from pairhmm.bench.accuracy import CallAccuracy, compare_dosages
from pairhmm.bench.dosages import Allele, read_dosages
from pairhmm.simulate.variants import TruthVariant

SINGLE = {"30x": (30.0, 150, 400), "10x": (10.0, 150, 400), "30x, 250 bases": (30.0, 250, 550)}
"""Coverage, bases a read and mean fragment of each sample that is called alone."""

SIZES = {
    "insertions 1-19": (1, 19),
    "insertions 20-49": (20, 49),
    "insertions 50-100": (50, 100),
    "deletions 1-19": (-19, -1),
    "deletions 20-49": (-49, -20),
    "deletions 50-100": (-100, -50),
}
TRIO = ("child", "father", "mother")
Alleles = Counter[Allele]
Caller = Callable[[Path, list[Path], Path, int], list[str]]


def main() -> None:
    options = parser(__doc__, "calling-work")
    options.add_argument("--length", type=int, default=2_000_000, help="bases (default: %(default)s)")
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
    options.add_argument("--only", default="", help="only the callers whose name contains this word")
    options.add_argument("--data", default="", help="only the data sets whose name contains this word")
    given = options.parse_args()
    callers = {name: caller for name, caller in CALLERS.items() if given.only in name and is_there(name)}
    rows: list[dict[str, Any]] = []
    for seed in given.seeds:
        folder = given.workdir / f"{given.length}-seed{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        data = Data(folder, given.length, seed)
        for measured in (singles, trio, tetraploid):
            rows += measured(data, callers, given.data)
    write(given.output, {"callers": list(seeds_together(rows))}, length=given.length, seeds=given.seeds)


class Data:
    """The samples of one simulated genome, each made on first use."""

    def __init__(self, folder: Path, length: int, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.genome: Genome = make_genome(length, seed)
        self.variants: list[TruthVariant] = make_variants(self.genome, seed)
        if not (folder / UNIQUE).exists():
            write_genome(folder, self.genome)

    @property
    def reference(self) -> Path:
        """The FASTA."""
        return self.folder / REFERENCE

    def sample(self, name: str, carried: np.ndarray, *sequencing: Any) -> Path:
        """The BAM of a sample."""
        bam = self.folder / f"{name}.bam"
        if not bam.with_suffix(".bam.bai").exists():
            write_sample(self.folder, self.genome, self.variants, Sample(name, carried, *sequencing), self.seed)
        return bam

    def unique(self, alleles: Alleles) -> Alleles:
        """Those in unique sequence."""
        return Counter({allele: n for allele, n in alleles.items() if self.genome.unique[allele.start]})


def singles(data: Data, callers: dict[str, Caller], chosen: str) -> Iterator[dict[str, Any]]:
    """Accuracy of samples that are called alone."""
    diploid = np.array([variant.genotype for variant in data.variants])
    for name, (coverage, length, fragment) in SINGLE.items():
        if chosen not in name:
            continue
        file_name = name.replace(", ", "-").replace(" ", "-")
        bam = data.sample(file_name, diploid, coverage, length, fragment)
        truth = data.unique(read_dosages(data.folder / f"{file_name}.{TRUTH}", data.reference))
        for row, _ in measured_calls(data, callers, [bam], file_name, truth):
            yield {"data": name, **row}


def measured_calls(
    data: Data,
    callers: dict[str, Caller],
    bams: list[Path],
    name: str,
    truth: Alleles,
    sample: str | None = None,
    ploidy: int = 2,
) -> Iterator[tuple[dict[str, Any], Path]]:
    """What each caller's calls of a sample are beside the truth, and the calls; `name` is that of their files."""
    for caller, line in callers.items():
        out, seconds = called(data, caller, line, bams, name, ploidy)
        found = data.unique(read_dosages(out, data.reference, sample))
        yield {"caller": caller, "seconds": seconds, **accuracy(found, truth)}, out


def accuracy(found: Alleles, truth: Alleles) -> dict[str, Any]:
    """Counts by kind, and alleles found by size: [found, true]."""
    row: dict[str, Any] = dict(compare_dosages(found, truth))
    for size, (least, most) in SIZES.items():
        true = [allele for allele in truth if least <= len(allele.alt) - len(allele.ref) <= most]
        row[size] = [sum(allele in found for allele in true), len(true)]
    return row


def trio(data: Data, callers: dict[str, Caller], chosen: str) -> Iterator[dict[str, Any]]:
    """Mendel errors and accuracy of the child where a trio is called jointly."""
    name = "trio 3 x 10x"
    if chosen not in name:
        return
    rng = np.random.default_rng([data.seed, 4])
    # Every variant is on one to three of the parents' four copies; the child has the first copy of each parent.
    copies = np.argsort(rng.random((len(data.variants), 4)), axis=1) < rng.integers(1, 4, len(data.variants))[:, None]
    carried = {"child": copies[:, [0, 2]], "father": copies[:, :2], "mother": copies[:, 2:]}
    bams = [data.sample(person, carried[person].astype(int), 10.0) for person in TRIO]
    truth = data.unique(read_dosages(data.folder / f"child.{TRUTH}", data.reference))
    for row, out in measured_calls(data, callers, bams, "trio", truth, "child"):
        yield {"data": name, "mendel_errors": mendel_errors(out, data.genome), **row}


def mendel_errors(calls: Path, genome: Genome) -> int:
    """SNVs in unique sequence whose alleles the child can't have from its parents."""
    errors = 0
    with pysam.VariantFile(str(calls)) as records:
        for record in records:
            if record.filter.keys() not in ([], ["PASS"]) or not genome.unique[record.start]:
                continue
            child, father, mother = (record.samples[person].alleles or () for person in TRIO)
            bases = {*child, *father, *mother}
            if None in bases or any(len(base) != len(record.ref) for base in bases) or len(child) != 2:
                continue
            first, second = child
            errors += not ((first in father and second in mother) or (second in father and first in mother))
    return errors


def tetraploid(data: Data, callers: dict[str, Caller], chosen: str) -> Iterator[dict[str, Any]]:
    """How many SNVs of a tetraploid have as many copies as in the truth."""
    name = "tetraploid 60x"
    if chosen not in name:
        return
    rng = np.random.default_rng([data.seed, 5])
    # One to four of the four copies have the allele.
    carried = np.argsort(rng.random((len(data.variants), 4)), axis=1) < rng.integers(1, 5, len(data.variants))[:, None]
    bam = data.sample("tetraploid", carried.astype(int), 60.0)
    truth = Counter(
        {
            Allele(CONTIG, variant.start, "ACGT"[variant.ref[0]], "ACGT"[variant.alt[0]]): int(copies)
            for variant, copies in zip(data.variants, carried.sum(axis=1), strict=True)
            if variant.is_snv
        }
    )
    # bcftools calls one and two copies only.
    others = {caller: line for caller, line in callers.items() if caller != "bcftools"}
    for row, _ in measured_calls(data, others, [bam], "tetraploid", data.unique(truth), ploidy=4):
        yield {"data": name, **row}


def called(data: Data, caller: str, line: Caller, bams: list[Path], name: str, ploidy: int = 2) -> tuple[Path, float]:
    """The calls of one caller, and its CPU time in seconds."""
    out = data.folder / f"{name}.{caller}.vcf.gz"
    return out, measure(line(data.reference, bams, out, ploidy)).cpu


def pairhmm(reference: Path, bams: list[Path], out: Path, ploidy: int) -> list[str]:
    """The command line of `pairhmm call`."""
    return command_of(*("call", "-f", reference, "-@", 1, "--backend", "cpu", "--ploidy", ploidy, "-o", out), *bams)


def freebayes(reference: Path, bams: list[Path], out: Path, ploidy: int, options: Sequence[str] = ()) -> list[str]:
    """The command line of freebayes; a QUAL below 20 is a call that its authors filter."""
    line = f"freebayes -f {reference} -p {ploidy} {' '.join([*options, *map(str, bams)])}"
    view = "pysam.bcftools.view('-i', 'QUAL>=20', '-Oz', '-o', sys.argv[1], '-', catch_stdout=False)"
    return ["bash", "-c", f'{line} | {sys.executable} -c "import sys, pysam.bcftools; {view}" {out}']


CALLERS: dict[str, Caller] = {
    "pairhmm": pairhmm,
    "bcftools": lambda reference, bams, out, ploidy: bcftools(reference, bams, out),  # two copies of each chromosome
    "freebayes": freebayes,
}


def is_there(caller: str) -> bool:
    """Whether a caller can run here."""
    return caller != "freebayes" or shutil.which("freebayes") is not None


def seeds_together(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each data set and caller."""
    of_caller: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        of_caller.setdefault((row["data"], row["caller"]), []).append(row)
    for (name, caller), some in of_caller.items():
        row = {"data": name, "caller": caller}
        for kind in ("snv", "indel"):
            together = CallAccuracy(
                *(sum(counts) for counts in zip(*(astuple(row[kind]) for row in some), strict=True))
            )
            row[f"{kind} F1"] = f"{together.f1:.4f}"
            row[f"{kind} with genotype"] = f"{together.f1 * together.genotype_concordance:.4f}"
        row |= {size: tuple(sum(row[size][part] for row in some) for part in (0, 1)) for size in SIZES}
        row["Mendel errors"] = sum(row["mendel_errors"] for row in some) if "mendel_errors" in some[0] else None
        yield row | {"CPU s": sum(row["seconds"] for row in some)}


if __name__ == "__main__":
    main()
