"""Mixtures of haplotypes beside iVar and freebayes: alleles of a small fraction at a great depth.

    python benchmarks/mixtures.py --workdir /tmp/mixtures
    python benchmarks/mixtures.py --workdir /tmp/mixtures --only SNVs --seeds 4 5 6 --context 0.05
    python benchmarks/mixtures.py --workdir /tmp/mixtures --only families --damage 0.00003

benchmarks/mixture_data.py says how genomes, alleles and reads are made, and which errors repeat. Each scenario has a
genome for each seed. A call counts if no filter failed; of iVar, with PASS; of freebayes, whatever its QUAL, which is
near 0. iVar and freebayes are told to look down to half of the fraction, and know no families. freebayes is stopped
after 150 seconds of CPU time on a genome: last base tells where. An allele is false if the truth has not got it. Bias
is the mean of called fraction / true fraction - 1, over alleles that were found. An interval holds the truth if the
true fraction lies in it. Haplotypes of strains are those of windows of 200 bases: of 2% and more, how many there are
and are right; of any share, how many are wrong.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pysam
from mixture_data import CONTIG, SCENARIOS, Errors, Mixture, Scenario, make, normalised, text
from processes import Cost, measure
from processes import pairhmm as command_of
from tables import parser, write


class Call(NamedTuple):
    """An allele that was called: fraction, and its interval if it has one."""

    fraction: float
    interval: tuple[float, float] | None = None


Calls = dict[tuple[int, str, str], Call]

LIMIT = 150
"""Seconds of CPU time after which freebayes is stopped on a genome."""

TABLE = "haplotypes.tsv"
LEAST_WEIGHT = 0.02
"""Of a haplotype that has to be found."""
WINDOW = 200


class Caller(NamedTuple):
    """How a caller is run on a mixture and how its file is read."""

    line: Callable[[Mixture, Scenario, Path], list[str]]
    suffix: str
    read: Callable[[Mixture, Path], Iterable[tuple[int, str, str, Call]]]
    needs: str = ""


def main() -> None:
    options = parser(__doc__, "mixtures-work")
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
    options.add_argument("--only", default="", help="only the scenarios whose name contains this word")
    options.add_argument("--callers", nargs="+", default=list(CALLERS), choices=CALLERS, help="(default: all)")
    for name, value in Errors()._asdict().items():
        options.add_argument(f"--{name}", type=float, default=value, help="(default: %(default)s)")
    given = options.parse_args()
    errors = Errors(*(getattr(given, name) for name in Errors._fields))
    rows = []
    for scenario in SCENARIOS:
        if given.only not in scenario.name:
            continue
        folder = given.workdir / f"{scenario.name.replace(' ', '-').replace('%', '')}{errors.label}"
        mixtures = [make(folder / f"seed{seed}", scenario, errors, seed) for seed in given.seeds]
        for name in given.callers:
            if not CALLERS[name].needs or shutil.which(CALLERS[name].needs):
                rows.append({"data": scenario.name, "caller": name, **together(name, scenario, mixtures)})
                print(rows[-1], file=sys.stderr)
    write(given.output, {"callers": rows}, seeds=given.seeds, **errors._asdict())


def together(name: str, scenario: Scenario, mixtures: list[Mixture]) -> dict[str, Any]:
    """A caller's row: all seeds of a scenario."""
    found, false, true, bases = 0, 0, 0, 0
    ratios, held, costs, last = list[float](), list[bool](), list[Cost](), 0
    for mixture in mixtures:
        calls, cost = called(name, scenario, mixture)
        hits = {allele: call for allele, call in calls.items() if allele in mixture.truth}
        found, true = found + len(hits), true + len(mixture.truth)
        false, bases = false + len(calls) - len(hits), bases + mixture.length
        ratios += [call.fraction / mixture.truth[allele] for allele, call in hits.items()]
        for allele, call in hits.items():
            if call.interval is not None:
                held.append(call.interval[0] <= mixture.truth[allele] <= call.interval[1])
        costs.append(cost)
        last = max((start for start, _, _ in calls), default=last)
    tables = [mixture for mixture in mixtures if name == "pairhmm" and "strains" in scenario.name]
    return {
        "alleles": true,
        "found": found / max(1, true),
        "false": false,
        "false a 10 kb": 1e4 * false / bases,
        "last base": last + 1,
        "bias": sum(ratios) / len(ratios) - 1 if ratios else None,
        "intervals that hold": sum(held) / len(held) if held else None,
        "CPU s": sum(cost.cpu for cost in costs),
        "peak MB": max(cost.peak_mb for cost in costs),
        **haplotypes(tables),
    }


