"""The options of the panel Compute: backend, devices, device memory, threads."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import rich_click as click

from pairhmm import backends
from pairhmm.cli import fields
from pairhmm.cli.help_style import COMPUTE
from pairhmm.cli.param_types import Size
from pairhmm.engine import Choice, device_claims
from pairhmm.process import MOST_PER_CORE, usable_threads

AUTO = Choice().backend
BACKENDS = (AUTO, *backends.names())

FREE = "free"
"""The value of `--device` that claims a device."""

Command = Callable[..., Any]

_INDEX = r"\d{1,9}"
_Devices = tuple[int, ...] | int | None
_DEVICES_HELP = "The GPUs that share the work, by their numbers in 'pairhmm devices'. By default, the first GPU."
_FREE_HELP = f"{FREE!r} claims a GPU that no other run has claimed, and waits until there is one."


def _indices(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not re.fullmatch(rf"{_INDEX}(,{_INDEX})*", value):
        raise click.BadParameter(f"{value!r} is not a list of device numbers such as 0 or 0,1", context, parameter)
    return tuple(map(int, value.split(",")))


def _index_or_free(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None or value == FREE or re.fullmatch(_INDEX, value):
        return value
    raise click.BadParameter(f"{value!r} is neither the number of a device nor {FREE}", context, parameter)


def _indices_or_free(context: click.Context, parameter: click.Parameter, value: str | None) -> _Devices:
    """Parse device numbers, or the number of free devices."""
    words = (value or "").split(",")
    return len(words) if set(words) == {FREE} else _indices(context, parameter, value)


devices_option = click.option(
    "--device",
    "devices",
    callback=_indices,
    metavar="N,N",
    panel=COMPUTE,
    help=_DEVICES_HELP,
)

_devices_or_free_option = click.option(
    "--device",
    "devices",
    callback=_indices_or_free,
    metavar="N,N",
    panel=COMPUTE,
    help=f"{_DEVICES_HELP} {_FREE_HELP} '{FREE},{FREE}' claims two.",
)

_device_or_free_option = click.option(
    "--device",
    callback=_index_or_free,
    metavar="N",
    panel=COMPUTE,
    help=f"The GPU, by its number in 'pairhmm devices'. By default, the first GPU. {_FREE_HELP}",
)

device_memory_option = click.option(
    "--device-memory",
    type=Size(),
    metavar="SIZE",
    panel=COMPUTE,
    help="The memory to use on each GPU, in bytes or with K, M or G. By default, all free memory.",
)

_backend_option = fields.option(
    Choice(),
    "backend",
    type=click.Choice(BACKENDS),
    metavar="NAME",
    panel=COMPUTE,
    help=f"The backend. {AUTO!r} chooses the fastest one that runs here, and reports its choice.",
)


def threads_option(owner: object, note: str = "") -> fields.Decorator:
    """`--threads`, with the default that `owner` has: an option dataclass or a function. A note ends the help text."""
    return fields.option(
        owner,
        "threads",
        "-@",
        "--threads",
        least=1,
        callback=lambda context, parameter, value: usable_threads(value),
        metavar="N",
        panel=COMPUTE,
        help=f"The number of CPU threads, at most {MOST_PER_CORE} per core.{note}",
    )


def one_device_options(command: Command) -> Command:
    """Add `--backend` and a single `--device`; the command gets `backend`, a name, and `device`, an index or None."""

    @wraps(command)
    def with_device(*args: Any, backend: str, device: str | None, **options: Any) -> Any:
        index = (
            None if device is None else int(device) if device != FREE else device_claims.claim_devices(backend, 1)[0]
        )
        return command(*args, backend=backend, device=index, **options)

    return _backend_option(_device_or_free_option(with_device))


def backend_options(command: Command) -> Command:
    """Add `--backend`, `--device` and `--device-memory`; the command gets one `backend`, an `engine.Choice`."""
    return _backend_option(_devices_or_free_option(device_memory_option(_with_choice(command))))


def device_list_options(command: Command) -> Command:
    """Add `--backend` and `--device`; the command gets one `backend`, an `engine.Choice` without a memory budget."""
    return _backend_option(_devices_or_free_option(_with_choice(command)))


def _with_choice(command: Command) -> Command:
    @wraps(command)
    def with_choice(
        *args: Any, backend: str, devices: _Devices, device_memory: int | None = None, **options: Any
    ) -> Any:
        if isinstance(devices, int):
            devices = device_claims.claim_devices(backend, devices)
        return command(*args, backend=Choice(backend, devices, device_memory), **options)

    return with_choice
