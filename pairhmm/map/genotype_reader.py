"""Reads genotype fields and allele frequencies of a VCF or BCF as arrays, many records at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.names import check_names
from pairhmm.map.concordance import MIN_DEPTH, NO_GENOTYPE
from pairhmm.map.sites import site_key
from pairhmm.objects import short_repr
from pairhmm.variants.records import FIXED, RecordLines

MISSING = -1
_TAB, _COLON, _COMMA, _SLASH, _BAR, _ZERO = b"\t:,/|0"
_MOST_DIGITS = 9

Spans = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]


class SampleFields:
    """The sample columns of records that have the same FORMAT, separated by tabs."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._letters = np.frombuffer(text, dtype=np.uint8)
        ends = np.flatnonzero((self._letters == _TAB) | (self._letters == _COLON))
        self._starts = np.concatenate([[0], ends + 1])
        self._ends = np.concatenate([ends, [len(text)]])
        self._first = np.flatnonzero(np.concatenate([[True], self._letters[ends] == _TAB]))
        self._fields = np.diff(np.concatenate([self._first, [len(self._starts)]]))
        self._commas = np.flatnonzero(self._letters == _COMMA)
        self.columns = len(self._first)

    def _spans(self, field: int) -> Spans:
        """Whether each column has a field, and where it begins and ends."""
        has = self._fields > field
        at = np.where(has, self._first + field, 0)
        return has, self._starts[at], self._ends[at]

    def numbers(self, field: int, count: int) -> NDArray[np.int64]:
        """A field of whole numbers: int64 (columns, count), `MISSING` throughout a row that has not so many numbers."""
        has, start, end = self._spans(field)
        comma = np.searchsorted(self._commas, start)
        has = has & (np.searchsorted(self._commas, end) - comma == count - 1)
        result = np.empty((self.columns, count), dtype=np.int64)
        commas = np.append(self._commas, np.full(count, len(self._text)))
        for number in range(count):
            begin = start if number == 0 else commas[comma + number - 1] + 1
            stop = end if number == count - 1 else commas[comma + number]
            result[:, number] = self._whole(has, begin, stop)
        result[(result == MISSING).any(axis=1)] = MISSING
        return result

    def _whole(self, has: NDArray[np.bool_], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
        width = np.where(has, end - begin, 0)
        good = (width > 0) & (width <= _MOST_DIGITS)
        value = np.zeros(self.columns, dtype=np.int64)
        for place in range(int(width[good].max(initial=0))):
            inside = good & (place < width)
            digit = self._letters[np.where(inside, begin + place, 0)].astype(np.int64) - _ZERO
            good &= ~inside | ((digit >= 0) & (digit <= 9))
            value = np.where(inside, value * 10 + digit, value)
        return np.where(good, value, MISSING)

    def logs(self, field: int, count: int) -> NDArray[np.float64]:
        """A field of numbers with fractions: float64 (columns, count), NaN throughout a row that can't be read."""
        result = np.full((self.columns, count), np.nan)
        for row, (has, start, end) in enumerate(zip(*(part.tolist() for part in self._spans(field)), strict=True)):
            parts = self._text[start:end].split(b",") if has else []
            if len(parts) == count:
                try:
                    result[row] = [float(part) for part in parts]
                except ValueError:
                    continue
        return result

    def genotypes(self, field: int) -> NDArray[np.int8]:
        """Diploid genotypes of two alleles: int8 (columns,), copies of the second one; `MISSING` for any other text."""
        has, start, end = self._spans(field)
        has = has & (end - start == 3)
        first, between, second = (self._letters[np.where(has, start + place, 0)].astype(np.int64) for place in range(3))
        left, right = first - _ZERO, second - _ZERO
        good = has & ((between == _SLASH) | (between == _BAR)) & ((left | right) >> 1 == 0)
        return np.where(good, left + right, MISSING).astype(np.int8)


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
    """Some records. Cells with reads of each allele have nothing else."""

    keys: list[str]  # `pairhmm.map.sites.site_key` of each record
    counts: NDArray[np.uint16]  # (records, samples, 2) reads of each allele (AD); 0 where the file does not say
    # (records, samples, 3) likelihoods (PL, GL, or by GT), the best 0; 0 throughout where nothing is known
    phred: NDArray[np.uint8]
    called: NDArray[np.int8]  # GT; -1 for none, and with fewer reads than certain genotypes have
    depth: NDArray[np.int32]  # reads (AD or DP); -1 where the file does not say

    __repr__ = short_repr

    def take(self, rows: list[int]) -> GenotypeBlock:
        """Some of the records."""
        keys = [self.keys[row] for row in rows]
        return GenotypeBlock(keys, self.counts[rows], self.phred[rows], self.called[rows], self.depth[rows])


class GenotypeFile:
    """A VCF or BCF; an iterator over blocks of its biallelic autosomal SNVs that pass their filters and are wanted.

    Raises InputError for a file that can't be read, is no VCF, or has no samples.
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
        keys, texts, form, size = list[str](), list[bytes](), b"", 0
        for fields in self._lines:
            if fields[6] not in _PASSED or len(fields) <= FIXED:
                continue
            key = record_key(fields)
            if not key or not self._wanted(key):
                continue
            if keys and (size >= _AT_ONCE or fields[8] != form):
                yield self._block(keys, texts, form)
                keys, texts, size = [], [], 0
            form = fields[8]
            keys.append(key)
            texts.append(fields[9])
            size += len(fields[9])
        if keys:
            yield self._block(keys, texts, form)

    def _block(self, keys: list[str], texts: list[bytes], form: bytes) -> GenotypeBlock:
        """Records of one FORMAT as arrays."""
        for key, text in zip(keys, texts, strict=True):
            samples = text.count(b"\t") + 1
            if samples != len(self.samples):
                rule = f"{samples} samples where the header has {len(self.samples)}"
                raise InputError(self.path, key, rule, "the file may be cut off or damaged")
        fields, names = SampleFields(b"\t".join(texts)), form.split(b":")
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
        shape = len(keys), len(self.samples)
        return GenotypeBlock(
            keys,
            counts.reshape(*shape, _ALLELES),
            phred.reshape(*shape, _GENOTYPES),
            called.reshape(shape),
            depth.reshape(shape),
        )


def record_key(fields: list[bytes]) -> str:
    """`pairhmm.map.sites.site_key` of a record's columns."""
    chrom, ref, alt = (fields[place].decode("utf-8", "replace") for place in (0, 3, 4))
    return site_key(chrom, int(fields[1]), ref.upper(), alt.upper())


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


_FREQUENCY = re.compile(rb"(?:^|;)AF=([^;,]+)(?:;|$)")
_FREQUENCY_CURE = "give a VCF with AF in INFO (bcftools +fill-tags -- -t AF)"


def read_frequencies(path: str, keys: Sequence[str]) -> NDArray[np.float64]:
    """The frequency of the alternative allele at each site (AF in INFO); NaN where the file lacks it.

    Raises InputError for a file that can't be read, an AF that is no frequency, and where no site is in the file.
    """
    place = {key: number for number, key in enumerate(keys)}
    frequencies = np.full(len(keys), np.nan)
    for fields in RecordLines(path, _FREQUENCY_CURE):
        number = place.get(record_key(fields))
        value = _FREQUENCY.search(fields[7]) if number is not None else None
        if value is not None:
            frequencies[number] = _frequency(path, keys[number or 0], value[1])
    if np.isnan(frequencies).all():
        raise InputError(path, "", "has no frequency for any site of the samples", _FREQUENCY_CURE)
    return frequencies


def _frequency(path: str, key: str, text: bytes) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise InputError(path, key, f"AF={text.decode('utf-8', 'replace')} is not a frequency", _FREQUENCY_CURE)
    return value
