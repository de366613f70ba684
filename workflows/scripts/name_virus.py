# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake script: the references of what a scan calls present, as FASTA, and options for those that are circles."""

import sys

import pysam

from pairhmm.scan.tables import read_coverage
from pairhmm.sequences.fasta import Reference

RELATIVE = 0.5
"""With a larger share of reads that match another reference as well, a reference is a relative of it."""


def present(path):
    """Names of the signatures that are present: the most abundant one, and others that are no relatives of it."""
    found = [seen for _, seen in read_coverage(path, None) if seen.call == "present"]
    return [seen.signature for seen in found[:1]] + [seen.signature for seen in found[1:] if seen.ambiguous <= RELATIVE]


names = present(snakemake.input.signatures)
with open(snakemake.log[0], "w") as log:
    print(f"present: {', '.join(names) or 'none'}", file=log)
if not names:
    sys.exit(f"{snakemake.wildcards.sample}: no virus of {snakemake.input.viruses} is present")
with (
    Reference(snakemake.input.viruses[0]) as viruses,
    open(snakemake.output.reference, "w") as out,
    open(snakemake.output.circular, "w") as options,
):
    unknown = [name for name in snakemake.params.circular if name not in viruses.contigs]
    if unknown:
        sys.exit(f"config: circular: {snakemake.input.viruses} has no {unknown[0]}")
    for name in names:
        out.write(f">{name}\n{viruses.fetch(name, 0, viruses.contigs[name])}\n")
    circles = [name for name in names if name in snakemake.params.circular]
    options.write(" ".join(f"--circular {name}" for name in circles))
pysam.faidx(snakemake.output.reference)
