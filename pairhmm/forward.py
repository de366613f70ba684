"""`forward`: sequences in, scores out. The pair-HMM itself, without genomes or alignments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm import engine
from pairhmm.batch import PRECISIONS, PairBatch, Qualities, Read, Scores, joined, offsets
from pairhmm.device_pool import DevicePool
from pairhmm.engine import Choice
from pairhmm.errors import InputError
from pairhmm.io.outputs import open_output
from pairhmm.io.pairs import read_in
from pairhmm.io.records import SequenceRecord, read_profiles, read_sequences
from pairhmm.models import gatk
from pairhmm.models.profile import ProfileModel, one_hot
from pairhmm.sequences import encode

Haplotype = str | NDArray[np.uint8]
"""Letters, or their codes."""

ModelRead = Read | NDArray[np.float64]
"""What GATK's model takes, or a profile float64[m, 4]."""

READS_PER_BLOCK = 4096
_DEFAULTS = gatk.GatkOptions()


def forward(
    reads: Sequence[Read] | Sequence[NDArray[np.float64]],
    haplotypes: Sequence[Haplotype],
    *,
    model: ProfileModel | None = None,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> NDArray[np.float64]:
    """log10 P(read | haplotype) of every read against every haplotype.

    Parameters
    ----------
    reads : sequence of Read, or of float64[m, 4]
        Reads with qualities for GATK's model (`make_read`); letter probabilities over A C G T for a profile model.
    haplotypes : sequence of str or uint8[n]
    model : ProfileModel, optional
        `pairhmm.models.profile.preset` or `read_parameters`; GATK's model without it.
    backend : str or Choice
        A backend's name, or "auto"; or that with its devices.
    threads : int

    Returns
    -------
    float64[reads, haplotypes]

    Raises
    ------
    ValueError
        For empty sequences, letters outside IUPAC, or probabilities that do not sum to 1.
    BackendUnavailable
        Where a named backend does not run here.
    """
    return _score(reads, haplotypes, model, backend, threads).log10.reshape(len(reads), len(haplotypes))


def make_read(
    bases: str,
    base_quality: Sequence[int] | NDArray[np.uint8],
    insertion_quality: Sequence[int] | NDArray[np.uint8] | int = gatk.DEFAULT_INDEL_QUALITY,
    deletion_quality: Sequence[int] | NDArray[np.uint8] | int = gatk.DEFAULT_INDEL_QUALITY,
    gap_quality: Sequence[int] | NDArray[np.uint8] | int = gatk.DEFAULT_GAP_QUALITY,
) -> Read:
    """A read for `forward` from its letters and Phred qualities; a single number stands for every position.

    Raises
    ------
    ValueError
        For letters outside IUPAC, or qualities that are not one a base.
    """
    codes = encode(bases)
    values = (base_quality, insertion_quality, deletion_quality, gap_quality)
    return Read(codes, *(np.broadcast_to(np.asarray(value, dtype=np.uint8), codes.shape) for value in values))


@dataclass(frozen=True, slots=True)
class _Block:
    """Named reads and haplotypes that are scored together."""

    group: int
    read_names: list[str]
    reads: Sequence[ModelRead]
    haplotype_names: list[str]
    haplotypes: Sequence[Haplotype]


def forward_files(
    reads: str | Path,
    haplotypes: str | Path | None,
    output: str | Path,
    *,
    model: ProfileModel | None = None,
    options: gatk.GatkOptions = _DEFAULTS,
    default_base_quality: int | None = None,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> int:
    """Score the reads of one file against the haplotypes of another, as a table.

    Parameters
    ----------
    reads : path
        FASTQ or FASTA (gzipped or not); a `.in` file, which brings its haplotypes; or, with `model`, a `.profile` file.
    haplotypes : path or None
        FASTA; None for a `.in` file.
    output : path
        TSV with the columns group, read, haplotype, log10_likelihood, precision; "-" is stdout.
    model : ProfileModel, optional
        GATK's model without it.
    options : GatkOptions
        Indel and gap qualities of reads without their own. Base qualities are used as they are.
    default_base_quality : int, optional
        Phred, for reads without qualities.
    backend : str or Choice
        A backend's name, or "auto"; or that with its devices.
    threads : int

    Returns
    -------
    int
        Pairs scored.

    Raises
    ------
    InputError
    """
    chosen = engine.choose(backend)
    blocks = _blocks(str(reads), haplotypes, model, options, default_base_quality)
    # Unusable input shows before the first line of output.
    first = list(islice(blocks, 1))
    pairs = 0
    with open_output(output) as table:
        table.write("group\tread\thaplotype\tlog10_likelihood\tprecision\n")
        for block in chain(first, blocks):
            scores = _score(block.reads, block.haplotypes, model, chosen, threads)
            table.writelines(_lines(block, scores))
            pairs += len(scores.log10)
    return pairs


def _score(
    reads: Sequence[ModelRead],
    haplotypes: Sequence[Haplotype],
    model: ProfileModel | None,
    backend: str | Choice | DevicePool,
    threads: int,
) -> Scores:
    codes = [encode(haplotype) if isinstance(haplotype, str) else haplotype for haplotype in haplotypes]
    lengths = [len(read.bases) if isinstance(read, Read) else len(read) for read in reads]
    qualities: Qualities | None = None
    rows: NDArray[np.float64] | None = None
    if model is None:
        fields = Qualities.__dataclass_fields__
        qualities = Qualities(*(joined([getattr(read, name) for read in reads]) for name in fields))
    else:
        rows = np.concatenate([model.rows(np.asarray(read, dtype=np.float64)) for read in reads])
    batch = PairBatch(
        group_read=offsets([len(reads)]),
        group_haplotype=offsets([len(codes)]),
        read_offset=offsets(lengths),
        haplotype_offset=offsets([len(haplotype) for haplotype in codes]),
        haplotypes=joined(codes),
        start=gatk.START if model is None else model.start,
        qualities=qualities,
        rows=rows,
    )
    return engine.forward(batch, backend, threads)


def _blocks(
    reads: str,
    haplotypes: str | Path | None,
    model: ProfileModel | None,
    options: gatk.GatkOptions,
    default_base_quality: int | None,
) -> Iterator[_Block]:
    if reads.endswith(".in"):
        if haplotypes is not None or model is not None:
            raise InputError(reads, "", "a .in file holds GATK reads and their haplotypes", "give it alone")
        for number, group in enumerate(read_in(reads)):
            read_names = [str(i) for i in range(len(group.reads))]
            haplotype_names = [str(i) for i in range(len(group.haplotypes))]
            yield _Block(number, read_names, group.reads, haplotype_names, group.haplotypes)
        return
    if haplotypes is None:
        raise InputError(
            reads, "", "there are no haplotypes to score against", "name a haplotype FASTA after the reads"
        )
    targets = list(read_sequences(haplotypes))
    if not targets:
        raise InputError(str(haplotypes), "", "no sequence in it", "give at least one haplotype")
    names = [target.name for target in targets]
    codes = [target.codes for target in targets]
    for block in _chunked(_read_records(reads, model, options, default_base_quality)):
        yield _Block(0, [name for name, _ in block], [read for _, read in block], names, codes)


def _read_records(
    path: str, model: ProfileModel | None, options: gatk.GatkOptions, default_base_quality: int | None
) -> Iterator[tuple[str, ModelRead]]:
    if path.endswith(".profile"):
        if model is None:
            raise InputError(path, "", "a profile needs the profile model", "add --model profile")
        yield from read_profiles(path)
        return
    for record in read_sequences(path):
        quality = _quality(path, record, default_base_quality)
        if model is not None:
            yield record.name, one_hot(record.codes, gatk.ERROR[quality])
        else:
            indel = (options.insertion_quality, options.deletion_quality, options.gap_quality)
            constant = (np.full(len(quality), value, dtype=np.uint8) for value in indel)
            yield record.name, Read(record.codes, quality, *constant)


def _quality(path: str, record: SequenceRecord, default: int | None) -> NDArray[np.uint8]:
    if record.quality is not None:
        return record.quality
    if default is None:
        raise InputError(path, record.name, "no base qualities", "give FASTQ, or set --default-base-quality")
    return np.full(len(record.codes), default, dtype=np.uint8)


def _chunked(
    records: Iterator[tuple[str, ModelRead]],
) -> Iterator[list[tuple[str, ModelRead]]]:
    while block := list(islice(records, READS_PER_BLOCK)):
        yield block


def _lines(block: _Block, scores: Scores) -> Iterable[str]:
    names = ((read, haplotype) for read in block.read_names for haplotype in block.haplotype_names)
    values = zip(names, scores.log10.tolist(), scores.precision.tolist(), strict=True)
    for (read, haplotype), score, precision in values:
        yield f"{block.group}\t{read}\t{haplotype}\t{score:.6f}\t{PRECISIONS[precision]}\n"
