# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake wrapper of pairhmm consensus."""

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
circular = snakemake.params.get("circular", [])
options = [("--primers", snakemake.input.get("primers"))]
options += [("--circular", name) for name in ([circular] if isinstance(circular, str) else circular)]
alignments = snakemake.input.alignments
options += [("-b", path) for path in ([alignments] if isinstance(alignments, str) else alignments)]
given = shlex.join([word for option, value in options if value for word in (option, value)])

shell(
    "pairhmm consensus -f {snakemake.input.reference:q} {given} {extra}"
    " -o {snakemake.output[0]:q} {snakemake.input.calls:q} {log}"
)
