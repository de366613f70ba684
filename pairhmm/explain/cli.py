"""`pairhmm explain`: why positions are called, or not."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

import rich_click as click

from pairhmm.calling import cli as call
from pairhmm.calling.cli_options import (
    circle_and_primer_options,
    evidence_options,
    molecule_options,
    scoring_options,
)
from pairhmm.calling.foreign_options import AlignmentsCommand
from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import GENOTYPES, INPUT, OUTPUT
from pairhmm.cli.model_options import model_options
from pairhmm.explain.api import explain
from pairhmm.explain.text import text_of
from pairhmm.files.outputs import open_output
from pairhmm.variants.genotypes import RecordOptions

EXAMPLES = (
    "pairhmm explain -f ref.fa sample.bam chr1:10,004",
    "pairhmm explain -f ref.fa -v candidates.vcf.gz --json sample.bam chr1:10004",
)

_FILTERS = {"min_quality", "min_qd", "max_fs", "max_sor", "min_rms_mapq"}


def _without_text(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """The facts alone. The verdict's text is one."""
    return {name: value for name, value in fields if name != "text" or isinstance(value, str)}


def _no_file(_context: click.Context, _parameter: click.Parameter, position: str) -> str:
    if os.path.isfile(position):
        raise click.UsageError(f"{position} is a file: give the position, chr:position, behind the alignments.")
    return position


@click.command("explain", cls=AlignmentsCommand, examples=EXAMPLES)
@evidence_options
@circle_and_primer_options
@model_options
@molecule_options
@click.argument(
    "position",
    required=True,
    metavar="POSITION",
    is_eager=True,
    callback=_no_file,
    panel=INPUT,
    help="The position, chr:position (1-based), behind the alignments; several with commas between them.",
)
@output_option("The explanation (text). '-' is stdout.")
@click.option("--json", "is_json", is_flag=True, panel=OUTPUT, help="Write JSON in place of text.")
def command(
    position: str,
    output: str,
    is_json: bool,
    min_quality: float,
    min_qd: float | None,
    max_fs: float | None,
    max_sor: float | None,
    min_rms_mapq: float | None,
    **values: Any,
) -> None:
    """Explain why 'call' has a variant at a position, or has none.

    Give this command the options of the call. It runs the call around the position, and tells what each step decides:
    which reads are used, what their alignments show, what assembly finds, haplotypes, genotypes, and filters.
    """
    genotypes = call.genotype_options(values)
    records = RecordOptions(min_qd=min_qd, max_fs=max_fs, max_sor=max_sor, min_rms_mapq=min_rms_mapq)
    options = scoring_options(values)
    found = explain(
        positions=position, options=options, genotypes=genotypes, min_quality=min_quality, records=records, **values
    )
    with open_output(output) as out:
        if is_json:
            facts = [asdict(one, dict_factory=_without_text) for one in found]
            out.write(json.dumps(facts, indent=1) + "\n")
        else:
            out.write("\n".join(map(text_of, found)))


# --haplotypes has one region and no candidates to explain, and a mixture has no genotypes.
command.params = [one for one in command.params if one.name != "haplotypes"]
command.params += [
    one
    for one in call.command.params
    if one.name in _FILTERS or (getattr(one, "panel", None) == GENOTYPES and one.name != "mixture")
]
