"""Genotypes of what is asked for, beside what is not: half of a list, and targets of one base.

    python benchmarks/unlisted.py --workdir /tmp/unlisted

Simulates a genome for each seed (default 2 Mb at 30x with a variant a kilobase, a tenth of them in clusters) and aligns
it with `bwa mem` (Debian package bwa). It is called five times: with the truth as candidates, with each half of it,
without candidates, and again with `-R` on the first base of each call alone. `--every 80` puts a variant in 80 bases.
The table says how many of the sites that lie near an unlisted variant have the true genotype, with half the list and
with all of it, and how many records of the targets are the whole run's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import accuracy

NEAR = (10, 30)
RESULTS = Path(__file__).parent / "results" / "unlisted.json"

Record = list[str]
Key = tuple[str, str, str, str]


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=Path, default=Path("unlisted-work"), help="made data are kept and used again")
    parser.add_argument("--length", type=int, default=2_000_000, help="bases (default: %(default)s)")
    parser.add_argument("--every", type=int, default=1000, help="bases a variant (default: %(default)s)")
    parser.add_argument("--coverage", type=float, default=30.0, help="(default: %(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
    parser.add_argument("--json", type=Path, default=RESULTS, help="(default: %(default)s)")
    options = parser.parse_args()
    rows = []
    for seed in options.seeds:
        data = options.workdir / f"{options.length}-{options.every}-{options.coverage:g}x-seed{seed}"
        if not (data / "aligned.bam.bai").exists():
            snvs, indels = round(0.85 * options.length / options.every), round(0.15 * options.length / options.every)
            accuracy.make_data(data, options.length, options.coverage, seed, snvs, indels)
        rows.append({"seed": seed, **halves(data), **targets(data)})
    report(rows)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    about = {name: getattr(options, name) for name in ("length", "every", "coverage")}
    options.json.write_text(json.dumps({"about": about, "results": rows}, indent=1) + "\n")


def halves(data: Path) -> dict[str, int]:
    """Sites near an unlisted variant: how many, and how many are right with half the list and with all of it."""
    truth = read_records(data / "truth.vcf.gz")
    true = genotypes(truth)
    whole = genotypes(call(data, "all", "-v", str(data / "candidates.vcf.gz")))
    counts = {f"{what}_{distance}": 0 for distance in NEAR for what in ("near", "half", "all")}
    for turn in (0, 1):
        listed, unlisted = truth[turn::2], truth[1 - turn :: 2]
        found = genotypes(call(data, f"half{turn}", "-v", str(write_list(data / f"half{turn}.vcf", listed))))
        for distance in NEAR:
            bases = bases_near(unlisted, distance)
            near = [key_of(one) for one in listed if any((one[0], base) in bases for base in bases_of(one))]
            counts[f"near_{distance}"] += len(near)
            counts[f"half_{distance}"] += sum(found[key] == true[key] for key in near)
            counts[f"all_{distance}"] += sum(whole[key] == true[key] for key in near)
    return counts


def targets(data: Path) -> dict[str, int]:
    """Records of a run over everything, and of one over their first bases alone: how many, and how many are equal."""
    whole = call(data, "whole")
    bed = data / "targets.bed"
    bed.write_text("".join(f"{one[0]}\t{int(one[1]) - 1}\t{one[1]}\n" for one in whole))
    narrow = {key_of(one): one for one in call(data, "narrow", "-R", str(bed))}
    return {"called": len(whole), "targets": len(narrow), "equal": sum(narrow.get(key_of(one)) == one for one in whole)}


def call(data: Path, name: str, *options: str) -> list[Record]:
    """The records of a call."""
    out = data / f"{name}.vcf.gz"
    command = [sys.executable, "-m", "pairhmm", "-q", "call", "-f", str(data / "reference.fa"), "--backend", "cpu"]
    subprocess.run([*command, *options, "-o", str(out), str(data / "aligned.bam")], check=True)
    return read_records(out)


def read_records(path: Path) -> list[Record]:
    """The columns of each record of a VCF."""
    with gzip.open(path, "rt") as lines:
        return [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]


def write_list(path: Path, records: Iterable[Record]) -> Path:
    """Records without genotypes as a list of candidates."""
    lines = ["##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"]
    path.write_text("".join([*lines, *("\t".join([*one[:5], ".", ".", "."]) + "\n" for one in records)]))
    return path


def key_of(record: Record) -> Key:
    """Contig, position and alleles."""
    return record[0], record[1], record[3], record[4]


def genotypes(records: Iterable[Record]) -> dict[Key, tuple[str, ...]]:
    """Alleles of the first sample, unphased."""
    return {key_of(one): tuple(sorted(one[9].split(":")[0].replace("|", "/").split("/"))) for one in records}


def bases_of(record: Record) -> range:
    """Positions of a record's reference bases."""
    return range(int(record[1]), int(record[1]) + len(record[3]))


def bases_near(records: Iterable[Record], distance: int) -> set[tuple[str, int]]:
    """Positions at most so far from a record's reference bases."""
    return {
        (one[0], base)
        for one in records
        for base in range(bases_of(one).start - distance, bases_of(one).stop + distance)
    }


def report(rows: list[dict[str, int]]) -> None:
    """Print one Markdown row a seed."""
    print("| seed | within | sites | right, half listed | right, all listed | called | on targets alone | equal |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        for distance in NEAR:
            counts = [row[f"{what}_{distance}"] for what in ("near", "half", "all")]
            cells = [row["seed"], distance, *counts, row["called"], row["targets"], row["equal"]]
            print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
