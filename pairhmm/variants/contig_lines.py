"""Header lines of contigs. A name that VCF forbids makes a file that no program can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pairhmm.errors import InputError

_FIRST = r"0-9A-Za-z!$%&+./:;?@^_|~\-"
# Those of the specification (VCF 4.3, section 1.4.7; SAM, section 1.2.1), but for a # at the beginning, which makes the
# record a comment.
_NAME = re.compile(rf"[{_FIRST}][{_FIRST}#*=]*")


def check_contigs(path: str, names: Iterable[str]) -> None:
    """Require names of contigs that VCF and BCF can hold.

    Parameters
    ----------
    path : str
        The file that names them, for the message.
    names : iterable of str

    Raises
    ------
    InputError
        For the first name that they can't hold.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            wrong = next((letter for letter in name if not re.fullmatch(rf"[{_FIRST}#*=]", letter)), name[:1])
            where = " at the beginning" if wrong == name[:1] and wrong in "#*=" else ""
            rule = f"VCF allows no {wrong!r}{where} in the name of a contig"
            raise InputError(path, f"contig {name!r}", rule, "rename it in the reference and in the alignments")


def contig_lines(contigs: Mapping[str, int], path: str) -> list[str]:
    """The lines of contigs, by name and length; errors as from `check_contigs`."""
    check_contigs(path, contigs)
    return [f"##contig=<ID={name},length={length}>" for name, length in contigs.items()]
