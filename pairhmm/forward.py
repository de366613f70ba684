"""`forward`: sequences in, scores out. The pair-HMM itself, without genomes or alignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm import engine
from pairhmm.batch import PairBatch, Profiles, Qualities, Read, joined, offsets
from pairhmm.engine import Choice
from pairhmm.errors import InputError
from pairhmm.io.ahead import read_ahead
from pairhmm.io.destinations import check_apart
from pairhmm.io.outputs import open_binary_output
from pairhmm.io.pair_batches import read_batches
from pairhmm.io.records import SequenceRecord, read_profiles, read_sequences
from pairhmm.io.score_lines import HEADER, score_lines
from pairhmm.models import gatk
from pairhmm.models.profile import ProfileModel, check_profile, one_hot
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
    scores = engine.forward(_batch(reads, haplotypes, model), backend, threads)
    return scores.log10.reshape(len(reads), len(haplotypes))


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
    """Pairs that are scored together, and their names in the table: numbers where they have none."""

    batch: PairBatch
    first_group: int = 0
    read_names: list[str] | None = None
    haplotype_names: list[str] | None = None


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
    check_apart([reads, haplotypes], [("-o", output)])
    pairs = 0
    with closing(read_ahead(_blocks(str(reads), haplotypes, model, options, default_base_quality, threads))) as blocks:
        # Unusable input shows before the first line of output.
        first = list(islice(blocks, 1))
        chosen = engine.choose(backend, cells=sum(block.batch.cells for block in first))
        with open_binary_output(output) as table:
            table.write(HEADER)
            for block in chain(first, blocks):
                scores = engine.forward(block.batch, chosen, threads)
                names = (block.read_names, block.haplotype_names)
                table.writelines(score_lines(block.batch, scores, block.first_group, *names, threads))
                pairs += block.batch.pairs
    return pairs


def _batch(reads: Sequence[ModelRead], haplotypes: Sequence[Haplotype], model: ProfileModel | None) -> PairBatch:
    codes = [encode(haplotype) if isinstance(haplotype, str) else haplotype for haplotype in haplotypes]
    lengths = [len(read.bases) if isinstance(read, Read) else len(read) for read in reads]
    qualities: Qualities | None = None
    profiles: Profiles | None = None
    if model is None:
        fields = Qualities.__dataclass_fields__
        qualities = Qualities(*(joined([getattr(read, name) for read in reads]) for name in fields))
    else:
        probabilities = [np.asarray(read, dtype=np.float64) for read in reads]
        for each in probabilities:
            check_profile(each)
        profiles = model.profiles(np.concatenate(probabilities))
    return PairBatch(
        group_read=offsets([len(reads)]),
        group_haplotype=offsets([len(codes)]),
        read_offset=offsets(lengths),
        haplotype_offset=offsets([len(haplotype) for haplotype in codes]),
        haplotypes=joined(codes),
        start=gatk.START if model is None else model.start,
        qualities=qualities,
        profiles=profiles,
    )


def _blocks(
    reads: str,
    haplotypes: str | Path | None,
    model: ProfileModel | None,
    options: gatk.GatkOptions,
    default_base_quality: int | None,
    threads: int,
) -> Iterator[_Block]:
    if reads.endswith(".in"):
        if haplotypes is not None or model is not None:
            raise InputError(reads, "", "a .in file holds GATK reads and their haplotypes", "give it alone")
        groups = 0
        for batch in read_batches(reads, threads):
            yield _Block(batch, groups)
            groups += batch.groups
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
        batch = _batch([read for _, read in block], codes, model)
        yield _Block(batch, read_names=[name for name, _ in block], haplotype_names=names)


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
