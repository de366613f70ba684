"""Families among the samples of a run, and who samples are from: PED files, and the columns of a sample sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.variants.genealogy import Genealogy, Parents


@dataclass(frozen=True, slots=True)
class SampleFamily:
    """Two parents and their children, as indices of samples."""

    father: int
    mother: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pedigree:
    """Who the parents of samples are.

    Attributes
    ----------
    parents : mapping of str to (str, str)
        Father and mother of each child; empty where not known.
    name : str
        Where it is from, for messages.
    """

    parents: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    name: str = "the pedigree"

    def families(self, samples: Sequence[str]) -> tuple[list[SampleFamily], list[str]]:
        """The families whose parents and children are among the samples, and the children of those that are left out.

        Families may share members, as those of three generations do, but may close no loop: there the later family is
        left out.

        Examples
        --------
        >>> Pedigree({"child": ("father", "mother")}).families(["child", "father", "mother"])
        ([SampleFamily(father=1, mother=2, children=(0,))], [])
        """
        index = {name: number for number, name in enumerate(samples)}
        of_parents: dict[tuple[int, int], list[int]] = {}
        for child, both in self.parents.items():
            if child in index and all(parent in index for parent in both):
                of_parents.setdefault((index[both[0]], index[both[1]]), []).append(index[child])
        head = list(range(len(samples)))
        families, left_out = [], []
        for (father, mother), children in of_parents.items():
            members = (father, mother, *children)
            heads = {_head_of(head, member) for member in members}
            if len(heads) < len(members):
                left_out += [samples[child] for child in children]
                continue
            families.append(SampleFamily(father, mother, tuple(children)))
            for one in heads:
                head[one] = min(heads)
        return families, left_out


def _head_of(head: list[int], member: int) -> int:
    """The first member of those that families connect with this one."""
    while head[member] != member:
        member = head[member]
    return member


_UNKNOWN = ("", "0", ".", "-9")
_COLUMNS = 6


def read_genealogy(sheet: str | None, pedigree: str | None, samples: Sequence[str]) -> Genealogy:
    """Who samples are from, by a sample sheet, a PED file or both.

    A sample that the sheet does not name an individual for is an individual of its own name, as all are without a
    sheet. `samples` are compared; individuals that are not among them count as relatives.

    Raises InputError for a file that can't be used, for lines that contradict each other, and where no sample is named.
    """
    individuals: dict[str, str] = {}
    parents: dict[str, Parents] = {}
    if sheet is not None:
        from pairhmm.files.sample_sheet import read_sheet

        for row in read_sheet(sheet):
            individuals[row.sample] = row.individual or row.sample
            if row.father or row.mother:
                _add(parents, sheet, row.place, individuals[row.sample], (row.father, row.mother))
        _require_known(sheet, individuals, samples)
    if pedigree is not None:
        named = _read_ped(pedigree, parents)
        if sheet is None:
            individuals = {name: name for name in samples if name in named}
            _require_known(pedigree, individuals, samples)
    return Genealogy(individuals, parents)


def read_pedigree(path: str) -> Pedigree:
    """The parents that a PED file names.

    Raises InputError for a file that can't be used, for lines that contradict each other, and where no individual has
    parents.
    """
    parents: dict[str, Parents] = {}
    _read_ped(path, parents)
    if not parents:
        raise InputError(path, "", "names no parents", "write family, individual, father, mother, sex, phenotype")
    return Pedigree(parents, path)


def _read_ped(path: str, parents: dict[str, Parents]) -> set[str]:
    """Add the parents of a PED file (family, individual, father, mother, sex, phenotype). Returns its individuals."""
    named = set()
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split("\t") if line.count("\t") >= _COLUMNS - 1 else line.split()
        if len(cells) < _COLUMNS:
            rule = f"{len(cells)} columns, a PED file has {_COLUMNS}"
            raise InputError(path, f"line {number}", rule, "write family, individual, father, mother, sex, phenotype")
        individual, *above = (cell.strip() for cell in cells[1:4])
        father, mother = ("" if name in _UNKNOWN else name for name in above)
        named.add(individual)
        if father or mother:
            _add(parents, path, f"line {number}", individual, (father, mother))
    if not named:
        raise InputError(path, "", "names no individual", "write family, individual, father, mother, sex, phenotype")
    return named


def _add(parents: dict[str, Parents], path: str, place: str, individual: str, both: Parents) -> None:
    if individual in both or (both[0] == both[1] and both[0]):
        raise InputError(
            path, place, f"{individual} can't have the parents {both[0]!r} and {both[1]!r}", "correct them"
        )
    before = parents.setdefault(individual, both)
    if before != both:
        rule = f"{individual} has the parents {before[0] or '?'} and {before[1] or '?'} elsewhere"
        raise InputError(path, place, rule, "give all samples of an individual the same parents")


def _require_known(path: str, individuals: dict[str, str], samples: Sequence[str]) -> None:
    if not any(name in individuals for name in samples):
        rule = f"names none of the samples, such as {samples[0]}"
        raise InputError(path, "", rule, "use the names of the samples in the inputs")
