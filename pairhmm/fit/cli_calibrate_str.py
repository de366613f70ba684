"""`pairhmm calibrate-str`: BAM and FASTA in, the STR model of the sample out."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.calling.cli_options import count_options
from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import Command
from pairhmm.fit import calibrate_str

EXAMPLES = (
    "pairhmm calibrate-str -f ref.fa -o sample.str.toml sample.bam",
    "pairhmm calibrate-str -f ref.fa -r chr1:1-50,000 sample.bam > sample.str.toml",
)


@click.command("calibrate-str", cls=Command, examples=EXAMPLES)
@count_options
@output_option("The model (TOML), for --str-model. '-' is stdout.")
def command(output: str, **given: Any) -> None:
    """Estimate how often tandem repeats gain or lose units in the reads of BAM or CRAM.

    Repeats count that most reads show in one length. The model has gap qualities by the unit of a repeat and the number
    of its copies.
    """
    calibrate_str.write_str_model(output=output, **given)
