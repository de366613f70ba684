"""False SNVs with and without `--join-mates`, on simulated pairs that overlap.

    python benchmarks/mates.py --workdir /tmp/mates

For each seed, `pairhmm simulate` makes a genome (default 1 Mb at 15x, with 850 SNVs and 150 indels) and pairs of
2 x 150 from fragments of 200 bases, so that mates share 100 bases. A hundredth of all bases is wrong, beyond what base
qualities promise. `pairhmm call --model profile` calls the true alignments with and without `--join-mates`, with the
built-in parameters and with identity parameters (eps_M is the identity); GATK's model is there for comparison. The
first table has the SNVs at the default QUAL. The second has the false ones at the QUAL where a share of the true ones
is found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pysam

RESULTS = Path(__file__).parent / "results" / "mates.json"
RECALLS = (0.9, 0.95, 0.98, 0.99, 0.995)
PASS = "PASS"
TRUE = """start = "anywhere"
[match]
A = [0.99, 0.003333333333, 0.003333333333, 0.003333333333, 0.25]
C = [0.003333333333, 0.99, 0.003333333333, 0.003333333333, 0.25]
G = [0.003333333333, 0.003333333333, 0.99, 0.003333333333, 0.25]
T = [0.003333333333, 0.003333333333, 0.003333333333, 0.99, 0.25]
[insertion]
A = 0.25
C = 0.25
G = 0.25
T = 0.25
[transitions]
MM = 0.99993675444679663
MI = 0.000031622776601683795
MD = 0.000031622776601683795
IM = 0.9
II = 0.1
DM = 0.9
DD = 0.1
"""

Snv = tuple[str, int, str]
Calls = dict[Snv, tuple[float, bool]]
"""QUAL of each SNV, and whether its record passes the filter."""


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=Path, default=Path("mates-work"), help="made data are kept and used again")
    parser.add_argument("--length", type=int, default=1_000_000, help="bases (default: %(default)s)")
    parser.add_argument("--coverage", type=float, default=15.0, help="(default: %(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
    parser.add_argument("--json", type=Path, default=RESULTS, help="(default: %(default)s)")
    options = parser.parse_args()
    rows = [row for seed in options.seeds for row in measured(options, seed)]
    report(rows)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    about = {name: getattr(options, name) for name in ("length", "coverage")}
    options.json.write_text(json.dumps({"about": about, "results": rows}, indent=1) + "\n")


def measured(options: argparse.Namespace, seed: int) -> list[dict[str, object]]:
    """A row for each way to call one simulated sample."""
    data = options.workdir / f"{options.length}-{options.coverage:g}x-seed{seed}"
    data.mkdir(parents=True, exist_ok=True)
    true = data / "true.toml"
    true.write_text(TRUE)
    identity = data / "identity.toml"
    identity.write_text(TRUE.replace("0.99,", "1.0,").replace("0.003333333333", "0.0"))
    if not (data / "sample" / "reads.bam.bai").exists():
        size = ("--length", options.length, "--coverage", options.coverage, "--seed", seed)
        fragments = ("--read-length", 150, "--fragment-length", 200, "--fragment-spread", 0)
        run("simulate", "-o", data / "sample", *size, *fragments, "--profile-errors", true, "--force")
    ways = {
        "gatk": (),
        "profile": ("--model", "profile"),
        "profile, joined": ("--model", "profile", "--join-mates"),
        "identity": ("--model", "profile", "--parameters", identity),
        "identity, joined": ("--model", "profile", "--parameters", identity, "--join-mates"),
    }
    expected = set(read_snvs(data / "sample" / "truth.vcf.gz"))
    rows: list[dict[str, object]] = []
    found: dict[str, set[Snv]] = {}
    for way, arguments in ways.items():
        out = data / f"{way.replace(', ', '-').replace(' ', '-')}.vcf"
        files = ("-f", data / "sample" / "reference.fa", data / "sample" / "reads.bam")
        run("call", *files, *arguments, "--backend", "cpu", "-o", out)
        calls = read_snvs(out)
        found[way] = {snv for snv, (_, passes) in calls.items() if passes}
        before = found.get(way.removesuffix(", joined"), set())
        rows.append(
            {
                "seed": seed,
                "way": way,
                "true": len(expected),
                "found": len(found[way] & expected),
                "false": len(found[way] - expected),
                "lost_by_joining": len(before & expected - found[way]),
                "false_at_recall": false_at_recalls(calls, expected),
                "curve": curve(calls, expected),
            }
        )
    return rows


def run(*arguments: object) -> None:
    """The command line in a process of its own."""
    subprocess.run([sys.executable, "-m", "pairhmm", "-q", *map(str, arguments)], check=True)


def read_snvs(path: Path) -> Calls:
    """The SNVs that a genotype of the first sample has."""
    found: Calls = {}
    with pysam.VariantFile(str(path)) as records:
        for record in records:
            passes = PASS in record.filter or not len(record.filter)
            for allele in set(record.samples[0].allele_indices or ()) - {0, None}:
                ref, alt = record.alleles[0], record.alleles[allele]
                if len(ref) == len(alt) == 1:
                    found[record.chrom, record.pos, alt] = (record.qual or 0.0, passes)
    return found


def curve(calls: Calls, expected: set[Snv]) -> list[tuple[int, int]]:
    """True and false SNVs among those of highest QUAL, at each QUAL; SNVs of one QUAL count together."""
    points: list[tuple[int, int]] = []
    true = false = 0
    last = None
    for snv in sorted(calls, key=lambda one: -calls[one][0]):
        if last is not None and calls[snv][0] != last:
            points.append((true, false))
        true, false, last = true + (snv in expected), false + (snv not in expected), calls[snv][0]
    return [*points, (true, false)]


def false_at_recalls(calls: Calls, expected: set[Snv]) -> dict[str, int | None]:
    """The fewest false SNVs at a QUAL that finds a share of the true ones; None where no QUAL does."""
    points = curve(calls, expected)
    return {
        f"{recall:g}": min((false for true, false in points if true >= recall * len(expected)), default=None)
        for recall in RECALLS
    }


def report(rows: Sequence[dict[str, object]]) -> None:
    """Print the tables."""
    print("| seed | way | true | found | false | lost by joining |\n|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {' | '.join(str(row[name]) for name in ('seed', 'way', 'true', 'found', 'false', 'lost_by_joining'))} |"
        )
    print(f"\n| seed | way | {' | '.join(f'{recall:.1%}' for recall in RECALLS)} |")
    print(f"|---|---{'|---' * len(RECALLS)}|")
    for row in rows:
        false = row["false_at_recall"]
        assert isinstance(false, dict)
        cells = ("-" if one is None else str(one) for one in false.values())
        print(f"| {row['seed']} | {row['way']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
