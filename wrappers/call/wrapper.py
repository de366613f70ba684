# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake wrapper of pairhmm call."""

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
parameters = snakemake.input.get("parameters")
circular = snakemake.params.get("circular", [])
options = [
    ("-v", snakemake.input.get("candidates")),
    ("-R", snakemake.input.get("regions")),
    ("--primers", snakemake.input.get("primers")),
    ("--model", "profile" if parameters else None),
    ("--parameters", parameters),
    ("--haplotype-table", snakemake.output.get("haplotypes")),
    *(("--circular", name) for name in ([circular] if isinstance(circular, str) else circular)),
]
given = shlex.join([word for option, value in options if value for word in (option, value)])

shell(
    "pairhmm call -f {snakemake.input.reference:q} {given} -@ {snakemake.threads} {extra}"
    " -o {snakemake.output[0]:q} {snakemake.input.alignments:q} {log}"
)
