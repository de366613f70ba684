"""The header of a VCF: lines of contigs, and the provenance of a run and of its joined shards."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import pairhmm
from pairhmm.errors import InputError

_FIRST = r"0-9A-Za-z!$%&+./:;?@^_|~\-"
# Those of the specification (VCF 4.3, section 1.4.7; SAM, section 1.2.1), but for a # at the beginning, which makes the
# record a comment.
_NAME = re.compile(rf"[{_FIRST}][{_FIRST}#*=]*")


def check_contigs(path: str, names: Iterable[str]) -> None:
    """Require names of contigs that VCF and BCF can hold.

    Raises InputError for the first name that they can't hold.

    `path`: the file that names them, for the message.
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


# The version of the format does not describe the piece, so the first file's is kept.
_PLAIN = re.compile(r"##(?!fileformat=)([^=]+)=([^<].*)")
_COMMAND, _DATE = "pairhmmCommand", "fileDate"


def provenance_of(arguments: Sequence[str]) -> dict[str, str]:
    """Lines ``##key=value`` of VCF: date, version and command."""
    return {
        _DATE: f"{date.today():%Y%m%d}",
        "source": f"pairhmm {pairhmm.__version__}",
        "pairhmmVersion": pairhmm.__version__,
        _COMMAND: shlex.join(arguments),
    }


def run_header(headers: Sequence[Sequence[str]]) -> list[str]:
    """The header of all pieces: that of the first one, with the plain lines (``##key=value``) of all.

    Only the last date is kept. Commands are joined into one, with ``{first,...,last}`` for each word that differs.
    Other keys, such as the backend, have a line for each value.

    `headers`: the header lines of each piece, in order.
    """
    values: dict[str, dict[str, None]] = {}
    for line in (line for header in headers for line in header):
        if plain := _PLAIN.fullmatch(line):
            values.setdefault(plain[1], {})[plain[2]] = None
    lines: dict[str, None] = {}
    for line in headers[0]:
        plain = _PLAIN.fullmatch(line)
        found = [f"##{plain[1]}={value}" for value in _joined(plain[1], [*values[plain[1]]])] if plain else [line]
        lines.update(dict.fromkeys(found))
    return list(lines)


def _joined(key: str, values: list[str]) -> list[str]:
    if key == _DATE:
        return [max(values)]
    return _one_command(values) if key == _COMMAND else values


def _one_command(commands: list[str]) -> list[str]:
    """The commands joined into one; all of them, unchanged, if their numbers of words differ."""
    words = [_words(command) for command in commands]
    if len({len(own) for own in words}) > 1:
        return commands
    return [" ".join(_one_word(list(dict.fromkeys(own))) for own in zip(*words, strict=True))]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        # Older versions of pairhmm wrote commands without quotes.
        return command.split()


def _one_word(words: list[str]) -> str:
    quoted = [shlex.quote(word) for word in words]
    if len(words) == 1:
        return quoted[0]
    return f"{{{','.join(quoted if len(words) == 2 else [quoted[0], '...', quoted[-1]])}}}"
