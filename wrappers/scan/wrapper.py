# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake wrapper of pairhmm scan."""

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
options = {"-f": snakemake.input.get("reference"), "--multiqc": snakemake.output.get("multiqc")}
given = shlex.join([word for option, path in options.items() if path for word in (option, path)])

shell(
    "pairhmm scan --signatures {snakemake.input.signatures:q} {given} -@ {snakemake.threads} {extra}"
    " -o {snakemake.output[0]:q} {snakemake.input.reads:q} {log}"
)
