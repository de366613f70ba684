"""`pairhmm calibrate-str`: BAM and FASTA in, the STR model of the sample out."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.calling.cli_options import count_options
from pairhmm.calling.foreign_options import AlignmentsCommand
from pairhmm.cli.fields import output_option
from pairhmm.fit import calibrate_str

EXAMPLES = (
    "pairhmm calibrate-str -f ref.fa -o sample.str.toml sample.bam",
    "pairhmm calibrate-str -f ref.fa -r chr1:1-50,000 sample.bam > sample.str.toml",
)


@click.command("calibrate-str", cls=AlignmentsCommand, examples=EXAMPLES)
@count_options
@output_option("The STR model (.toml), for --str-model of other commands. '-' is stdout.")
def command(output: str, **options: Any) -> None:
    """Estimate a stutter model of tandem repeats (STR) from the reads of BAM or CRAM.

    The model has gap qualities by repeat unit and copy number. A repeat counts if most of its reads agree on its
    length.
    """
    calibrate_str.write_str_model(output=output, **options)
