"""What is tried: one run of a command over files that were made for it, and what must not come of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

Seeds = Mapping[str, bytes]

OUT = "out"
"""The folder, beside the files, that a case's outputs go to."""
REFERENCE = ("ref.fa", "ref.fa.fai")
CPU = ("--backend", "cpu")
_DESCRIPTION = "case.json"


@dataclass(frozen=True)
class Case:
    """One input.

    A saved case is a folder with its files and `case.json`. What `case.json` lists as "shared" lies beside the folder
    instead: files that several cases have.

    Attributes
    ----------
    target : str
        Name of what made it (targets.py, bindings.py).
    arguments : list of str
        Of the command line; files are named as they stand in `files`, outputs lie in `OUT`.
    files : dict of str to bytes
    must_fail : str
        Why exit code 0 would be wrong: a checksum or an end marker that is broken. Empty where it may be right.
    stdin : str
        The file that is given as stdin.
    same_records : str
        A VCF of `files`, whose records are those that the output must have if there is one.
    """

    target: str
    arguments: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    must_fail: str = ""
    stdin: str = ""
    same_records: str = ""

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    def save(self, folder: Path) -> None:
        """Write the files and what was done with them, as `load` takes it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.write(folder)
        described = {key: value for key, value in asdict(self).items() if key != "files" and value}
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in described.items())
        (folder / _DESCRIPTION).write_text("{" + ",\n ".join(lines) + "}\n")

    @classmethod
    def load(cls, folder: Path) -> Case:
        """A case that was saved."""
        described = json.loads((folder / _DESCRIPTION).read_text())
        paths = [path for path in folder.iterdir() if path.name != _DESCRIPTION]
        paths += [folder.parent / name for name in described.pop("shared", [])]
        return cls(
            files={path.name: path.read_bytes() for path in sorted(paths, key=lambda path: path.name)}, **described
        )

    @staticmethod
    def folders(parent: Path) -> list[Path]:
        """The folders below `parent` with saved cases, itself included."""
        return sorted(path.parent for path in parent.rglob(_DESCRIPTION))


def take(seeds: Seeds, *names: str) -> dict[str, bytes]:
    """Some of the sound files."""
    return {name: seeds[name] for name in names}
