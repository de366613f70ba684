"""`pairhmm validate`: compare a backend with reference likelihoods."""

from __future__ import annotations

import logging
from typing import Literal

import rich_click as click

from pairhmm.cli.compute import backend_options, threads_option
from pairhmm.cli.fields import option
from pairhmm.cli.help_style import INPUT, MEASUREMENT, MODEL, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.engine import Choice
from pairhmm.forward import validate
from pairhmm.models.batch import PRECISIONS
from pairhmm.plurals import counted
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY

log = logging.getLogger(__name__)

EXAMPLES = (
    "pairhmm validate expected.txt",
    "pairhmm validate --backend cpu --tolerance 1e-4 --worst 0 expected.txt",
)

COLUMNS = ("line", "read_length", "haplotype_length", "expected", "score", "difference", "precision")


@click.command("validate", cls=Command, examples=EXAMPLES)
@click.argument(
    "file",
    type=INPUT_FILE,
    panel=INPUT,
    help="Pairs with reference likelihoods, in seven columns: haplotype, read, its base, insertion, deletion and gap"
    " qualities (Phred+33), and log10 P(read | haplotype). '#' starts a comment.",
)
@option(
    validate.validate,
    "model",
    metavar="NAME",
    panel=MODEL,
    help="The model. 'pdhmm' is that of GATK's partially determined haplotypes, whose flags are a column behind them.",
)
@option(
    validate.validate,
    "min_base_quality",
    least=0,
    most=HIGHEST_SAM_QUALITY,
    metavar="PHRED",
    panel=INPUT,
    help="Raise lower base qualities to this one (Phred). By default 6, as in GATK's own test; for 'pdhmm', 0.",
)
@option(
    validate.validate,
    "tolerance",
    least=0,
    metavar="LOG10",
    panel=MEASUREMENT,
    help="The largest allowed difference (log10).",
)
@backend_options
@threads_option(validate.validate)
@option(
    validate.validate,
    "worst",
    least=0,
    metavar="N",
    panel=OUTPUT,
    help="The number of pairs to list, largest difference first.",
)
def command(
    file: str,
    model: Literal["gatk", "pdhmm"],
    min_base_quality: int | None,
    tolerance: float,
    backend: Choice,
    threads: int,
    worst: int,
) -> None:
    """Compare the scores of a backend with the likelihoods in FILE.

    The worst pairs go to stdout as a table (TSV), the verdict to stderr. The exit code is 0 if all scores are within
    the tolerance, 1 if one is not or is not finite, and 2 if FILE can't be read.
    """
    result = validate.validate(
        file,
        model=model,
        backend=backend,
        tolerance=tolerance,
        min_base_quality=min_base_quality,
        worst=worst,
        threads=threads,
    )
    _print_worst(result, worst)
    measured = (
        f"{counted(result.pairs, 'pair')}, worst difference {result.worst_difference:.3g}, tolerance {tolerance:g}"
    )
    if not result.holds:
        failures = counted(result.failures, "pair exceeds it or is not finite", "pairs exceed it or are not finite")
        log.error("%s: %s", measured, failures)
        raise SystemExit(1)
    log.info("%s: all pairs are within it", measured)


def _print_worst(result: validate.Validation, worst: int) -> None:
    click.echo("#" + "\t".join(COLUMNS))
    for case in result.worst[:worst]:
        values = f"{case.expected:.6f}\t{case.score:.6f}\t{case.difference:.2e}"
        click.echo(f"{case.line}\t{case.read_length}\t{case.haplotype_length}\t{values}\t{PRECISIONS[case.precision]}")
