"""`pairhmm profiles`: BAM and FASTA in, the profiles that the profile model scores out."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.calling import profiles
from pairhmm.calling.cli_molecules import molecule_options
from pairhmm.calling.cli_options import read_options
from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import Command

EXAMPLES = (
    "pairhmm profiles -f ref.fa -o sample.profile sample.bam",
    "pairhmm profiles -f ref.fa --join-mates -r chr1:1001-1200 sample.bam",
)


@click.command("profiles", cls=Command, examples=EXAMPLES)
@read_options
@molecule_options
@output_option("The profiles: .profile (records) or .tsv (a table), with .gz packed. '-' is stdout.")
def command(output: str, **given: Any) -> None:
    """Write reads as the profile model takes them: as letter probabilities.

    A profile has the probabilities of A C G T at each position of a read, from its bases and their prepared qualities.
    Mates that overlap, and reads of one molecule, can be joined. Reads are whole, where scoring cuts them to regions.
    """
    profiles.write_profiles(output=output, **given)
