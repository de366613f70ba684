"""`pairhmm gather`: the outputs of pieces put together."""

from __future__ import annotations

import rich_click as click


@click.command("gather")
@click.argument("pieces", nargs=-1, required=True, type=click.Path(), metavar="PIECE...")
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    help=".vcf, .vcf.gz or .bcf for calls, .parquet, else a table: .tsv, .tsv.gz; - is stdout.",
)
@click.option("--sample", "samples", multiple=True, help="Tables: a first column sample; once a PIECE, in their order.")
def command(pieces: tuple[str, ...], output: str, samples: tuple[str, ...]) -> None:
    """Put the outputs of `call`, `likelihoods` or `scan` over pieces together, in the order given.

    Rows are copied as they are; a VCF's header is that of the first PIECE, with the provenance of all. Bgzipped outputs
    get their index.
    """
    from pairhmm.commands.gather import gather

    gather(pieces, output, samples)
