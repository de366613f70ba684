"""`pairhmm scatter`: regions of equal work for runs side by side."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.cli.evidence_options import evidence_options, run_options
from pairhmm.cli.numbers import Whole


@click.command("scatter")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Folder for 1-of-N.bed to N-of-N.bed.")
@click.option("-n", "--pieces", type=Whole(1), required=True, help="How many pieces.")
@evidence_options
def command(output: str, pieces: int, haplotypes: str | None, **given: Any) -> None:
    """Cut a run over ALIGNMENTS (BAM or CRAM, indexed) into pieces of about as many reads.

    Give it the candidates, regions and options of `call` or `likelihoods`. These over each piece (-R), put together in
    order by `gather`, then write what they write over everything: cuts are made where no candidates are near.
    """
    if haplotypes is not None:
        raise click.UsageError("--haplotypes has one region, which is not cut.")

    from pairhmm.commands.scatter import write_scatter

    options = run_options(given)
    write_scatter(output=output, pieces=pieces, options=options, **given)
