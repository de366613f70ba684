"""Genotypes under GATK's model and the profile model, with default parameters and with fitted ones, beside the truth.

    python benchmarks/models.py --workdir /tmp/models

Three data sets: NA12878 on a piece of chromosome 22 and on 100 kb of chromosome 20 (the folder of reference data, or
`PAIRHMM_SHARED_DATA`), and the simulated sample of benchmarks/accuracy.py. `pairhmm fit` gets the alignments alone: it
takes reads where discovery finds no variant. Then `pairhmm call` genotypes the same alignments under each model.

A genotype is right or wrong where call and truth share an allele, an allele is missed where only the truth has it, and
extra where only the call has it. On chromosome 20, extra alleles are counted where the truth set says that it is
complete. The truth set of chromosome 22 lacks two deletions that bcftools and freebayes both call: they are added.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from accuracy import make_data
from processes import CONFIDENT, NA12878, run
from tables import parser, write

from pairhmm.bench.accuracy import compare_dosages
from pairhmm.bench.dosages import Allele, read_dosages

MORE_TRUTH = {
    "chr22 tiny": {Allele("q", 5637, "CAT", "C"): 1, Allele("q", 9250, "GTTCT", "G"): 1},
}
"""True variants that a truth set lacks, by data set: alleles with their copies."""

Truth = dict[Allele, int]


def main() -> None:
    parsed = parser(__doc__, "models-work")
    parsed.add_argument("--only", default="", help="only the data sets whose name contains this word")
    options = parsed.parse_args()
    simulated = options.workdir / "5000000-30x-seed1"
    made = (simulated / "aligned.bam", simulated / "reference.fa", simulated / "truth.vcf.gz", None)
    rows: list[dict[str, Any]] = []
    for name, (bam, reference, truth, region) in [*NA12878.items(), ("simulated 5 Mb", made)]:
        if options.only not in name:
            continue
        if bam.parent == simulated and not (simulated / "aligned.bam.bai").exists():
            make_data(simulated, 5_000_000, 30.0, 1)
        if not bam.exists():
            print(f"no {bam}: left out", file=sys.stderr)
            continue
        folder = options.workdir / name.replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        arguments = ["-f", reference, bam, *(["-r", region] if region else [])]
        true = read_dosages(truth, reference, None) | MORE_TRUTH.get(name, {})
        known = CONFIDENT if name.startswith("chr20") else None
        rows += [{"data": name, **row} for row in measure(folder, arguments, true, reference, known)]
    write(options.output, {"genotypes": rows})


def measure(
    folder: Path, arguments: list[object], truth: Truth, reference: Path, confident: Path | None
) -> Iterator[dict[str, Any]]:
    """Counts of genotypes by model and kind of variant."""
    profile, gatk = folder / "profile.toml", folder / "gatk.toml"
    run("fit", *arguments, "-o", profile)
    run("fit", "--model", "gatk", *arguments, "-o", gatk)
    models: dict[str, list[object]] = {
        "gatk": [],
        "gatk, no PCR indel model": ["--pcr-indel-model", "none"],
        "gatk, fitted": ["--parameters", gatk],
        "profile, normalised": ["--model", "profile"],
        "profile, fitted": ["--model", "profile", "--parameters", profile],
    }
    for name, options in models.items():
        calls = folder / f"{name.replace(', ', '-').replace(' ', '-')}.vcf.gz"
        run("call", *arguments, *options, "-o", calls)
        yield {"model": name, **compare(read_dosages(calls, reference, None), truth, confident)}


def compare(called: Truth, truth: Truth, confident: Path | None) -> dict[str, dict[str, int]]:
    """Counts of right, wrong, missed and extra genotypes, by kind of variant.

    `confident` is a BED where the truth is complete, None for everywhere. "Elsewhere" are extra ones outside.
    """
    counts = {}
    for kind, found in compare_dosages(called, truth).items():
        others = [allele for allele in called.keys() - truth.keys() if allele.is_snv == (kind == "snv")]
        extra = sum(is_within(confident, allele) for allele in others)
        counts[kind] = {
            "right": found.same_genotype,
            "wrong": found.true_positives - found.same_genotype,
            "missed": found.false_negatives,
            "extra": extra,
            "elsewhere": len(others) - extra,
        }
    return counts


def is_within(confident: Path | None, allele: Allele) -> bool:
    """Whether the truth is complete at an allele."""
    if confident is None:
        return True
    places = (line.split() for line in confident.read_text().splitlines())
    return any(chrom == allele.chrom and int(start) <= allele.start < int(end) for chrom, start, end in places)


if __name__ == "__main__":
    main()
