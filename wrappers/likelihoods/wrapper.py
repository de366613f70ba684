# ruff: noqa: F821 (Snakemake defines `snakemake`)
"""Snakemake wrapper of pairhmm likelihoods."""

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
parameters = snakemake.input.get("parameters")
options = {
    "-v": snakemake.input.get("candidates"),
    "-R": snakemake.input.get("regions"),
    "--model": "profile" if parameters else None,
    "--parameters": parameters,
}
given = shlex.join([word for option, path in options.items() if path for word in (option, path)])

shell(
    "pairhmm likelihoods -f {snakemake.input.reference:q} {given} -@ {snakemake.threads} {extra}"
    " -o {snakemake.output[0]:q} {snakemake.input.alignments:q} {log}"
)