def haplotypes(mixtures: list[Mixture]) -> dict[str, int]:
    """How many haplotypes of windows there are in tables, and are right or false."""
    totals = dict[str, int]()
    for mixture in mixtures:
        found: dict[tuple[int, int], set[str]] = {}
        for line in (mixture.folder / TABLE).read_text().splitlines()[1:]:
            _, _, start, end, _, sequence, *_ = line.split("\t")
            found.setdefault((int(start), int(end)), set()).add(sequence)
        for place, sequences in found.items():
            truth: dict[str, float] = {}
            for haplotype, weight in mixture.haplotypes:
                own = text(haplotype.codes[slice(*place)].tolist())
                truth[own] = truth.get(own, 0) + weight
            needed = {own for own, weight in truth.items() if weight >= LEAST_WEIGHT}
            counts = {
                "haplotypes": len(needed),
                "right": len(needed & sequences),
                "wrong": len(sequences - truth.keys()),
            }
            totals = {key: totals.get(key, 0) + count for key, count in counts.items()}
    return totals


def called(name: str, scenario: Scenario, mixture: Mixture) -> tuple[Calls, Cost]:
    """What a caller calls, and what that took."""
    caller = CALLERS[name]
    out = mixture.folder / f"{name}{caller.suffix}"
    cost = measure(caller.line(mixture, scenario, out))
    calls: Calls = {}
    for start, ref, alt, call in caller.read(mixture, out):
        if not set(ref + alt) <= set("ACGT"):
            continue
        for allele in normalised(mixture.codes, start, ref, alt):
            if (len(allele[1]) == len(allele[2])) == (scenario.kind == "snv"):
                calls.setdefault(allele, call)
    return calls, cost


def pairhmm(mixture: Mixture, scenario: Scenario, out: Path) -> list[str]:
    """The command line of `pairhmm call --mixture`."""
    options: list[object] = ["--circular", CONTIG] if scenario.circular else []
    options += ["--families", "MI", "--model", "profile"] if scenario.copies else []
    if "strains" in scenario.name:
        options += ["--haplotype-table", mixture.folder / TABLE, "--haplotype-window", WINDOW]
    run = ("call", "--mixture", "-@", 1, "--backend", "cpu")
    return command_of(*run, "-f", mixture.reference, "-o", out, *options, mixture.bam)


def freebayes(mixture: Mixture, scenario: Scenario, out: Path) -> list[str]:
    """The command line of freebayes for a pool of any number of copies."""
    options = f"--pooled-continuous -F {scenario.fraction / 2} -C 5 -E -1 --use-best-n-alleles 4"
    # Its last line is not whole where it was stopped.
    line = f"freebayes -f {mixture.reference} {options} {mixture.bam} > {out}"
    return ["bash", "-c", f"ulimit -t {LIMIT}; {line} || sed -i '$d' {out}"]


def ivar(mixture: Mixture, scenario: Scenario, out: Path) -> list[str]:
    """The command line of iVar, as its manual has it."""
    pileup = f"samtools mpileup -aa -A -d 0 -B -Q 0 {mixture.bam}"
    prefix = out.with_suffix("")
    return ["bash", "-c", f"{pileup} | ivar variants -p {prefix} -r {mixture.reference} -t {scenario.fraction / 2}"]


def records(path: Path) -> Iterator[pysam.VariantRecord]:
    """The records of a VCF that no filter failed."""
    with pysam.VariantFile(str(path)) as file:
        yield from (record for record in file if record.filter.keys() in ([], ["PASS"]))


def read_pairhmm(mixture: Mixture, path: Path) -> Iterator[tuple[int, str, str, Call]]:
    """Alleles that the sample has, with fraction and interval."""
    for record in records(path):
        values = record.samples[0]
        fractions = values.get("AF") or ()
        bounds = values.get("CIAF") or ()
        for number in sorted({one for one in values["GT"] if one}):
            interval = tuple(bounds[2 * number - 2 : 2 * number]) or None
            fraction = fractions[number - 1] if fractions else float("nan")
            yield record.start, record.ref or "", (record.alleles or ())[number], Call(fraction, interval)


def read_freebayes(mixture: Mixture, path: Path) -> Iterator[tuple[int, str, str, Call]]:
    """All alleles: their QUAL is near 0 at small fractions."""
    for record in records(path):
        for alt, count in zip(record.alts or (), record.info["AO"], strict=True):
            yield record.start, record.ref or "", alt, Call(count / max(1, record.info["DP"]))


def read_ivar(mixture: Mixture, path: Path) -> Iterator[tuple[int, str, str, Call]]:
    """Alleles that pass; insertions and deletions are written +AC and -AC behind their anchor base."""
    with open(path) as lines:
        next(lines)
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            start, ref, alt = int(fields[1]) - 1, fields[2], fields[3]
            if fields[13] != "TRUE":
                continue
            if alt[0] == "+":
                ref, alt = ref, ref + alt[1:]
            elif alt[0] == "-":
                ref, alt = ref + alt[1:], ref
            yield start, ref, alt, Call(float(fields[10]))


CALLERS = {
    "pairhmm": Caller(pairhmm, ".vcf", read_pairhmm),
    "ivar": Caller(ivar, ".tsv", read_ivar, "ivar"),
    "freebayes": Caller(freebayes, ".vcf", read_freebayes, "freebayes"),
}


if __name__ == "__main__":
    main()
