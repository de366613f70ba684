"""`pairhmm map distances`: how alike samples are."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.compute import device_list_options, threads_option
from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import INPUT, MATCHES, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.engine import Choice
from pairhmm.map.sketch.sample_distances import write_distances

EXAMPLES = (
    "pairhmm map distances samples.sketches -o distances.tsv",
    "pairhmm map distances --nearest 5 samples.sketches -o nearest.tsv",
    "pairhmm map distances --queries new.sketches collection.sketches -o d.tsv",
)


@click.command("distances", cls=Command, examples=EXAMPLES)
@click.argument(
    "sketches",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="SKETCHES...",
    panel=INPUT,
    help="Sketch files of 'pairhmm map sketch': the collection.",
)
@click.option(
    "--queries",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="Compare the samples of this sketch file with the collection. Without this option, each two samples of the"
    " collection are compared.",
)
@option(
    write_distances,
    "nearest",
    metavar="N",
    panel=MATCHES,
    help="Write the N nearest samples of each one, nearest first. Without this option, every pair is written, once.",
)
@option(
    write_distances,
    "max_distance",
    metavar="X",
    panel=MATCHES,
    help="Leave out pairs with a larger Mash distance.",
)
@device_list_options
@threads_option(write_distances)
@output_option("The table of distances (TSV). '-' is stdout.")
def command(
    sketches: tuple[str, ...],
    queries: str | None,
    nearest: int | None,
    max_distance: float,
    backend: Choice,
    threads: int,
    output: str,
) -> None:
    """Compare sketches, and write how alike samples are: Jaccard index, Mash distance, containment and ANI.

    docs/map.md describes the columns and their formulas.
    """
    write_distances(
        sketches,
        output,
        queries=queries,
        nearest=nearest,
        max_distance=max_distance,
        backend=backend,
        threads=threads,
    )
