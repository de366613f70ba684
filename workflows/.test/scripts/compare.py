# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake script: what was called and found of each sample against what was simulated, as a table."""

import csv
from pathlib import Path

from pairhmm.bench.accuracy import compare

COLUMNS = ("sample", "class", "true", "found", "false", "F1", "genotypes")
WIDTHS = (-12, -9, 6, 6, 6, 8, 10)


def line(values):
    """One row of the table; a negative width sets its column to the left."""
    columns = zip(values, WIDTHS, strict=True)
    return " ".join(f"{value:<{-width}}" if width < 0 else f"{value:>{width}}" for value, width in columns).rstrip()


def rows_of(path):
    """A table that begins with `#`, each row by its columns' names."""
    with open(path, newline="") as lines:
        return list(csv.DictReader((text.removeprefix("#") for text in lines), delimiter="\t"))


hits = rows_of(snakemake.input.hits)
lines = ["Against the simulated truth", line(COLUMNS)]
for sample, truth, planted in zip(
    snakemake.params.samples, snakemake.input.truths, snakemake.input.planted, strict=True
):
    for kind, found in compare(snakemake.input.calls, truth, snakemake.input.reference, sample).items():
        true = found.true_positives + found.false_negatives
        ratios = [f"{found.f1:.4f}", f"{found.genotype_concordance:.4f}"]
        lines.append(line([sample, kind, true, found.true_positives, found.false_positives, *ratios]))
    there = {(row["sample"], row["signature"], row["start"]) for row in rows_of(planted)}
    seen = {(row["record"], row["signature"], row["start"]) for row in hits if row["sample"] == sample}
    share = 2 * len(there & seen) / max(1, len(there) + len(seen))
    lines.append(line([sample, "signature", len(there), len(there & seen), len(seen - there), f"{share:.4f}", ""]))
Path(snakemake.output.table).write_text("\n".join(lines) + "\n")
