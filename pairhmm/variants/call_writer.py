"""Writes calls: genotypes as VCF, bgzipped VCF or BCF, with an index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pysam
import pysam.bcftools

from pairhmm.files.bgzip import LONGEST_FOR_TBI, BgzipText
from pairhmm.files.formats import TABIX_INDICES, require_ending
from pairhmm.files.names import printable
from pairhmm.files.outputs import TextSink, has_companions, open_output, output_errors, scratch_beside, whole_files
from pairhmm.native import native
from pairhmm.variants.genotypes import MAX_GQ, RecordOptions, SampleGenotype, SiteStatistics
from pairhmm.variants.header import contig_lines
from pairhmm.variants.variant import Variant

if TYPE_CHECKING:
    from pairhmm._cpu import RecordFormat

CALL_ENDINGS = (".vcf", ".vcf.gz", ".bcf")
VCF_COLUMNS = ("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
"""The columns that every VCF has; FORMAT and the samples follow."""

_COUNT_FIELDS = (
    '##INFO=<ID=AC,Number=A,Type=Integer,Description="Copies of each alternate allele in the genotypes">',
    '##INFO=<ID=AF,Number=A,Type=Float,Description="Share of each alternate allele in the genotypes">',
    '##INFO=<ID=AN,Number=1,Type=Integer,Description="Alleles in the genotypes">',
)
_MEAN_FIELDS = (
    '##INFO=<ID=AF,Number=A,Type=Float,Description="Mean fraction of each alternate allele in the samples">',
)
_DEPTH_FIELD = '##INFO=<ID=DP,Number=1,Type=Integer,Description="Reads used, over all samples">'
_ALLELE_FIELDS = (
    '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Informative reads of each allele">',
    '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Reads used, both mates of a pair counted">',
)
_GENOTYPE_FIELDS = (
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
    *_ALLELE_FIELDS,
    '##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Phred-scaled probability that the genotype is wrong">',
    '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Phred-scaled genotype likelihoods, the best is 0">',
    '##FORMAT=<ID=PS,Number=1,Type=Integer,Description="Phase set: POS of its first record">',
)
_FRACTION_FIELDS = (
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="Alleles that are present; with a phase set, those of its'
    ' haplotypes, the most frequent first">',
    *_ALLELE_FIELDS,
    '##FORMAT=<ID=AF,Number=A,Type=Float,Description="Fraction of each alternate allele">',
    '##FORMAT=<ID=CIAF,Number=.,Type=Float,Description="95% interval of each fraction: low and high of each alternate'
    ' allele">',
    '##FORMAT=<ID=PS,Number=1,Type=Integer,Description="Phase set: POS of its first record">',
)
_STRAND_FIELD = (
    '##FORMAT=<ID=SB,Number=4,Type=Integer,Description="Informative reads by strand: reference forward and reverse,'
    ' alternate forward and reverse">'
)


def record_format(min_quality: float, records: RecordOptions) -> RecordFormat:
    """What makes records as text (cpu/calling/records.hpp); `min_quality` is that of `open_calls`."""
    limits = records.min_qd, records.max_fs, records.max_sor, records.min_rms_mapq
    return native.RecordFormat(min_quality, records.gvcf, *limits)


class CallWriter:
    """Writes records as text; `open_calls` makes one."""

    def __init__(self, out: TextSink, min_quality: float, records: RecordOptions) -> None:
        self._out, self._format = out, record_format(min_quality, records)

    def write(
        self,
        variant: Variant,
        quality: float,
        samples: Sequence[SampleGenotype],
        statistics: SiteStatistics | None = None,
    ) -> None:
        """Append a record.

        `quality`: QUAL, Phred. `samples`: in the header's order. `statistics`: for INFO.
        """
        self._out.write(self._format.line(variant, quality, samples, statistics))

    def append(self, lines: str) -> None:
        """Append lines of records."""
        self._out.write(lines)


@contextmanager
def open_calls(
    destination: str | Path,
    contigs: Mapping[str, int],
    samples: Sequence[str],
    *,
    min_quality: float,
    reference: str,
    provenance: Mapping[str, str],
    records: RecordOptions | None = None,
    mixture: bool = False,
) -> Iterator[CallWriter]:
    """Open a writer, of the format of the destination's extension. The files appear when the block ends well.

    ``.vcf.gz`` comes with a .tbi (.csi for long contigs), ``.bcf`` with a .csi; ``-`` is VCF to stdout.

    Parameters
    ----------
    contigs : mapping of str to int
        Lengths.
    min_quality : float
        QUAL below which a record is LowQual. Where every genotype is the reference, the lowest GQ is compared with it.
    reference : str
        Name of the FASTA that the reads are aligned to.
    provenance : mapping of str to str
        Header lines ``##key=value``; empty for reproducible bytes.
    records : RecordOptions, optional
        Filters, and whether the file is a gVCF.
    mixture : bool
        Whether samples are mixtures, which have fractions.
    """
    chosen = records or RecordOptions()
    header = _header(contigs, samples, min_quality, reference, provenance, chosen, mixture)
    with open_vcf(destination, header, max(contigs.values(), default=0)) as out:
        yield CallWriter(out, min_quality, chosen)


@contextmanager
def open_vcf(destination: str | Path, header: str, longest: int) -> Iterator[TextSink]:
    """Open a file for VCF text, of the format of the destination's extension, as `open_calls` does.

    Raises InputError for a name with another extension, and where the destination can't be written.

    `header`: written first. `longest`: length of the longest contig.
    """
    path = str(destination)
    require_ending(path, "calls", CALL_ENDINGS)
    if path.endswith(".vcf.gz"):
        with whole_files(path, *TABIX_INDICES) as scratch:
            with output_errors(path):
                with BgzipText(scratch) as zipped:
                    zipped.write(header)
                    yield zipped
                if has_companions(scratch):
                    pysam.tabix_index(str(scratch), preset="vcf", force=True, csi=longest > LONGEST_FOR_TBI)
    elif path.endswith(".bcf"):
        with whole_files(path, *TABIX_INDICES) as scratch, scratch_beside(scratch) as text:
            with output_errors(path):
                with open(text, "w", encoding="utf-8") as out:
                    out.write(header)
                    yield out
                _to_bcf(text, scratch)
    else:
        with open_output(path) as out:
            out.write(header)
            yield out


def _header(
    contigs: Mapping[str, int],
    samples: Sequence[str],
    min_quality: float,
    reference: str,
    provenance: Mapping[str, str],
    records: RecordOptions,
    mixture: bool,
) -> str:
    rule = f"QUAL is below {min_quality:g}"
    if not mixture:
        rule += f"; where every genotype is the reference, the lowest GQ is below {min(min_quality, MAX_GQ):g}"
    lines = [
        "##fileformat=VCFv4.3",
        *(f"##{key}={printable(value)}" for key, value in provenance.items()),
        f"##reference={printable(reference)}",
        '##FILTER=<ID=PASS,Description="All filters passed">',
        f'##FILTER=<ID=LowQual,Description="{rule}">',
        *filter_lines(records, mixture),
        *(gvcf_lines(records.gq_bands) if records.gvcf else ()),
        *contig_lines(contigs, reference),
        *field_lines(mixture),
        "\t".join([*VCF_COLUMNS, "FORMAT", *samples]),
    ]
    return "\n".join(lines) + "\n"


def field_lines(mixture: bool = False) -> Iterator[str]:
    """The header lines of the fields that every file has, or every one of mixtures."""
    yield from _MEAN_FIELDS if mixture else _COUNT_FIELDS
    yield _DEPTH_FIELD
    for name, text in native.info_fields():
        yield f'##INFO=<ID={name},Number=1,Type=Float,Description="{text}">'
    yield from _FRACTION_FIELDS if mixture else _GENOTYPE_FIELDS
    yield _STRAND_FIELD


def gvcf_lines(limits: Sequence[int]) -> Iterator[str]:
    """The header lines that only a gVCF has. `limits`: GQ from which on each further band begins."""
    for first, last in pairwise([0, *limits, MAX_GQ + 1]):
        yield f"##GVCFBlock{first}-{last}=minGQ={first}(inclusive),maxGQ={last}(exclusive)"
    yield '##ALT=<ID=NON_REF,Description="Any allele that is not the reference and not among those of the record">'
    yield '##INFO=<ID=END,Number=1,Type=Integer,Description="Last position of the block">'
    yield (
        '##INFO=<ID=RAW_MQandDP,Number=2,Type=Integer,Description="Sum of the squares of the mapping qualities, and the'
        ' number of reads that have one">'
    )
    yield '##FORMAT=<ID=MIN_DP,Number=1,Type=Integer,Description="Lowest DP of the block">'


def filter_lines(records: RecordOptions, mixture: bool) -> Iterator[str]:
    """The header lines of the filters that are on."""
    bias = [
        f"{name} is above {limit:g}"
        for name, limit in (("FS", records.max_fs), ("SOR", records.max_sor))
        if limit is not None
    ]
    if mixture:
        bias.insert(0, "errors of one strand explain the reads better than the allele")
    rules = {
        "LowQD": "" if records.min_qd is None else f"QD is below {records.min_qd:g}",
        "StrandBias": " or ".join(bias),
        "LowMQ": "" if records.min_rms_mapq is None else f"MQ is below {records.min_rms_mapq:g}",
    }
    if mixture:
        rules["LateCycle"] = "errors that grow with the cycle explain the reads better than the allele"
        rules["ReadEnd"] = "errors at ends of reads explain the reads better than the allele"
    for name, rule in rules.items():
        if rule:
            yield f'##FILTER=<ID={name},Description="{rule}">'


def _to_bcf(text: Path, destination: Path) -> None:
    try:
        # Paths go as bytes, since a name may not be UTF-8.
        bcf, vcf = os.fsencode(destination), os.fsencode(text)
        pysam.bcftools.view("--no-version", "-Ob", "-o", bcf, vcf, catch_stdout=False)  # type: ignore[arg-type]
        if has_companions(destination):
            pysam.tabix_index(str(destination), preset="bcf", force=True)  # type: ignore[arg-type]
    except pysam.utils.SamtoolsError as error:
        raise OSError("can't be written as BCF: the disk may be full") from error
