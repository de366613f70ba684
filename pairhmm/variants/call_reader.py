"""Reads calls: the records of a VCF or BCF, with the fields of all samples."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from math import isfinite

import pysam

from pairhmm.errors import InputError
from pairhmm.files.bgzf import check_end
from pairhmm.files.htslib import UNREADABLE, quiet
from pairhmm.files.inputs import has_byte_order_mark, opening
from pairhmm.files.pipes import unmixed
from pairhmm.variants.info_fields import InfoField, info_fields
from pairhmm.variants.records import open_variants
from pairhmm.variants.sites import ReportedSite, SampleCall

_OF_PROGRAMS = ("Version", "Command", "Backend", "Model")
_PROVENANCE = ("fileDate", "source", "reference", "Version", "Command", "Backend", "commandline", "CommandLine")


class CalledSites:
    """An open VCF or BCF; a context manager and an iterator over its records.

    Raises InputError for a file that can't be read, is no VCF, lacks a chosen field of INFO, or has a record that can't
    be read.

    Parameters
    ----------
    info : sequence of str
        The fields of INFO that are read. Without them, the gene and the consequence of `ANNOTATIONS`, where the file
        has one.

    Attributes
    ----------
    info : list of str
        Names of each record's `info`.
    contigs : dict of str to (int or None)
        Contigs of the header, with their lengths where it has them.
    provenance : list of (str, str)
        Header lines that say what made the file.
    has_fractions : bool
        Whether samples are mixtures, of which each allele has a fraction and its interval.
    """

    def __init__(self, path: str, info: Sequence[str] = ()) -> None:
        self.path = path
        opening(path)
        # This also reports why a file can't be opened, which the system explains better than htslib.
        check_end(path)
        # htslib would also complain of missing contig lines, which nothing here needs.
        self._quiet = ExitStack()
        self._quiet.enter_context(quiet())
        try:
            self._file = open_variants(self._quiet.enter_context(unmixed(path)))
        except UNREADABLE as error:
            self._quiet.close()
            if has_byte_order_mark(path):
                cure = f"run tail -c +4 {shlex.quote(path)} > plain.vcf"
                raise InputError(path, "", "begins with a byte order mark", cure) from error
            raise InputError(path, "", "not a VCF or BCF file", "give calls as VCF or BCF") from error
        header = self._file.header
        try:
            self.samples = list(header.samples)
            self.contigs = {str(name): contig.length for name, contig in header.contigs.items()}
            self.has_fractions = "CIAF" in header.formats
            self.provenance = [
                (record.key, record.value)
                for record in header.records
                if record.key and record.value and (record.key in _PROVENANCE or record.key.endswith(_OF_PROGRAMS))
            ]
            self._is_of_bcftools = any(key == "bcftools_callVersion" for key, _ in self.provenance)
            self._info = info_fields(header, path, info)
        # pysam raises AssertionError for numbers in a header that do not fit each other.
        except (AssertionError, ValueError) as error:
            self.close()
            raise InputError(path, "", "its header can't be read", "the file may be damaged") from error
        except InputError:
            self.close()
            raise
        self.info = [field.name for field in self._info]

    def __iter__(self) -> Iterator[ReportedSite]:
        place = ""
        try:
            for record in self._file:
                place = f"{record.chrom}:{record.pos}"
                # htslib drops the samples of a record that it can't parse. A BCF may have more samples than its header.
                if len(record.samples) != len(self.samples):
                    raise InputError(self.path, place, "can't be read", "the file may be cut off or damaged")
                yield _site(record, self._info, self._is_of_bcftools)
        except (OSError, ValueError, NotImplementedError) as error:
            where = f"after {place}" if place else "its first record"
            cure = "the file may be cut off or damaged" + ("" if place else ", or have spaces in place of tabs")
            raise InputError(self.path, where, "can't be read", cure) from error

    def close(self) -> None:
        """Close the file."""
        # After a failed read, closing fails as well, and its error would hide the first one.
        with suppress(*UNREADABLE):
            self._file.close()
        self._quiet.close()

    def __enter__(self) -> CalledSites:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


def _site(record: pysam.VariantRecord, info: Sequence[InfoField], is_of_bcftools: bool) -> ReportedSite:
    calls = tuple(_call(sample, is_of_bcftools) for sample in record.samples.values())
    alts = tuple(alt for alt in record.alts or () if alt)
    filters = ";".join(map(str, record.filter.keys())) or "."
    # A number beyond the range of a float counts as missing.
    quality = record.qual if record.qual is not None and math.isfinite(record.qual) else None
    chosen = tuple(field.of(record) for field in info)
    return ReportedSite(
        record.chrom, record.start, record.ref or "", alts, record.id or "", quality, filters, calls, chosen
    )


def _call(sample: pysam.VariantRecordSample, is_of_bcftools: bool) -> SampleCall:
    is_absent = _is_absent(sample, is_of_bcftools)
    return SampleCall(
        tuple(sample.get("GT") or ()),
        bool(sample.phased),
        _numbers(sample.get("AD")),
        None if is_absent else _number(sample.get("DP")),
        _number(sample.get("GQ")),
        _numbers(sample.get("PL")),
        str(phase_set) if (phase_set := sample.get("PS")) is not None else "",
        _fractions(sample.get("AF")),
        _fractions(sample.get("CIAF")),
        is_absent,
    )


def _is_absent(sample: pysam.VariantRecordSample, is_of_bcftools: bool) -> bool:
    """Whether a sample has ploidy 0: no depth. That of bcftools has the depth of other places, but no likelihoods."""
    field = "PL" if is_of_bcftools else "DP"
    return sample.get("GT") == (None,) and field in sample and sample[field] in (None, (None,))


def _number(value: object) -> int | None:
    """A field's number; None if the header declares the field as text or as a list."""
    return int(value) if isinstance(value, int | float) and isfinite(value) else None


def _numbers(values: object) -> tuple[int, ...]:
    """A field's numbers; empty if one is missing, or if the header declares another type."""
    numbers = [_number(value) for value in values] if isinstance(values, tuple) else []
    known = tuple(number for number in numbers if number is not None)
    return known if len(known) == len(numbers) else ()


def _fractions(values: object) -> tuple[float, ...]:
    """A field's numbers from 0 to 1, as the file writes them; empty if one is missing or is none."""
    given = values if isinstance(values, tuple) else (values,)
    # pysam reads floats of 32 bits: 0.7 would be less than 0.7.
    known = tuple(float(f"{value:.6g}") for value in given if isinstance(value, float) and 0 <= value <= 1)
    return known if len(known) == len(given) else ()
