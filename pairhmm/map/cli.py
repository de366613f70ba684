"""`pairhmm map`: which samples are alike, a module a step."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.help_style import CommandGroup
from pairhmm.map import cli_distances as distances
from pairhmm.map import cli_draw as draw
from pairhmm.map import cli_relate as relate
from pairhmm.map import cli_sketch as sketch

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
