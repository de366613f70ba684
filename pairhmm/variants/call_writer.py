"""Writes calls: genotypes as VCF, bgzipped VCF or BCF, with an index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pysam
import pysam.bcftools

from pairhmm.files.bgzip import LONGEST_FOR_TBI, BgzipText
from pairhmm.files.formats import TABIX_INDICES, require_ending
from pairhmm.files.names import printable
from pairhmm.files.outputs import TextSink, has_companions, open_output, output_errors, scratch_beside, whole_files
from pairhmm.native import native
from pairhmm.variants.genotypes import MANY_UNFIT, MAX_GQ, RecordOptions, SampleGenotype, SiteStatistics
from pairhmm.variants.gvcf import NON_REF, gvcf_header
from pairhmm.variants.header import contig_lines
from pairhmm.variants.variant import SPANNED, Variant

PASS, LOW_QUALITY, LOW_QD, STRAND_BIAS, LOW_MQ = "PASS", "LowQual", "LowQD", "StrandBias", "LowMQ"

CALL_ENDINGS = (".vcf", ".vcf.gz", ".bcf")
VCF_COLUMNS = ("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
"""The columns that every VCF has; FORMAT and the samples follow."""

_COUNT_FIELDS = (
    '##INFO=<ID=AC,Number=A,Type=Integer,Description="Copies of each alternate allele in the genotypes">',
    '##INFO=<ID=AF,Number=A,Type=Float,Description="Share of each alternate allele in the genotypes">',
    '##INFO=<ID=AN,Number=1,Type=Integer,Description="Alleles in the genotypes">',
    '##INFO=<ID=DP,Number=1,Type=Integer,Description="Reads used, over all samples">',
)
_NO_FIT = f"Share of the reads over the site that fit no haplotype, where it is {MANY_UNFIT:g} or more"
_BY_DEPTH = "QUAL divided by the depth of the samples with the variant"
_FORMAT_FIELDS = (
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
    '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Informative reads of each allele">',
    '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Reads used, both mates of a pair counted">',
    '##FORMAT=<ID=GQ,Number=1,Type=Integer,Description="Phred-scaled probability that the genotype is wrong">',
    '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Phred-scaled genotype likelihoods, the best is 0">',
    '##FORMAT=<ID=PS,Number=1,Type=Integer,Description="Phase set: POS of its first record">',
    '##FORMAT=<ID=SB,Number=4,Type=Integer,Description="Informative reads by strand: reference forward and reverse,'
    ' alternate forward and reverse">',
)


@dataclass(frozen=True, slots=True)
class CallFormat:
    """Makes records as text.

    `min_quality`: as `open_calls` takes it.
    """

    min_quality: float
    records: RecordOptions = field(default_factory=RecordOptions)

    def line(
        self,
        variant: Variant,
        quality: float,
        samples: Sequence[SampleGenotype],
        statistics: SiteStatistics | None = None,
    ) -> str:
        """A record, as a line of VCF.

        `quality`: QUAL, Phred. `samples`: in the header's order. `statistics`: for INFO.
        """
        has_phase = any(sample.phased is not None for sample in samples)
        is_gvcf = self.records.gvcf
        columns = "\t".join([_sample_column(sample, has_phase, is_gvcf) for sample in samples])
        alts = (*variant.alts, NON_REF) if is_gvcf else variant.alts
        return (
            f"{variant.chrom}\t{variant.pos + 1}\t{variant.id or '.'}\t{variant.ref}\t{','.join(alts)}\t"
            f"{quality:.2f}\t{self._filter(variant, quality, samples, statistics)}\t"
            f"{_info(len(alts), quality, samples, statistics)}\t"
            f"GT:AD:DP:GQ:PL{':PS' if has_phase else ''}:SB\t{columns}\n"
        )

    def _filter(
        self,
        variant: Variant,
        quality: float,
        samples: Sequence[SampleGenotype],
        statistics: SiteStatistics | None,
    ) -> str:
        """FILTER of a record: the names of all filters that it does not pass."""
        options, failed = self.records, []
        if not self._is_sure(variant, quality, samples):
            failed.append(LOW_QUALITY)
        if options.min_qd is not None and _exceeds(options.min_qd, _quality_by_depth(quality, samples)):
            failed.append(LOW_QD)
        if statistics is not None:
            known = statistics.annotations
            if _exceeds(known["FS"], options.max_fs) or _exceeds(known["SOR"], options.max_sor):
                failed.append(STRAND_BIAS)
            if _exceeds(options.min_mq, known["MQ"]):
                failed.append(LOW_MQ)
        return ";".join(failed) or PASS

    def _is_sure(self, variant: Variant, quality: float, samples: Sequence[SampleGenotype]) -> bool:
        """Whether QUAL suffices for a variant, and the lowest GQ where no genotype has one of the site."""
        alleles = (variant.ref, *variant.alts)
        called = [sample for sample in samples if sample.alleles is not None]
        carried = {alleles[allele] for sample in called for allele in sample.alleles or ()}
        if called and carried <= {variant.ref, SPANNED}:
            return min(sample.quality for sample in called) >= min(self.min_quality, MAX_GQ)
        return quality >= self.min_quality


def _exceeds(value: float | None, limit: float | None) -> bool:
    """Whether one value is larger than another, where both are known."""
    return value is not None and limit is not None and value > limit


def _quality_by_depth(quality: float, samples: Sequence[SampleGenotype]) -> float | None:
    """QD; None where no genotype has an alternate allele."""
    depth = sum([_informative(sample) for sample in samples if sample.alleles and any(sample.alleles)])
    return quality / depth if depth else None


def _info(n_alts: int, quality: float, samples: Sequence[SampleGenotype], statistics: SiteStatistics | None) -> str:
    """INFO of a record: what is not known is left out."""
    called = [allele for sample in samples for allele in sample.alleles or ()]
    copies = [called.count(allele) for allele in range(1, n_alts + 1)]
    shares = [f"{count / len(called):.6g}" if called else "." for count in copies]
    text = (
        f"AC={','.join(map(str, copies))};AF={','.join(shares)};AN={len(called)}"
        f";DP={sum([sample.depth for sample in samples])}"
    )
    values = {"QD": _quality_by_depth(quality, samples)}
    if statistics is not None:
        values |= statistics.annotations
        if statistics.unfit >= MANY_UNFIT:
            values["NOFIT"] = statistics.unfit
    for name, decimals, _ in _site_fields():
        value = values.get(name)
        if value is not None:
            text += f";{name}={value:.{decimals}f}"
    return text


@cache
def _site_fields() -> list[tuple[str, int, str]]:
    """ID, decimals and description of the INFO fields behind the counts, in the order of a record."""
    return sorted([*native.site_annotations(), ("NOFIT", 3, _NO_FIT), ("QD", 2, _BY_DEPTH)])


def _informative(sample: SampleGenotype) -> int:
    """The reads of a sample that QUAL stands on: the informative ones, or all where none is."""
    return sum(sample.depths) or sample.depth


def _sample_column(sample: SampleGenotype, has_phase: bool, is_gvcf: bool) -> str:
    likelihoods = sample.with_others if is_gvcf else sample.likelihoods
    sure, phred = ".", "."
    if sample.alleles is not None:
        sure, phred = str(sample.quality), ",".join(map(str, likelihoods)) or "."
    phase = f":{'.' if sample.phase_set is None else sample.phase_set + 1}" if has_phase else ""
    depths, strands = ",".join(map(str, sample.depths)), ",".join(map(str, sample.strands))
    others = ",0" if is_gvcf else ""
    return f"{sample.genotype}:{depths}{others}:{sample.depth}:{sure}:{phred}{phase}:{strands}"


class CallWriter:
    """Writes records as text; `open_calls` makes one."""

    def __init__(self, out: TextSink, min_quality: float, records: RecordOptions) -> None:
        self._out, self._format = out, CallFormat(min_quality, records)

    def write(
        self,
        variant: Variant,
        quality: float,
        samples: Sequence[SampleGenotype],
        statistics: SiteStatistics | None = None,
    ) -> None:
        """Append a record; the parameters are those of `CallFormat.line`."""
        self._out.write(self._format.line(variant, quality, samples, statistics))

    def append(self, lines: str) -> None:
        """Append lines that a `CallFormat` made."""
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
    """
    chosen = records or RecordOptions()
    header = _header(contigs, samples, min_quality, reference, provenance, chosen)
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
) -> str:
    rule = (
        f"QUAL is below {min_quality:g}; where every genotype is the reference, the lowest GQ is below"
        f" {min(min_quality, MAX_GQ):g}"
    )
    lines = [
        "##fileformat=VCFv4.3",
        *(f"##{key}={printable(value)}" for key, value in provenance.items()),
        f"##reference={printable(reference)}",
        '##FILTER=<ID=PASS,Description="All filters passed">',
        f'##FILTER=<ID={LOW_QUALITY},Description="{rule}">',
        *_filters(records),
        *(gvcf_header(records.gq_bands) if records.gvcf else ()),
        *contig_lines(contigs, reference),
        *_COUNT_FIELDS,
        *(f'##INFO=<ID={name},Number=1,Type=Float,Description="{text}">' for name, _, text in _site_fields()),
        *_FORMAT_FIELDS,
        "\t".join([*VCF_COLUMNS, "FORMAT", *samples]),
    ]
    return "\n".join(lines) + "\n"


def _filters(records: RecordOptions) -> Iterator[str]:
    """The header lines of the filters that are on."""
    bias = [("FS", records.max_fs), ("SOR", records.max_sor)]
    rules = {
        LOW_QD: "" if records.min_qd is None else f"QD is below {records.min_qd:g}",
        STRAND_BIAS: " or ".join(f"{name} is above {limit:g}" for name, limit in bias if limit is not None),
        LOW_MQ: "" if records.min_mq is None else f"MQ is below {records.min_mq:g}",
    }
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
