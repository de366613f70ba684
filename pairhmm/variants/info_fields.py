"""Fields of INFO as text: chosen ones, or what an annotation says of a variant's gene and consequence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pysam

from pairhmm.errors import InputError

ANNOTATIONS = ("ANN", "CSQ")
"""INFO fields of annotations: that of SnpEff and others, and that of VEP."""

_GENE, _CONSEQUENCE = ("gene_name", "symbol", "gene"), ("annotation", "consequence")
_PARTS_OF_ANN = ("allele", "annotation", "annotation_impact", "gene_name", "gene_id")
"""The first parts of ANN (Variant annotations in VCF format, version 1.0), for headers that do not name them."""

MISSING = "."


@dataclass(frozen=True, slots=True)
class InfoField:
    """A column of text that is read from INFO.

    `name`: the column's name. `key`: ID of the field. `part`: the part of an annotation, from 0; None for the whole
    field.
    """

    name: str
    key: str
    part: int | None = None

    def of(self, record: pysam.VariantRecord) -> str:
        """The text of a record; `MISSING` without one."""
        value = record.info.get(self.key)
        if value is None:
            return MISSING
        if self.part is None:
            many = value if isinstance(value, tuple) else (value,)
            return ",".join(MISSING if one is None else _text(one) for one in many)
        # Programs list the most severe annotation first.
        first = str(value[0] if isinstance(value, tuple) else value).split(",", 1)[0]
        parts = first.split("|")
        return (parts[self.part] if self.part < len(parts) else "") or MISSING


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "yes" if value is True else str(value)


def info_fields(header: pysam.VariantHeader, path: str, chosen: Sequence[str]) -> list[InfoField]:
    """The columns of INFO: the chosen fields, or else gene and consequence of the first of `ANNOTATIONS` there is.

    Raises InputError for a chosen field that the header does not have.
    """
    for key in chosen:
        if key not in header.info:
            known = ", ".join(list(header.info)[:12]) or "none"
            raise InputError(path, f"INFO {key}", "is not in its header", f"choose among its fields: {known}")
    if chosen:
        return [InfoField(key, key) for key in dict.fromkeys(chosen)]
    for key in ANNOTATIONS:
        if key in header.info:
            parts = _parts(key, str(header.info[key].description or ""))
            named = (("Gene", _GENE), ("Consequence", _CONSEQUENCE))
            found = [(name, next((part for part in wanted if part in parts), None)) for name, wanted in named]
            return [InfoField(name, key, parts.index(part)) for name, part in found if part is not None]
    return []


def _parts(key: str, description: str) -> list[str]:
    """The names of an annotation's parts, from the description in the header: a list with bars behind a colon."""
    found = re.search(r"[\w .'/]+(?:\|[\w .'/]+)+", description)
    if found is None:
        return list(_PARTS_OF_ANN) if key == ANNOTATIONS[0] else []
    return [part.strip(" '").lower() for part in found[0].split("|")]
