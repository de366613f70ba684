"""Makes files that belong together in a scratch folder, and moves them to their folder once all are whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDOUT, is_device
from pairhmm.files.outputs import check_writable, is_abandoned, lock, output_errors, put_in_place

_SCRATCH = ".pairhmm-"


def check_new(paths: Sequence[str | Path | None], overwrite: bool) -> None:
    """Require that no file exists yet, unless files may be overwritten.

    Raises InputError for the first file that exists.
    """
    for path in () if overwrite else paths:
        if path is not None and str(path) != STDOUT and os.path.lexists(path) and not is_device(path):
            raise InputError(str(path), "", "is there already", "choose another -o, or write over it with --force")


@contextmanager
def whole_folder(folder: str | Path, names: Sequence[str], overwrite: bool) -> Iterator[Path]:
    """A scratch folder. Its files are moved to `folder` when the block ends well; else nothing is left or changed.

    What a killed process left in the folder is removed too.

    Raises InputError where the folder can't be written, and for files that exist without `overwrite` or are read-only.

    Parameters
    ----------
    folder : path
        Made when missing, and removed again where the block fails.
    names : sequence of str
        The files that will be made.
    overwrite : bool
        Whether existing files of these names are replaced.
    """
    target = Path(folder)
    check_new([target / name for name in names], overwrite)
    missing = [path for path in (target, *target.parents) if not path.exists()]
    new = [name for name in names if not os.path.lexists(target / name)]
    moved = set[str]()
    # The names are set before the folders are made: a signal may arrive right after the making.
    scratch, locked = target / f"{_SCRATCH}{os.urandom(4).hex()}", None
    # Another run that cleans up takes a folder without a lock for abandoned: it gets its name once it is locked.
    unlocked = scratch.with_name(f".{scratch.name}")
    try:
        with output_errors(target, scratch, unlocked):
            _make(target)
            for name in names:
                check_writable(target / name)
            _remove_abandoned(target)
            unlocked.mkdir()
            locked = _locked(unlocked)
            unlocked.rename(scratch)
            yield scratch
            for name in names:
                moved.add(name)
                put_in_place(scratch / name, Path(os.path.realpath(target / name)))
    except BaseException:
        for folder in (unlocked, scratch):
            shutil.rmtree(folder, ignore_errors=True)
        for name in moved.intersection(new):
            (target / name).unlink(missing_ok=True)
        for path in missing:
            # A folder stays if something else has been put into it meanwhile.
            with suppress(OSError):
                path.rmdir()
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if locked is not None:
            os.close(locked)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            str(folder), "", f"cannot be written ({error.strerror or error})", "choose another -o"
        ) from error


def _locked(folder: Path) -> int:
    """Descriptor of the folder, locked as in use for as long as this process lives."""
    descriptor = os.open(folder, os.O_RDONLY)
    lock(descriptor)
    return descriptor


def _remove_abandoned(folder: Path) -> None:
    """Remove the scratch folders whose writers are gone."""
    for path in folder.glob(f"{_SCRATCH}*"):
        if path.is_dir() and is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
