# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake script: the accuracy of all samples as a table for the eye."""

import json
from pathlib import Path

COLUMNS = ("sample", "class", "true", "found", "false", "precision", "recall", "F1", "genotypes")
WIDTHS = (-12, -6, 5, 6, 6, 10, 8, 8, 10)


def line(values):
    """One row of the table; a negative width sets its column to the left."""
    columns = zip(values, WIDTHS, strict=True)
    return " ".join(f"{value:<{-width}}" if width < 0 else f"{value:>{width}}" for value, width in columns)


lines = ["Accuracy against the simulated truth", line(COLUMNS)]
for sample, path in zip(snakemake.params.samples, snakemake.input, strict=True):
    for kind, row in json.loads(Path(path).read_text()).items():
        truths = row["true_positives"] + row["false_negatives"]
        shares = [f"{row[name]:.4f}" for name in ("precision", "recall", "f1", "genotype_concordance")]
        lines.append(line([sample, kind, truths, row["true_positives"], row["false_positives"], *shares]))
here = Path.cwd()
lines += [
    "",
    f"genotypes      {here}/calls/",
    f"likelihoods    {here}/likelihoods/",
    f"reads, truth   {here}/data/",
    f"this table     {here}/accuracy.txt",
]
Path(snakemake.output[0]).write_text("\n".join(lines) + "\n")
