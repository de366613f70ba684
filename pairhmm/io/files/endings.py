"""Checks the endings of output names, which choose the format. An ending of another format is an error."""

from __future__ import annotations

from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.io.files.outputs import is_device
from pairhmm.io.files.standard_streams import STDOUT

TEXT_TABLE = (".tsv",)
TABIX_INDICES = (".tbi", ".csi")
"""Suffixes of the indices of bgzipped tables and VCF. A run makes one; an earlier run may have left the other."""
MULTIQC_ENDING = "_mqc.json"
"""The ending by which MultiQC recognises files of custom content."""


def require_ending(destination: str | Path, what: str, endings: tuple[str, ...]) -> None:
    """Require that an output's name has one of the `endings` or none at all. Stdout and devices are not checked.

    Parameters
    ----------
    destination : path
    what : str
        What is written, in the plural, for the message.
    endings : tuple of str

    Raises
    ------
    InputError
        For any other ending.
    """
    name = Path(destination).name
    if str(destination) == STDOUT or is_device(destination) or "." not in name.lstrip("."):
        return
    if not name.endswith(endings):
        told = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise InputError(str(destination), "", f"not a name for {what}", f"end it in {told}")
