"""`forward`: sequences in, scores out. The pair-HMM itself, without genomes or alignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from pairhmm import engine
from pairhmm.engine import Choice
from pairhmm.errors import InputError
from pairhmm.genomics.arrays import joined, offsets
from pairhmm.genomics.qualities import PhredValues, phred
from pairhmm.genomics.sequences import Letters, codes_of, encode
from pairhmm.interface.arguments import AnyPath, path_of
from pairhmm.interface.options import check_whole
from pairhmm.io.files.ahead import read_ahead
from pairhmm.io.files.destinations import check_apart
from pairhmm.io.files.endings import TEXT_TABLE, require_ending
from pairhmm.io.files.outputs import open_binary_output
from pairhmm.io.pairs.batches import read_batches
from pairhmm.io.pairs.score_lines import HEADER, score_lines
from pairhmm.io.sequences.records import SequenceRecord, read_profiles, read_sequences
from pairhmm.models import gatk
from pairhmm.models.batch import QUALITY_NAMES, PairBatch, Profiles, Qualities, Read, joined_reads
from pairhmm.models.profile import ProfileModel, check_profile, one_hot

ModelRead = Read | NDArray[np.float64]
"""What GATK's model takes, or a profile float64[m, 4]."""

READS_PER_BLOCK = 4096
_DEFAULTS = gatk.GatkOptions()


def forward(
    reads: ModelRead | Sequence[Read] | Sequence[NDArray[np.float64]],
    haplotypes: Letters | Sequence[Letters],
    *,
    model: ProfileModel | None = None,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> NDArray[np.float64]:
    """log10 P(read | haplotype) of every read against every haplotype.

    Parameters
    ----------
    reads : Read, float64[m, 4], or a sequence of either
        Reads with qualities for GATK's model (`make_read`); letter probabilities over A C G T for a profile model.
    haplotypes : str, bytes, uint8[n], or a sequence of them
        Letters or their codes; a string is one haplotype.
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
        For empty sequences, letters outside IUPAC, qualities that are not one a base, or probabilities that do not sum
        to 1.
    TypeError
        For reads of another model.
    BackendUnavailable
        Where a named backend does not run here.
    """
    check_whole("threads", threads, 1)
    batch = pack(reads, haplotypes, model)
    scores = engine.forward(batch, backend, threads)
    return scores.log10.reshape(batch.reads, len(batch.haplotype_offset) - 1)


def pack(
    reads: ModelRead | Sequence[Read] | Sequence[NDArray[np.float64]],
    haplotypes: Letters | Sequence[Letters],
    model: ProfileModel | None,
) -> PairBatch:
    """Every read with every haplotype, as one group of a batch; arguments and errors as in `forward`."""
    return _batch(_several(reads), codes_of(haplotypes), model)


def _several(reads: ModelRead | Sequence[ModelRead]) -> list[ModelRead]:
    if isinstance(reads, Read) or (isinstance(reads, np.ndarray) and reads.ndim == 2):
        return [reads]
    return list(reads)


def make_read(
    bases: str | bytes,
    base_quality: PhredValues | int,
    insertion_quality: PhredValues | int = gatk.DEFAULT_INDEL_QUALITY,
    deletion_quality: PhredValues | int = gatk.DEFAULT_INDEL_QUALITY,
    gap_quality: PhredValues | int = gatk.DEFAULT_GAP_QUALITY,
) -> Read:
    """A read for `forward` from its letters and Phred qualities.

    Parameters
    ----------
    bases : str or bytes
        IUPAC letters.
    base_quality, insertion_quality, deletion_quality, gap_quality : int, sequence of int, str or bytes
        Phred, 0 to 127: one number for every position, one a base, or one character a base as in FASTQ (Phred+33).
        `gap_quality` is GATK's gap continuation penalty.

    Raises
    ------
    ValueError
        For letters outside IUPAC, and for qualities that are out of range or not one a base.
    """
    codes = encode(bases)
    given = (base_quality, insertion_quality, deletion_quality, gap_quality)
    return Read(
        codes, *(_one_a_base(name, value, len(codes)) for name, value in zip(QUALITY_NAMES, given, strict=True))
    )


def _one_a_base(name: str, value: PhredValues | int, length: int) -> NDArray[np.uint8]:
    if not isinstance(value, str | bytes) and np.ndim(value) == 0:
        return np.repeat(phred([value], name), length)  # type: ignore[list-item]
    qualities = phred(value, name)  # type: ignore[arg-type]
    if len(qualities) != length:
        raise ValueError(
            f"{name} has {len(qualities)} values for {length} bases: give one a base, or one number for all"
        )
    return qualities


@dataclass(frozen=True, slots=True)
class _Block:
    """Pairs that are scored together, and their names in the table: numbers where they have none."""

    batch: PairBatch
    first_group: int = 0
    read_names: list[str] | None = None
    haplotype_names: list[str] | None = None


def forward_files(
    reads: AnyPath,
    haplotypes: AnyPath | None,
    output: AnyPath,
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
    check_whole("threads", threads, 1)
    output = path_of(output)
    check_apart([reads, haplotypes], [("-o", output)])
    require_ending(output, "tables of scores", TEXT_TABLE)
    pairs = 0
    with closing(
        read_ahead(_blocks(path_of(reads), path_of(haplotypes), model, options, default_base_quality, threads))
    ) as blocks:
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


def _batch(reads: Sequence[ModelRead], codes: Sequence[NDArray[np.uint8]], model: ProfileModel | None) -> PairBatch:
    qualities: Qualities | None = None
    profiles: Profiles | None = None
    if model is None:
        read_offset, qualities = joined_reads(_gatk_reads(reads))
    else:
        probabilities = _probabilities(reads)
        read_offset = offsets([len(each) for each in probabilities])
        profiles = model.profiles(np.concatenate(probabilities))
    return PairBatch(
        group_read=offsets([len(reads)]),
        group_haplotype=offsets([len(codes)]),
        read_offset=read_offset,
        haplotype_offset=offsets([len(haplotype) for haplotype in codes]),
        haplotypes=joined(codes),
        start=gatk.START if model is None else model.start,
        qualities=qualities,
        profiles=profiles,
    )


def _gatk_reads(reads: Sequence[ModelRead]) -> list[Read]:
    gatk_reads = [read for read in reads if isinstance(read, Read)]
    if len(gatk_reads) < len(reads):
        at, other = next((at, read) for at, read in enumerate(reads) if not isinstance(read, Read))
        cure = "make_read makes a read; letter probabilities need model=, a profile model"
        raise TypeError(f"reads[{at}] is of type {type(other).__name__}: {cure}")
    return gatk_reads


def _probabilities(reads: Sequence[ModelRead]) -> list[NDArray[np.float64]]:
    found = []
    for at, read in enumerate(reads):
        if isinstance(read, Read):
            raise TypeError(f"reads[{at}] is a Read: the profile model takes letter probabilities, float64[m, 4]")
        found.append(np.asarray(read, dtype=np.float64))
        check_profile(found[-1])
    return found


def _blocks(
    reads: str,
    haplotypes: str | None,
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
