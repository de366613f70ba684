"""Errors that a user can fix. Each is one line: the place, the rule, and the cure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class PairhmmError(Exception):
    """Base of every error that pairhmm raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would make the error again from its message alone, which is not what the classes below take.
        return _remade, (type(self), self.args), self.__dict__


def _remade(kind: type[PairhmmError], arguments: tuple[Any, ...]) -> PairhmmError:
    """An error that comes from another process."""
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    return error


ARGUMENTS = {
    "-f": "reference",
    "-o": "output",
    "-r": "regions",
    "-R": "regions_file",
    "--contamination": "contamination",
    "--default-base-quality": "default_base_quality",
    "--device": "devices",
    "--duplicates": "duplicates",
    "--families": "families",
    "--gvcf": "gvcf",
    "--haplotypes": "haplotypes",
    "--individuals": "individuals",
    "--no-cap-by-mapq": "cap_by_mapping_quality=False",
    "--no-indel-tags": "indel_tags=False",
    "--ploidy-file": "rules",
    "--sample-ploidy": "of_sample",
    "--sample-sex": "sex_of",
    "--samples": "samples",
    "--str-model": "str_model",
    "--swaps": "swaps",
}
"""What Python calls the options that messages name."""

_OPTION = re.compile(r"(?<!\S)(?:(?<=with )-[fR]|(?<=another )-o|-r|--[a-z-]+)(?![\w-])")


class InputError(PairhmmError):
    """A file or an argument can't be used. As text, the message has Python's names of options.

    Parameters
    ----------
    path : str
        The file, or the option.
    record : str
        Line, read, contig or key in it; may be empty.
    rule : str
        What is wrong.
    cure : str
        What the user can do.
    """

    def __init__(self, path: str, record: str, rule: str, cure: str) -> None:
        self.path, self.record, self.rule, self.cure = str(path), str(record), rule, cure
        place = ": ".join(part for part in (self.path, self.record) if part)
        told = "; ".join(part for part in (rule, cure) if part)
        super().__init__(f"{place}: {told}" if place else told)

    @property
    def of_command_line(self) -> str:
        """The message with the options of the command line."""
        return str(self.args[0])

    def __str__(self) -> str:
        return _OPTION.sub(lambda option: ARGUMENTS.get(option[0], option[0]), self.of_command_line)


class OptionError(InputError, ValueError):
    """An option has a value that is not allowed.

    Parameters
    ----------
    name : str
        Name of the option.
    value : object
    rule : str
        What is wrong with the value.
    """

    def __init__(self, name: str, value: object, rule: str) -> None:
        super().__init__("", "", f"{name}={value!r} {rule}", "")


@contextmanager
def parsing(path: str, rule: str, cure: str) -> Iterator[None]:
    """Turn whatever a parser raises about the content of a file into an `InputError`.

    A damaged file reaches places that the authors of a parser did not think of, so that any exception may come of it.
    Errors of the system, a lack of memory, and errors that pairhmm raises stay as they are.

    `path`, `rule` and `cure` are as for `InputError`. What the parser says follows the rule.
    """
    try:
        yield
    except (PairhmmError, OSError, MemoryError):
        raise
    except Exception as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise InputError(path, "", f"{rule} ({what})", cure) from error


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
    """Something needs the compiled part of the package, which is missing.

    `what`: what needs it. `reason`: why it is missing. `cure`: how to get it.
    """

    def __init__(self, what: str, reason: str, cure: str) -> None:
        super().__init__("cpu", f"needs pairhmm's compiled part, {reason}", cure)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what} {self.reason}; {self.cure}"


class OutOfDeviceMemory(PairhmmError):
    """A batch does not fit a device's memory; a smaller one may.

    `fits_later`: whether the same batch may fit in a second call: buffers of earlier calls were in its way, and the
    first call gives them back.
    """

    fits_later = False


class DeviceLost(PairhmmError):
    """A device does not answer this process any more.

    `device`: the device's label. `cause`: what the device's library reported.
    """

    def __init__(self, device: str, cause: str) -> None:
        self.device, self.cause = device, cause
        super().__init__(f"{device}: lost: {cause}")


@contextmanager
def starting_as(missing: Callable[[str], BackendUnavailable], label: str) -> Iterator[None]:
    """Turn a lack of memory or a loss while device `label` starts into the error that `missing` makes of the reason."""
    try:
        yield
    except (OutOfDeviceMemory, DeviceLost) as error:
        cause = error.cause if isinstance(error, DeviceLost) else str(error).removeprefix(f"{label}: ")
        raise missing(f"{label} does not start: {cause}") from error


@contextmanager
def raised_as(translate: Callable[[Exception, str], PairhmmError | None], label: str) -> Iterator[None]:
    """Turn a library's errors into those that `translate` makes of them for device `label`. Others stay as they are."""
    try:
        yield
    except Exception as error:
        translation = translate(error, label)
        if translation is None:
            raise
        raise translation from error
