"""`pairhmm map`: which samples are alike, a module a step."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.map import distances, draw, relate, sketch
from pairhmm.cli.pages import CommandGroup

EXAMPLES = (
    "pairhmm map sketch -o cohort.sketches sample.bam ref.fa",
    "pairhmm map relate cohort.vcf.gz --sheet samples.tsv -o pairs.tsv",
    "pairhmm map draw --kmers cohort.sketches -o positions.tsv --svg map.svg",
)


@click.group("map", cls=CommandGroup, examples=EXAMPLES)
def command() -> None:
    """Find which samples are alike, swapped or contaminated."""


command.add_command(distances.command)
command.add_command(draw.command)
command.add_command(relate.command)
command.add_command(sketch.command)
