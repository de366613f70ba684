# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake script: compare the calls of a sample with its truth."""

import json
from pathlib import Path

from pairhmm.accuracy import compare

found = compare(snakemake.input.calls, snakemake.input.truth, snakemake.input.reference)
table = {kind: accuracy.as_dict() for kind, accuracy in found.items()}
Path(snakemake.output[0]).write_text(json.dumps(table, indent=1) + "\n")
