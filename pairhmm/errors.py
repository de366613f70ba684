"""Errors that a user can mend, each one line: where, what, and what helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class PairhmmError(Exception):
    """Base of every error that pairhmm raises on purpose."""


class InputError(PairhmmError):
    """Something in a file or an argument is not usable.

    Parameters
    ----------
    path : str
        The file, or the option.
    record : str
        Line, read, contig or key in it; may be empty.
    rule : str
        What does not hold.
    cure : str
        What the user can do.
    """

    def __init__(self, path: str, record: str, rule: str, cure: str) -> None:
        self.path, self.record, self.rule, self.cure = str(path), str(record), rule, cure
        place = ": ".join(part for part in (self.path, self.record) if part)
        told = "; ".join(part for part in (rule, cure) if part)
        super().__init__(f"{place}: {told}" if place else told)


class OptionError(InputError, ValueError):
    """An option has a value that it can't have.

    Parameters
    ----------
    name : str
        The option's.
    value : object
    rule : str
        What does not hold of the value.
    """

    def __init__(self, name: str, value: object, rule: str) -> None:
        super().__init__("", "", f"{name}={value!r} {rule}", "")


class BackendUnavailable(PairhmmError):
    """A backend does not run here.

    Parameters
    ----------
    name : str
    reason : str
        What is missing.
    cure : str
        How to get it.
    """

    def __init__(self, name: str, reason: str, cure: str) -> None:
        self.name, self.reason, self.cure = name, reason, cure
        super().__init__(f"backend {name}: {reason}; {cure}")


class CompiledPartMissing(BackendUnavailable):
    """Something needs the compiled part of the package, which is not here.

    Parameters
    ----------
    what : str
        What needs it.
    reason : str
        How it is missing.
    cure : str
        How to get it.
    """

    def __init__(self, what: str, reason: str, cure: str) -> None:
        super().__init__("cpu", f"needs pairhmm's compiled part, {reason}", cure)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what} {self.reason}; {self.cure}"


class OutOfDeviceMemory(PairhmmError):
    """A batch does not fit a device's memory; a smaller one may."""


class DeviceLost(PairhmmError):
    """A device answers no more in this process.

    Parameters
    ----------
    device : str
        A backend's label.
    cause : str
    """

    def __init__(self, device: str, cause: str) -> None:
        self.device, self.cause = device, cause
        super().__init__(f"{device}: lost: {cause}")


@contextmanager
def starting_as(missing: Callable[[str], BackendUnavailable], label: str) -> Iterator[None]:
    """Raise what keeps the device `label` from starting, memory or loss, as what `missing` makes of the reason."""
    try:
        yield
    except (OutOfDeviceMemory, DeviceLost) as error:
        cause = error.cause if isinstance(error, DeviceLost) else str(error).removeprefix(f"{label}: ")
        raise missing(f"{label} does not start: {cause}") from error


@contextmanager
def raised_as(translate: Callable[[Exception, str], PairhmmError | None], label: str) -> Iterator[None]:
    """Raise a library's errors as what `translate` makes of them for the device `label`; others as they are."""
    try:
        yield
    except Exception as error:
        translation = translate(error, label)
        if translation is None:
            raise
        raise translation from error
