"""Outputs whose format follows the name: a name of another format is an error, not text in disguise."""

from __future__ import annotations

from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.io.files.outputs import is_device
from pairhmm.io.files.standard_streams import STDOUT

TEXT_TABLE = (".tsv",)
TABIX_INDICES = (".tbi", ".csi")
"""Suffixes of the indices of bgzipped tables and VCF: one of them is made, and the other may be an earlier run's."""
MULTIQC_ENDING = "_mqc.json"
"""What MultiQC finds custom content by."""


def require_ending(destination: str | Path, what: str, endings: tuple[str, ...]) -> None:
    """Require that an output's name ends in one of `endings`, or has no ending; stdout and devices are none.

    Parameters
    ----------
    destination : path
    what : str
        What is written, in the plural.
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
