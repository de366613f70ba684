"""Reads properties of samples as tokens: sketches, hits, genotypes, and columns of a sample sheet."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import numpy as np

from pairhmm.errors import InputError
from pairhmm.files.hit_table import file_label, read_hits
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.map.sketch.files import open_collection
from pairhmm.map.sketch.published import PRIME
from pairhmm.map.sketch.sketches import Scheme, Sketches, values_of
from pairhmm.map.tokens import TokenCollector, slot_tokens, token_of
from pairhmm.variants.call_reader import CalledSites

_FILES = ("alignments", "reads")
NO_PROPERTIES = ("sample", *_FILES)
"""Columns of a sample sheet that say who a sample is and where its files are."""

_AT_ONCE = 256
_MISSING = ("", ".")
_PASSED = ("PASS", ".")


def read_kmers(paths: Sequence[str], most: int) -> tuple[TokenCollector, Scheme, Sketches | None]:
    """The tokens of sketches, their scheme, and the sketches if there are at most `most` samples.

    Raises InputError as `pairhmm.map.sketch.files.read_sketches` does.
    """
    collector, parts = TokenCollector(), list[Sketches]()
    with open_collection(paths) as collection:
        scheme = collection.scheme
        for begin in range(0, len(collection), _AT_ONCE):
            part = collection.part(begin, min(begin + _AT_ONCE, len(collection)))
            for name, values in zip(part.names, values_of(part.planes), strict=True):
                is_empty = scheme.name == "published" and values[0] == PRIME
                collector.add_array(name, np.empty(0, np.uint32) if is_empty else slot_tokens(values))
            if len(collection) <= most:
                parts.append(part)
    return collector, scheme, Sketches.concatenate(parts) if parts else None


def read_hit_tokens(
    paths: Sequence[str], known: Collection[str] = (), cells: Mapping[str, Mapping[str, str]] | None = None
) -> TokenCollector:
    """The names of the signatures that a sample has, from tables of hits.

    A hit has the sample whose file in the sample sheet its reads come from. Without one, it has the sample that the
    table is named after, if the other inputs know that and not the file's; and else the sample of the file's name.

    `known` are samples of the other inputs, and `cells` are those of the sample sheet. Raises InputError as
    `read_hits`.
    """
    of_file = _samples_of_files(cells or {})

    def name(file: str, table: str) -> str:
        if file in of_file:
            return of_file[file]
        return table if table in known and file not in known else file

    collector, token = TokenCollector(), lru_cache(maxsize=1 << 16)(token_of)
    for path in paths:
        for hit in read_hits(path, name):
            collector.add(hit.sample, (token(hit.signature),))
    return collector


def _samples_of_files(cells: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The sample of each file of a sample sheet, by the file's label. An ambiguous label is left out."""
    samples: dict[str, str] = {}
    shared = set()
    for sample, columns in cells.items():
        files = (file.strip() for column in _FILES for file in columns.get(column, "").split(",") if file.strip())
        for label in map(file_label, files):
            if samples.setdefault(label, sample) != sample:
                shared.add(label)
    return {label: sample for label, sample in samples.items() if label not in shared}


def read_genotype_tokens(paths: Sequence[str]) -> TokenCollector:
    """The alleles that a sample has at each site, the reference allele among them, from records that pass filters.

    Raises InputError for files that can't be read, and a file without samples.
    """
    collector = TokenCollector()
    for path in paths:
        with CalledSites(path) as sites:
            if not sites.samples:
                raise InputError(path, "", "has no sample", "give calls with genotypes")
            for name in sites.samples:
                collector.name(name)
            for site in sites:
                if site.filters not in _PASSED:
                    continue
                head = f"{site.chrom}:{site.pos + 1}:{site.ref}:"
                tokens = [token_of(head + allele) for allele in (site.ref, *site.alts)]
                for name, call in zip(sites.samples, site.calls, strict=True):
                    collector.add(name, (tokens[allele] for allele in set(call.alleles) if allele is not None))
    return collector


def read_sheet_columns(path: str) -> tuple[list[str], dict[str, dict[str, str]]]:
    """The columns of a sample sheet, and the cells of each sample by column. Missing cells are empty.

    The first line names the columns, tab-separated, `sample` among them. Lines that are empty or begin with ``#`` are
    skipped. Raises InputError for a file that is no such table, and a sample that it names twice.
    """
    opening(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as lines:
            table = [(at, row) for at, row in enumerate(csv.reader(lines, delimiter="\t"), start=1) if any(row)]
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be read", "check the path") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, "", "can't be read as a table", "it is tab-separated text") from error
    rows = [(at, [cell.strip() for cell in row]) for at, row in table if not row[0].startswith("#")]
    columns = rows[0][1] if rows else []
    if "sample" not in columns or len(set(columns)) < len(columns):
        rule = "needs a first line that names its columns, each once, and sample among them"
        raise InputError(path, "", rule, "write one, tab-separated")
    cells: dict[str, dict[str, str]] = {}
    for at, row in rows[1:]:
        of_sample = dict(zip(columns, row, strict=False))
        name = of_sample.get("sample", "")
        if len(row) > len(columns):
            raise InputError(path, f"line {at}", f"{len(row)} cells for {len(columns)} columns", "remove some")
        if not name or name in cells:
            rule = f"names sample {name!r} twice" if name else "has no sample name"
            raise InputError(path, f"line {at}", rule, "name each sample once")
        check_names(path, f"line {at}: sample", [name], "choose another name")
        cells[name] = {column: "" if of_sample.get(column, "") in _MISSING else of_sample[column] for column in columns}
    return columns, cells


def sheet_tokens(cells: dict[str, dict[str, str]], columns: Sequence[str]) -> TokenCollector:
    """A token for each cell of these columns that is not empty: the column and its value."""
    collector = TokenCollector()
    for name, of_sample in cells.items():
        collector.add(name, (token_of(f"{column}={of_sample[column]}") for column in columns if of_sample[column]))
    return collector
