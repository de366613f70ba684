"""Rules for names of sequences in formats of alignments. FASTA and FASTQ allow any name without white space."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pairhmm.align.sequence_blocks import PairBlock
from pairhmm.errors import InputError

# QNAME and reference names of the SAM specification (sections 1.2.1 and 1.4). Names of contigs in VCF are the latter.
_QNAME = re.compile(r"[!-?A-~]{1,254}")
_RNAME = re.compile(r"[0-9A-Za-z!#$%&+./:;?@^_|~-][0-9A-Za-z!#$%&*+./:;=?@^_|~-]*")
_NONE = "*"
"""The placeholder of SAM and PAF for a missing name."""

NameRule = Callable[[str], str]
"""Why the format can't hold a name; empty if it can."""


def sam_query(name: str) -> str:
    """The rule of QNAME in SAM and BAM; no name is written as ``*``."""
    if name == _NONE:
        return "SAM reads this name as none"
    if name and not _QNAME.fullmatch(name):
        return "a name of a query in SAM has at most 254 characters, of ASCII, and no @"
    return ""


def reference_name(name: str) -> str:
    """The rule of reference names in SAM, and of contigs in VCF."""
    if _RNAME.fullmatch(name):
        return ""
    return "a name of a sequence in SAM and VCF does not begin with * or =, and has no \\ , \" ' ` ( ) [ ] { } < >"


def paf_target(name: str) -> str:
    """PAF writes ``*`` for a query that is found nowhere."""
    return "PAF reads this name as none" if name == _NONE else ""


def table_query(name: str) -> str:
    """The first column of a table, where ``#`` begins a line that is no row."""
    return "a row that begins with # is a comment in a table" if name.startswith("#") else ""


def check_each(path: str, names: Iterable[str], rule: NameRule, cure: str, first: int = 1) -> None:
    """Require that a format can hold the names of records, which are numbered from `first`.

    Raises InputError for the first name that it can't hold.
    """
    for number, name in enumerate(names, start=first):
        problem = rule(name)
        if problem:
            shown = name if len(name) <= 60 else f"{name[:60]}..."
            raise InputError(path, f"record {number} ({shown})", problem, cure)


@dataclass(frozen=True, slots=True)
class NameRules:
    """The rules of a format. None holds every name."""

    query: NameRule | None
    target: NameRule | None
    cure: str

    def checked(self, blocks: Iterable[PairBlock], queries: str, targets: str) -> Iterator[PairBlock]:
        """The blocks of two files, each of which is checked before it is given; errors as in `check_each`."""
        first_query, known = 1, None
        for block in blocks:
            if self.query is not None:
                check_each(queries, block.queries.names, self.query, self.cure, first_query)
            first_query += len(block.queries)
            if self.target is not None and block.targets is not known:
                known = block.targets
                check_each(targets, known.names, self.target, self.cure, block.first_target + 1)
            yield block


TABLE_NAMES = NameRules(table_query, None, "rename it, or write PAF")
PAF_NAMES = NameRules(None, paf_target, "rename it, or write TSV")
RECORD_NAMES = NameRules(sam_query, reference_name, "rename it, or write TSV or PAF")
