"""Options that choose a model and its parameters."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.compute import Command
from pairhmm.cli.pages import MODEL
from pairhmm.io.files.destinations import check_apart
from pairhmm.models.profile import PRESETS, ProfileModel, parameters_of

GATK, PROFILE = "gatk", "profile"


def model_options(command: Command) -> Command:
    """Add --model and --parameters to a command."""
    model = click.option(
        "--model",
        type=click.Choice([GATK, PROFILE]),
        default=GATK,
        show_default=True,
        metavar="NAME",
        panel=MODEL,
        help=f"The model. {GATK!r} takes base and gap qualities; {PROFILE!r} takes the probability of each letter.",
    )
    parameters = click.option(
        "--parameters",
        default=PRESETS[0],
        show_default=True,
        metavar="NAME",
        panel=MODEL,
        help=f"The parameters of the profile model: a TOML file, or the built-in {' or '.join(map(repr, PRESETS))}.",
    )
    return model(parameters(command))


def profile_of(model: str, parameters: str, output: str) -> ProfileModel | None:
    """The profile model that the options name; None for GATK's model.

    Raises
    ------
    InputError
        For a file that has no parameters, and where it is the output.
    UsageError
        For parameters that GATK's model would not take.
    """
    if model == GATK:
        if parameters != PRESETS[0]:
            raise click.UsageError(f"--parameters is for --model {PROFILE}: options set what GATK's model takes.")
        return None
    if parameters not in PRESETS:
        check_apart([parameters], [("-o", output)])
    return parameters_of(parameters)
