"""False SNVs with and without `--join-mates`, on simulated pairs that overlap.

    python benchmarks/mates.py --workdir /tmp/mates

For each seed and depth, `pairhmm simulate` makes a genome (default 1 Mb, with 850 SNVs and 150 indels) and pairs of
2 x 150 from fragments of 200 bases, so that mates share 100 bases. A hundredth of the bases is wrong, independently of
their qualities. The reads are used three times: with a base quality of 20 throughout, which promises these errors; with
the simulated qualities, which promise a sixth of them; and with these and `--error-rate 0`, so that no read is set
aside. `pairhmm call --model profile` calls the true alignments with and without `--join-mates`, with the built-in
parameters and with identity parameters (eps_M is the identity); GATK's model is there for comparison.

"Found" and "false" are SNVs at the default QUAL, and "lost" the true ones that joining loses. The last column has the
false SNVs at the QUAL that finds as many true ones as each read alone finds at most (with any QUAL).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import pysam
from command_line import run

RESULTS = Path(__file__).parent / "results" / "mates.json"
PASS, JOINED = "PASS", ", joined"
FLAT_QUALITY = 20
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
    parser.add_argument("--coverage", type=float, nargs="+", default=[15.0, 30.0], help="(default: 15 30)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
    parser.add_argument("--json", type=Path, default=RESULTS, help="(default: %(default)s)")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for coverage in options.coverage:
        for seed in options.seeds:
            rows += measured(options.workdir, options.length, coverage, seed)
    report(rows)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"length": options.length, "results": rows}) + "\n")


def measured(workdir: Path, length: int, coverage: float, seed: int) -> list[dict[str, object]]:
    """A row for each way to call one simulated sample."""
    data = workdir / f"{length}-{coverage:g}x-seed{seed}"
    data.mkdir(parents=True, exist_ok=True)
    true = data / "true.toml"
    true.write_text(TRUE)
    identity = data / "identity.toml"
    identity.write_text(TRUE.replace("0.99,", "1.0,").replace("0.003333333333", "0.0"))
    sample = data / "sample"
    flat = data / "flat.bam"
    if not flat.with_suffix(".bam.bai").exists():
        size = ("--length", length, "--coverage", coverage, "--seed", seed)
        fragments = ("--read-length", 150, "--fragment-length", 200, "--fragment-spread", 0)
        run("simulate", "-o", sample, *size, *fragments, "--profile-errors", true, "--force")
        flatten(sample / "reads.bam", flat)
    joined = ("--model", "profile", "--join-mates")
    ways = {
        "gatk": (),
        "normalised": ("--model", "profile"),
        "normalised" + JOINED: joined,
        "identity": ("--model", "profile", "--parameters", identity),
        "identity" + JOINED: (*joined, "--parameters", identity),
    }
    expected = set(read_snvs(sample / "truth.vcf.gz"))
    rows: list[dict[str, object]] = []
    simulated = sample / "reads.bam"
    sets = {
        "promise the errors": (flat,),
        "promise a sixth": (simulated,),
        "promise a sixth, no read set aside": (simulated, "--error-rate", 0),
    }
    for qualities, given in sets.items():
        calls: dict[str, Calls] = {}
        for way, arguments in ways.items():
            out = data / "calls.vcf"
            run("call", "-f", sample / "reference.fa", *given, *arguments, "--backend", "cpu", "-o", out)
            calls[way] = read_snvs(out)
            before = calls.get(way.removesuffix(JOINED), {})
            found, alone = passing(calls[way]), passing(before)
            rows.append(
                {
                    "coverage": coverage,
                    "qualities": qualities,
                    "seed": seed,
                    "way": way,
                    "true": len(expected),
                    "found": len(found & expected),
                    "false": len(found - expected),
                    "lost": len(alone & expected - found),
                    "false_at_same_recall": false_at(curve(calls[way], expected), len(before.keys() & expected)),
                    "curve": thinned(curve(calls[way], expected)),
                }
            )
    return rows


def flatten(source: Path, target: Path) -> None:
    """Copy a BAM with one base quality throughout, and make its index."""
    with pysam.AlignmentFile(str(source)) as reads, pysam.AlignmentFile(str(target), "wb", template=reads) as out:
        for read in reads:
            read.query_qualities = pysam.qualitystring_to_array(chr(FLAT_QUALITY + 33) * read.query_length)
            out.write(read)
    pysam.index(str(target))


def passing(calls: Calls) -> set[Snv]:
    """The SNVs whose record passes the filter."""
    return {snv for snv, (_, passes) in calls.items() if passes}


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


def false_at(points: Sequence[tuple[int, int]], found: int) -> int | None:
    """The false SNVs at the QUAL that finds so many true ones; None where no QUAL does."""
    return min((false for true, false in points if true >= found), default=None)


def thinned(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Points for a figure: for each number of false SNVs, the fewest and the most true ones."""
    ends = [(point, points[k - 1 : k], points[k + 1 : k + 2]) for k, point in enumerate(points)]
    return [one for one, before, behind in ends if any(not x or x[0][1] != one[1] for x in (before, behind))]


COLUMNS = ("coverage", "qualities", "seed", "way", "true", "found", "false", "lost", "false_at_same_recall")


def report(rows: Sequence[dict[str, object]]) -> None:
    """Print the table."""
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for row in rows:
        print(f"| {' | '.join(str(row[name]) for name in COLUMNS)} |")


if __name__ == "__main__":
    main()
