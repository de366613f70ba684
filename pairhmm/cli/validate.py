"""`pairhmm validate`: compare a backend with reference likelihoods."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import rich_click as click

from pairhmm.cli.common import backend_options, threads_option
from pairhmm.cli.numbers import Real, Whole

if TYPE_CHECKING:
    from pairhmm.commands.validate import Validation
    from pairhmm.engine import Choice

log = logging.getLogger(__name__)

COLUMNS = ("line", "read_length", "haplotype_length", "expected", "score", "difference", "precision")


@click.command("validate")
@click.argument("file", type=click.Path())
@backend_options
@threads_option
@click.option(
    "--tolerance",
    type=Real(0.0),
    default=1e-5,
    show_default=True,
    help="Largest allowed difference, in log10 units.",
)
@click.option(
    "--min-base-quality",
    type=click.IntRange(0, 93),
    default=6,
    show_default=True,
    help="Raise base qualities below this to it, as GATK's own test does.",
)
@click.option(
    "--worst",
    type=Whole(0),
    default=10,
    show_default=True,
    help="Cases to list, those that differ most first.",
)
def command(file: str, backend: Choice, threads: int, tolerance: float, min_base_quality: int, worst: int) -> None:
    """Compare a backend with the reference likelihoods in FILE.

    FILE has seven columns: haplotype, read, base, insertion, deletion and gap-continuation qualities (Phred+33), and
    the log10 likelihood; '#' starts a comment. The worst cases go to stdout as a tab-separated table, the verdict to
    stderr. Exit code 1 when a difference is over the tolerance or a score is not finite, 2 for input that cannot be
    read.
    """
    from pairhmm.commands.validate import validate

    result = validate(
        file, backend=backend, tolerance=tolerance, min_base_quality=min_base_quality, worst=worst, threads=threads
    )
    _print_worst(result, worst)
    measured = f"{result.pairs} pairs, worst difference {result.worst_difference:.3g}, tolerance {tolerance:g}"
    if not result.holds:
        log.error("%s: %d over it or not finite", measured, result.failures)
        raise SystemExit(1)
    log.info("%s: all within", measured)


def _print_worst(result: Validation, worst: int) -> None:
    from pairhmm.models.batch import PRECISIONS

    click.echo("\t".join(COLUMNS))
    for case in result.worst[:worst]:
        values = f"{case.expected:.6f}\t{case.score:.6f}\t{case.difference:.2e}"
        click.echo(f"{case.line}\t{case.read_length}\t{case.haplotype_length}\t{values}\t{PRECISIONS[case.precision]}")
