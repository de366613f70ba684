"""The options that choose a model and its parameters, and the checks that they do not contradict others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import rich_click as click
from click import get_current_context
from click.core import ParameterSource

from pairhmm.cli.compute import Command
from pairhmm.cli.help_style import MODEL
from pairhmm.cli.param_types import InputFile
from pairhmm.models.parameter_file import KEYS, read_options
from pairhmm.models.profile import PRESETS, ProfileModel, parameters_of
from pairhmm.models.str_model import StrModel

if TYPE_CHECKING:  # "forward" starts sooner without the reading of alignments
    from pairhmm.calling.run_options import RunOptions

GATK, PROFILE, PDHMM, GRAPH = "gatk", "profile", "pdhmm", "graph"

_HELP = f"The model. {GATK!r} uses base and gap qualities; {PROFILE!r} uses the probability of each letter"


def model_options(command: Command) -> Command:
    """Add --model and --parameters to a command."""
    return _options(command, [GATK, PROFILE], f"{_HELP}.")


def pair_model_options(command: Command) -> Command:
    """The same for a command that also takes haplotypes with undetermined alleles."""
    help = (
        f"{_HELP}; {PDHMM!r} takes GATK's partially determined haplotypes, which have flags; {GRAPH!r} sums over all"
        " haplotypes of a text such as 'AC[A:0.3|C:0.7]T[GG|-]A'."
    )
    return _options(command, [GATK, PROFILE, PDHMM, GRAPH], help)


def _options(command: Command, names: Sequence[str], help: str) -> Command:
    model = click.option(
        "--model",
        type=click.Choice(names),
        default=GATK,
        show_default=True,
        metavar="NAME",
        panel=MODEL,
        help=help,
    )
    parameters = click.option(
        "--parameters",
        type=InputFile(PRESETS),
        metavar="NAME",
        panel=MODEL,
        help="Model parameters: a TOML file of 'pairhmm fit', or a built-in set of the profile model,"
        f" {PRESETS[0]!r} (its default), {', '.join(map(repr, PRESETS[1:-1]))} or {PRESETS[-1]!r}.",
    )
    return model(parameters(command))


def profile_of(model: str, parameters: str | None) -> ProfileModel | None:
    """The profile model that the options name; None for GATK's model.

    Raises
    ------
    InputError
        For a file that has no parameters.
    UsageError
        For parameters that GATK's model would not take.
    """
    if model != PROFILE:
        if parameters is not None:
            raise click.UsageError(f"--parameters is for --model {PROFILE}: options set what GATK's model takes.")
        return None
    return parameters_of(parameters or PRESETS[0])


def fitted_options(options: RunOptions, parameters: str | None) -> RunOptions:
    """The options of a run with GATK's model, and the parameters of a file that --parameters names.

    Raises
    ------
    InputError
        For a file that has no parameters.
    UsageError
        For a built-in set, which is the profile model's, and for options beside a file that sets the same.
    """
    if parameters is None:
        return options
    if parameters in PRESETS:
        raise click.UsageError(f"--parameters {parameters} is for --model {PROFILE}.")
    for name in _quality_options():
        raise click.UsageError(f"--parameters sets what {name} sets: give one of them.")
    return replace(options, model=read_options(parameters, options.model))


def check_str_model(str_model: StrModel | None, parameters: str | None) -> None:
    """Raise UsageError where the command line sets gap qualities twice."""
    if str_model is None:
        return
    if parameters is not None:
        raise click.UsageError("--str-model sets what --parameters sets: give one of them.")
    for name in _quality_options():
        raise click.UsageError(f"--str-model sets what {name} sets: give one of them.")


def check_no_qualities() -> None:
    """Raise UsageError where the command line sets gap qualities, which the profile model has no use for."""
    for name in [*_quality_options(), *_on_command_line(["str_model"])]:
        raise click.UsageError(f"{name} is for --model {GATK}: the profile model's transitions stand in its place.")


def _quality_options() -> Iterator[str]:
    """The options of the command line that set gap qualities of GATK's model."""
    return _on_command_line(KEYS[GATK])


def _on_command_line(names: Iterable[str]) -> Iterator[str]:
    source_of = get_current_context().get_parameter_source
    for name in names:
        if source_of(name) is ParameterSource.COMMANDLINE:
            yield f"--{name.replace('_', '-')}"
