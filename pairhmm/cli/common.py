"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import rich_click as click

from pairhmm import backends
from pairhmm.cli.numbers import Whole

BACKENDS = ("auto", *backends.names())

Command = Callable[..., Any]

_INDEX = r"\d{1,9}"
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def _indices(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not re.fullmatch(rf"{_INDEX}(,{_INDEX})*", value):
        raise click.BadParameter(f"{value!r} is not a list of device numbers such as 0 or 0,1", context, parameter)
    return tuple(map(int, value.split(",")))


def _index_or_free(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None or value == "free" or re.fullmatch(_INDEX, value):
        return value
    raise click.BadParameter(f"{value!r} is neither the number of a device nor free", context, parameter)


_Devices = tuple[int, ...] | int | None


def _indices_or_free(context: click.Context, parameter: click.Parameter, value: str | None) -> _Devices:
    """Device numbers, or how many free ones."""
    words = (value or "").split(",")
    return len(words) if set(words) == {"free"} else _indices(context, parameter, value)


def parse_size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Bytes of a size such as 500M; an option's callback."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,18})([KMG]?)", value.upper())
    if not found or not int(found[1]):
        raise click.BadParameter(f"{value!r} is not a size such as 500M or 8G", context, parameter)
    return int(found[1]) * _UNITS[found[2]]


device_option = click.option(
    "--device",
    "devices",
    callback=_indices,
    metavar="N,N,...",
    help="GPUs that share the work, numbered as pairhmm devices lists them. Default: the first.",
)

_device_or_free_option = click.option(
    "--device",
    "devices",
    callback=_indices_or_free,
    metavar="N,N,...|free",
    help="GPUs that share the work, numbered as pairhmm devices lists them; free is one that no other run"
    " has claimed so, and is waited for (free,free: two). Default: the first.",
)

device_memory_option = click.option(
    "--device-memory",
    callback=parse_size,
    metavar="SIZE",
    help="Memory to use of each GPU, in bytes or with K, M or G. Default: what is free.",
)

_backend_option = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default="auto",
    show_default=True,
    help="What computes; auto takes the fastest that runs here and says which.",
)


def _usable_threads(context: click.Context, parameter: click.Parameter, value: int) -> int:
    from pairhmm.engine.threads import usable_threads

    return usable_threads(value)


threads_option = click.option(
    "-@",
    "--threads",
    type=Whole(1),
    callback=_usable_threads,
    default=1,
    show_default=True,
    help="Threads that compute; at most 16 for each core.",
)


def one_device_options(command: Command) -> Command:
    """Add `--backend` and a `--device` that is one; a command gets `backend`, a name, and `device`, an index if any."""

    @wraps(command)
    def with_device(*args: Any, backend: str, device: str | None, **given: Any) -> Any:
        index = None if device is None else int(device) if device != "free" else _claimed(backend, 1)[0]
        return command(*args, backend=backend, device=index, **given)

    option = click.option(
        "--device",
        callback=_index_or_free,
        metavar="N|free",
        help="GPU, numbered as pairhmm devices lists them; free is one that no other run has claimed so, and is"
        " waited for. Default: the first.",
    )
    return _backend_option(option(with_device))


def _claimed(backend: str, count: int) -> tuple[int, ...]:
    from pairhmm.engine.free_devices import claim_devices

    return claim_devices(backend, count)


def backend_options(command: Command) -> Command:
    """Add `--backend`, `--device` and `--device-memory`; the command gets one `backend`, an `engine.Choice`."""

    @wraps(command)
    def with_choice(*args: Any, backend: str, devices: _Devices, device_memory: int | None, **given: Any) -> Any:
        from pairhmm.engine import Choice

        if isinstance(devices, int):
            devices = _claimed(backend, devices)
        return command(*args, backend=Choice(backend, devices, device_memory), **given)

    return _backend_option(_device_or_free_option(device_memory_option(with_choice)))
