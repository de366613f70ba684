"""Reads what a VCF or BCF says of the genotypes of its samples, as arrays of many records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.names import check_names
from pairhmm.map.cohort import site_key
from pairhmm.map.concordance import MIN_DEPTH, NO_GENOTYPE
from pairhmm.map.sample_fields import MISSING, SampleFields
from pairhmm.objects import short_repr
from pairhmm.variants.records import FIXED, RecordLines

# Bytes of sample columns that are turned into arrays at once.
_AT_ONCE = 1 << 20
_PASSED = (b"PASS", b".")
_MOST_PHRED, _MOST_COUNT = 255, 65535
# Phred likelihoods of a genotype that stands without reads and likelihoods: wrong once in a hundred.
_WRONG = 20
_GENOTYPES, _ALLELES = 3, 2
_CURE = "give a VCF or BCF with the fields AD, PL, GL or GT"


@dataclass(frozen=True, slots=True)
class GenotypeBlock:
    """Some records. Cells with reads of each allele have nothing else.

    Attributes
    ----------
    keys : list of str
        `pairhmm.map.cohort.site_key` of each record.
    counts : uint16 (records, samples, 2)
        Reads of each allele (AD); 0 where the file does not say.
    phred : uint8 (records, samples, 3)
        Likelihoods (PL, GL, or by GT), the best 0; 0 throughout where nothing is known.
    called : int8 (records, samples)
        GT; -1 for none, and with fewer reads than certain genotypes have.
    depth : int32 (records, samples)
        Reads (AD or DP); -1 where the file does not say.
    """

    keys: list[str]
    counts: NDArray[np.uint16]
    phred: NDArray[np.uint8]
    called: NDArray[np.int8]
    depth: NDArray[np.int32]

    __repr__ = short_repr

    def take(self, rows: list[int]) -> GenotypeBlock:
        """Some of the records."""
        keys = [self.keys[row] for row in rows]
        return GenotypeBlock(keys, self.counts[rows], self.phred[rows], self.called[rows], self.depth[rows])


class GenotypeFile:
    """A VCF or BCF; an iterator over blocks of its biallelic autosomal SNVs that pass their filters.

    Parameters
    ----------
    path : str
    wanted : callable
        ``wanted(key)`` says whether a record is taken.

    Attributes
    ----------
    samples : tuple of str

    Raises
    ------
    InputError
        For a file that can't be read, is no VCF, or has no samples.
    """

    def __init__(self, path: str, wanted: Callable[[str], bool]) -> None:
        self.path, self._wanted = path, wanted
        self._lines = RecordLines(path, _CURE)
        self.samples = self._lines.samples()
        if not self.samples:
            raise InputError(path, "", "has no samples", _CURE)
        check_names(path, "sample", self.samples, "rename it (bcftools reheader)")
        if len(set(self.samples)) < len(self.samples):
            raise InputError(path, "", "names a sample twice", "rename one (bcftools reheader)")

    def __iter__(self) -> Iterator[GenotypeBlock]:
        held = _HeldRecords(self.path, len(self.samples))
        for fields in self._lines:
            if fields[6] not in _PASSED or len(fields) <= FIXED:
                continue
            key = record_key(fields)
            if not key or not self._wanted(key):
                continue
            if held.is_full or not held.fits(fields[8]):
                yield held.block()
            held.add(key, fields[8], fields[9])
        if held.keys:
            yield held.block()


def record_key(fields: list[bytes]) -> str:
    """`pairhmm.map.cohort.site_key` of a record's columns."""
    chrom, ref, alt = (fields[place].decode("utf-8", "replace") for place in (0, 3, 4))
    return site_key(chrom, int(fields[1]), ref.upper(), alt.upper())


class _HeldRecords:
    """Records of one FORMAT, until they are a block."""

    def __init__(self, path: str, samples: int) -> None:
        self._path, self._samples = path, samples
        self.keys: list[str] = []
        self._texts: list[bytes] = []
        self._format = b""
        self._size = 0

    @property
    def is_full(self) -> bool:
        return self._size >= _AT_ONCE

    def fits(self, form: bytes) -> bool:
        return not self.keys or form == self._format

    def add(self, key: str, form: bytes, columns: bytes) -> None:
        self._format = form
        self.keys.append(key)
        self._texts.append(columns)
        self._size += len(columns)

    def block(self) -> GenotypeBlock:
        """What is held, as arrays. Nothing is held afterwards."""
        for key, text in zip(self.keys, self._texts, strict=True):
            found = text.count(b"\t") + 1
            if found != self._samples:
                rule = f"{found} samples where the header has {self._samples}"
                raise InputError(self._path, key, rule, "the file may be cut off or damaged")
        fields, names = SampleFields(b"\t".join(self._texts)), self._format.split(b":")
        cells = fields.columns
        counts, phred = np.zeros((cells, _ALLELES), np.uint16), np.zeros((cells, _GENOTYPES), np.uint8)
        called, depth = np.full(cells, NO_GENOTYPE, np.int8), np.full(cells, MISSING, np.int32)
        if b"DP" in names:
            depth[:] = fields.numbers(names.index(b"DP"), 1)[:, 0]
        if b"AD" in names:
            of_alleles = fields.numbers(names.index(b"AD"), _ALLELES)
            counts[:] = np.clip(of_alleles, 0, _MOST_COUNT)
            depth = np.where(of_alleles[:, 0] == MISSING, MISSING, of_alleles.sum(axis=1)).astype(np.int32)
        else:
            phred = _likelihoods(fields, names)
            if b"GT" in names:
                called = fields.genotypes(names.index(b"GT"))
                called[(depth != MISSING) & (depth < MIN_DEPTH)] = NO_GENOTYPE
        shape = len(self.keys), self._samples
        block = GenotypeBlock(
            self.keys,
            counts.reshape(*shape, _ALLELES),
            phred.reshape(*shape, _GENOTYPES),
            called.reshape(shape),
            depth.reshape(shape),
        )
        self.keys, self._texts, self._size = [], [], 0
        return block


def _likelihoods(fields: SampleFields, names: list[bytes]) -> NDArray[np.uint8]:
    """Phred likelihoods of the genotypes: from PL, else GL, else GT."""
    if b"PL" in names:
        values = fields.numbers(names.index(b"PL"), _GENOTYPES)
    elif b"GL" in names:
        values = np.rint(np.nan_to_num(-10 * fields.logs(names.index(b"GL"), _GENOTYPES), nan=0.0)).astype(np.int64)
    elif b"GT" in names:
        genotypes = fields.genotypes(names.index(b"GT")).astype(np.int64)
        values = np.where(np.arange(_GENOTYPES) == genotypes[:, None], 0, _WRONG)
        values[genotypes == MISSING] = 0
    else:
        values = np.zeros((fields.columns, _GENOTYPES), dtype=np.int64)
    values -= values.min(axis=1, keepdims=True)
    return np.minimum(values, _MOST_PHRED).astype(np.uint8)
