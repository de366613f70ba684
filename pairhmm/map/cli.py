"""`pairhmm map`: sketches, distances, relations and maps of samples."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.compute import device_list_options, threads_option
from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import INPUT, MAP, OUTPUT, Command, CommandGroup
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE
from pairhmm.engine import Choice
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

_OPTIONS = MapOptions()


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
@click.option(
    "--kmers",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="Sketches of 'pairhmm map sketch': the group kmers. Repeat it, or --hits or --genotypes, for several files.",
)
@click.option(
    "--hits",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A table of 'pairhmm scan': the group hits.",
)
@click.option(
    "--genotypes",
    multiple=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="Calls (VCF or BCF): the group genotypes.",
)
@click.option(
    "--sheet",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A tab-separated sample sheet: the group sheet.",
)
@click.option(
    "--columns",
    callback=_columns,
    metavar="NAME,NAME",
    panel=INPUT,
    help="The columns of the sheet that are properties: all but sample, alignments and reads by default.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    callback=_weights,
    metavar="GROUP=W",
    panel=MAP,
    help=f"The weight of a group: {', '.join(GROUPS)}. Repeat it for several groups. The default is 1.",
)
@option(
    _OPTIONS,
    "alpha",
    metavar="X",
    panel=MAP,
    help="The weight of the neighbours' mean in a blending pass, 0 to 1.",
)
@option(_OPTIONS, "neighbours", metavar="N", panel=MAP, help="The number of nearest neighbours of a sample.")
@option(_OPTIONS, "passes", metavar="N", panel=MAP, help="The number of blending passes.")
@option(_OPTIONS, "seed", metavar="N", panel=MAP, help="The seed of the random projection.")
@option(
    _OPTIONS,
    "quantise",
    metavar="WAY",
    panel=MAP,
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
    kmers: tuple[str, ...],
    hits: tuple[str, ...],
    genotypes: tuple[str, ...],
    sheet: str | None,
    columns: list[str] | None,
    weights: dict[str, float],
    alpha: float,
    neighbours: int,
    passes: int,
    seed: int,
    quantise: Quantisation,
    backend: Choice,
    threads: int,
    output: str,
    svg: str | None,
    colour: str | None,
) -> None:
    """Draw a map of samples: similar samples lie near each other.

    The map is a random projection. Beside it, up to 2,000 samples are embedded by classical scaling, and a message
    gives the trustworthiness of both. docs/map.md has the formulas.
    """
    drawn = draw_map(
        kmers=kmers,
        hits=hits,
        genotypes=genotypes,
        sheet=sheet,
        columns=columns,
        colour=colour,
        weights=weights,
        options=MapOptions(alpha, neighbours, passes, seed, quantise),
        backend=backend,
        threads=threads,
    )
    write_map(drawn, output, svg)


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
    help="VCF or BCF with AD, PL, GL or GT, or tables that 'likelihoods' wrote (.tsv, .tsv.gz, .parquet), of two"
    " samples or more. Several files are called at the same sites.",
)
@click.option(
    "--sheet",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A sample sheet: the columns sample and individual name the donor of a sample, father and mother that"
    " individual's parents.",
)
@click.option(
    "--pedigree",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A PED file: family, individual, father, mother, sex, phenotype. Without --sheet, a sample has the name of its"
    " individual.",
)
@click.option(
    "--frequencies",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A VCF or BCF with allele frequencies of the population (AF in INFO). Without it, they come from the samples.",
)
@output_option("The table of pairs of samples (.tsv). '-' is stdout.")
@click.option("--sample-table", type=OUTPUT_FILE, metavar="FILE", panel=OUTPUT, help="A table of the samples (.tsv).")
def relate(
    inputs: tuple[str, ...],
    sheet: str | None,
    pedigree: str | None,
    frequencies: str | None,
    output: str,
    sample_table: str | None,
) -> None:
    """Find related, swapped and contaminated samples.

    Each pair of samples has a row: the relation that is inferred from genotype likelihoods, and the one that the
    sample sheet or the pedigree states. Flags mark contradictions.
    """
    write_relations(inputs, output, sample_table, sheet=sheet, pedigree=pedigree, frequencies=frequencies)
