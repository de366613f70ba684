"""Chemistry of a run, by its metadata: direct RNA is refused, and a table of levels for another pore is warned of."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping

from pairhmm.errors import InputError
from pairhmm.files.names import decoded
from pairhmm.warp.signal_records import SignalRecord

log = logging.getLogger(__name__)

_RUN_KEYS = ("experiment_type", "sequencing_kit", "flow_cell_product_code", "exp_script_name", "protocol_name")
"""Keys of a run that name its chemistry, as MinKNOW writes them to SLOW5, BLOW5 and POD5."""

# Direct RNA: "rna" and "internal_rna", "sqk-rna002", "FLO-MIN004RA", and a table for "rna_r9.4_70bps"; not "cdna".
_RNA = re.compile(r"(?<![a-z])rna|flo-[a-z]+004ra", re.IGNORECASE)
_PORE = re.compile(r"(?<![a-z0-9])r(9|10)(?![0-9])", re.IGNORECASE)
# Flow cells, such as "FLO-MIN106", and the kits that have a pore of their own.
_PORES = (
    (re.compile(r"flo-(?:min10[67]|pro002|flg001)", re.IGNORECASE), "R9"),
    (re.compile(r"flo-[a-z]+11[1-4]|sqk-[a-z]+114", re.IGNORECASE), "R10"),
)
NO_RNA = "its current runs from the 3' end, which warp does not support (docs/warp.md)"


def direct_rna(run: Mapping[str, str]) -> str:
    """The metadata that marks a run as direct RNA, such as ``sequencing_kit sqk-rna004``; empty for other runs."""
    said = ((key, run.get(key, "")) for key in _RUN_KEYS)
    return next((f"{key} {value}" for key, value in said if _RNA.search(value)), "")


def pore_of_run(run: Mapping[str, str]) -> str:
    """``R9`` or ``R10``, by a run's flow cell and kit; empty if they imply none, or both."""
    said = " ".join(run.get(key, "") for key in _RUN_KEYS)
    pores = [pore for codes, pore in _PORES if codes.search(said)]
    return pores[0] if len(pores) == 1 else ""


def pore_of_table(path: str, comments: Iterable[str]) -> str:
    """``R9`` or ``R10``, by the comments of a table of levels; empty if they imply none, or both.

    Raises InputError for a table of direct RNA.
    """
    text = " ".join(comments)
    if _RNA.search(text):
        raise InputError(path, "", f"holds levels of direct RNA: {NO_RNA}", "give the table of the pore for DNA")
    pores = {f"R{pore}" for pore in _PORE.findall(text)}
    return pores.pop() if len(pores) == 1 else ""


class Chemistry:
    """Compares the runs of reads with the table of levels: refuses direct RNA, and warns once of another pore.

    The table's pore is empty if it is not known.
    """

    def __init__(self, pore: str) -> None:
        self._pore = pore
        self._checked: Mapping[str, str] | None = None
        self._is_told = False

    def check(self, path: str, signal: SignalRecord) -> None:
        """Check a read's run. Raises InputError for direct RNA."""
        if signal.run is self._checked:
            return
        self._checked = signal.run
        kit = direct_rna(signal.run)
        if kit:
            rule = f"is of direct RNA ({kit}): {NO_RNA}"
            raise InputError(path, f"read {signal.name}", rule, "give reads of DNA or cDNA")
        pore = pore_of_run(signal.run)
        if pore and self._pore and pore != self._pore and not self._is_told:
            self._is_told = True
            log.warning("%s: reads of pore %s, and a table of levels of pore %s", decoded(path), pore, self._pore)
