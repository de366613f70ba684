"""Options that join the reads of a molecule, and the `RunOptions` of the commands that have them."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.calling.cli_options import run_options
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.run_options import RunOptions
from pairhmm.cli.compute import Command
from pairhmm.cli.fields import option
from pairhmm.cli.help_style import READS
from pairhmm.cli.model_options import PROFILE, check_no_qualities, check_str_model, fitted_options, profile_of

_DEFAULTS = MoleculeOptions()


def molecule_options(command: Command) -> Command:
    """Add --join-mates and --families to a command."""
    mates = option(
        _DEFAULTS,
        "join_mates",
        panel=READS,
        help="Mates that overlap become one profile, the product of both. This is for the profile model.",
    )
    families = option(
        _DEFAULTS,
        "families",
        metavar="NAME",
        panel=READS,
        help="Reads of one molecule become one profile. With MI, they have the same tag MI; with position, the same"
        " strand and ends of their molecule. Marked duplicates are left out unless other flags are excluded (0xB04)."
        " This is for the profile model.",
    )
    return mates(families(command))


def scoring_options(given: dict[str, Any]) -> RunOptions:
    """Take the shared options, those of the model, and those that join reads out of `given`.

    Raises
    ------
    InputError
        As for `profile_of` and `fitted_options`.
    UsageError
        As for these, and for reads that are to be joined for GATK's model.
    """
    model, parameters = given.pop("model"), given.pop("parameters")
    if model == PROFILE:
        check_no_qualities()
        given["profile"] = profile_of(model, parameters)
        return run_options(given)
    if given["join_mates"] or given["families"] != _DEFAULTS.families:
        raise click.UsageError(f"--join-mates and --families are for --model {PROFILE}: joined reads become profiles.")
    check_str_model(given["str_model"], parameters)
    return fitted_options(run_options(given), parameters)
