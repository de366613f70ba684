"""`pairhmm map`: sketches, distances, relations and maps of samples."""

from __future__ import annotations

from functools import partial
from typing import Any

import rich_click as click

from pairhmm.cli.compute import device_list_options, threads_option
from pairhmm.cli.fields import Decorator, option, output_option
from pairhmm.cli.help_style import INPUT, MAP, OUTPUT, Command, CommandGroup
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE
from pairhmm.map.draw import draw_map, write_map
from pairhmm.map.embedding import GROUPS, MapOptions, Quantisation
from pairhmm.map.relate import write_relations
from pairhmm.map.sketch.cli import distances, sketch

EXAMPLES = (
    "pairhmm map sketch -o cohort.sketches sample.bam ref.fa",
    "pairhmm map relate cohort.vcf.gz --sheet samples.tsv -o pairs.tsv",
    "pairhmm map draw --kmers cohort.sketches -o positions.tsv --svg map.svg",
)


@click.group("map", cls=CommandGroup, examples=EXAMPLES)
def command() -> None:
    """Compare samples: sketches, distances, kinship, contamination, maps."""


command.add_command(distances)
command.add_command(sketch)


DRAW_EXAMPLES = (
    "pairhmm map draw --kmers samples.sketches -o positions.tsv --svg map.svg",
    "pairhmm map draw --kmers samples.sketches --alpha 0 --quantise rank -o p.tsv",
)

map_option = partial(option, MapOptions(), panel=MAP)


def _file(*flags: str, help: str, multiple: bool = False) -> Decorator:
    return click.option(*flags, multiple=multiple, type=INPUT_FILE, metavar="FILE", panel=INPUT, help=help)


def _weights(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, float]:
    """Parse GROUP=W, several times."""
    weights = {}
    for value in values:
        group, _, number = value.partition("=")
        try:
            weights[group] = float(number)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not GROUP=NUMBER", context, parameter) from None
        if group not in GROUPS:
            raise click.BadParameter(f"{group!r} is not one of {', '.join(GROUPS)}", context, parameter)
    return weights


def _columns(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [column.strip() for column in value.split(",") if column.strip()]


@command.command("draw", cls=Command, examples=DRAW_EXAMPLES)
@_file(
    "--kmers",
    multiple=True,
    help="Sketches of 'pairhmm map sketch', the group kmers. This option may be repeated.",
)
@_file("--hits", multiple=True, help="A table of 'pairhmm scan', the group hits. This option may be repeated.")
@_file("--genotypes", multiple=True, help="Calls (VCF or BCF), the group genotypes. This option may be repeated.")
@_file("--sheet", help="A sample sheet (TSV), the group sheet.")
@click.option(
    "--columns",
    callback=_columns,
    metavar="NAME,NAME",
    panel=INPUT,
    show_default="all but sample, alignments and reads",
    help="The columns of the sheet that are properties.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    callback=_weights,
    metavar="GROUP=W",
    panel=MAP,
    show_default="1",
    help=f"The weight of a group: {', '.join(GROUPS)}. This option may be repeated.",
)
@map_option(
    "alpha",
    metavar="X",
    help="How far a blending pass moves a sample: 0 keeps its projection, 1 takes the mean of its neighbours.",
)
@map_option("neighbours", metavar="N", help="The number of nearest neighbours of a sample.")
@map_option(
    "passes",
    metavar="N",
    help="The number of blending passes, which move samples towards the mean of their neighbours.",
)
@map_option("seed", metavar="N", help="The seed of the random projection.")
@map_option(
    "quantise",
    metavar="WAY",
    help="How coordinates are quantised to a grid of 65,536 x 65,536: by the Gaussian CDF, or by rank.",
)
@device_list_options
@threads_option(draw_map)
@output_option("The table of positions (TSV). '-' is stdout.")
@click.option("--svg", type=OUTPUT_FILE, metavar="FILE", panel=OUTPUT, help="The picture (SVG).")
@click.option(
    "--colour", metavar="COLUMN", panel=OUTPUT, help="The column of the sheet that colours the points of the picture."
)
def draw(
    output: str,
    svg: str | None,
    alpha: float,
    neighbours: int,
    passes: int,
    seed: int,
    quantise: Quantisation,
    **inputs: Any,
) -> None:
    """Draw a map of samples: similar samples lie near each other.

    The map is a random projection. Up to 2,000 samples are also embedded by classical scaling, for comparison. A
    message gives the trustworthiness of both. docs/map.md has the formulas.
    """
    options = MapOptions(alpha, neighbours, passes, seed, quantise)
    write_map(draw_map(options=options, **inputs), output, svg)


RELATE_EXAMPLES = (
    "pairhmm map relate cohort.vcf.gz --sheet samples.tsv \\\n    -o pairs.tsv --sample-table related.tsv",
    "pairhmm map relate cohort.vcf.gz --pedigree family.ped -o pairs.tsv",
)


@command.command("relate", cls=Command, examples=RELATE_EXAMPLES)
@click.argument(
    "inputs",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="INPUTS...",
    panel=INPUT,
    help="VCF or BCF with AD, PL, GL or GT, or tables of 'likelihoods' (.tsv, .tsv.gz, .parquet), of two samples or"
    " more. Several files must have been called at the same sites.",
)
@_file(
    "--sheet",
    help="A sample sheet: the columns sample and individual name the donor of a sample, father and mother that"
    " individual's parents.",
)
@_file(
    "--pedigree",
    help="A pedigree (PED: family, individual, father, mother, sex, phenotype). Without --sheet, a sample has the"
    " name of its individual.",
)
@_file(
    "--frequencies",
    help="Population allele frequencies: a VCF or BCF with AF in INFO. By default, they are estimated from the"
    " samples.",
)
@output_option("The table of pairs of samples (.tsv). '-' is stdout.")
@click.option("--sample-table", type=OUTPUT_FILE, metavar="FILE", panel=OUTPUT, help="A table of the samples (.tsv).")
def relate(inputs: tuple[str, ...], output: str, **options: Any) -> None:
    """Infer kinship, and detect swapped and contaminated samples.

    The table has a row for each pair of samples: the relation inferred from genotype likelihoods, and the relation
    that the sample sheet or the pedigree states. Flags mark contradictions.
    """
    write_relations(inputs, output, **options)
