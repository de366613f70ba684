"""`forward` of reads and haplotypes in memory: the pair-HMM itself, without genomes or alignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairhmm import engine
from pairhmm.engine import Choice
from pairhmm.forward.graphs import graph_scores, takes_oracle
from pairhmm.models import gatk
from pairhmm.models.batch import QUALITY_NAMES, PairBatch, Profiles, Qualities, Read, joined_reads
from pairhmm.models.haplotype_graph import graph_of
from pairhmm.models.partially_determined import flags_of
from pairhmm.models.profile import ProfileModel, check_profile
from pairhmm.options import check_whole
from pairhmm.sequences.arrays import joined, offsets
from pairhmm.sequences.letters import Letters, PhredValues, codes_of, encode, encode_case, phred

ModelRead = Read | NDArray[np.float64]
"""A read of GATK's model, or a profile float64[m, 4]."""

Flags = Sequence[int] | NDArray[np.integer]
"""Flags of a partially determined haplotype, from -128 to 255, one a letter."""


def forward(
    reads: ModelRead | Sequence[Read] | Sequence[NDArray[np.float64]],
    haplotypes: Letters | Sequence[Letters],
    *,
    model: ProfileModel | Literal["graph"] | None = None,
    flags: Flags | Sequence[Flags] | None = None,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> NDArray[np.float64]:
    """Score every read against every haplotype: log10 P(read | haplotype).

    Parameters
    ----------
    reads : Read, float64[m, 4], or a sequence of either
        Reads with qualities for GATK's model (`make_read`); letter probabilities over A C G T for a profile model.
    haplotypes : str, bytes, uint8[n], or a sequence of them
        Letters or their codes; a string is one haplotype. With "graph", text with undetermined alleles.
    model : ProfileModel or "graph", optional
        `pairhmm.models.profile.preset` or `read_parameters`; GATK's model without it. "graph" is that of GATK, summed
        over all haplotypes of a text such as ``"ACG[A:0.3|C:0.7]TT[GG|-]A"``: a site has its alleles, ``-`` is the
        empty one, and weights are probabilities, the same for each allele where there are none.
    flags : sequence of int, or a sequence of them, optional
        Flags of each letter of GATK's partially determined haplotypes: 1 SNP, 2 a deletion starts, 4 it ends, 8 A,
        16 C, 32 G, 64 T. With flags, letters match with their case: those of text, and of reads made with `keep_case`.
    backend : str or Choice
        A backend's name, or "auto"; or that with its devices.
    threads : int
        CPU threads.

    Returns
    -------
    float64[reads, haplotypes]

    Raises
    ------
    ValueError
        For empty sequences, letters outside IUPAC, qualities or flags that are not one a letter, or probabilities or
        weights that do not sum to 1.
    TypeError
        For reads of another model.
    BackendUnavailable
        Where a named backend does not run here.
    OptionError
        For "graph" with a backend that is not of the CPU.

    Examples
    --------
    >>> read = pairhmm.make_read("ACGTACGTAC", base_quality=40)
    >>> pairhmm.forward(read, ["TTACGTACGTACTT", "TTACGTTCGTACTT"]).round(2)
    array([[-1.19, -5.67]])
    """
    check_whole("threads", threads, 1)
    if model == "graph":
        return _forward_graphs(reads, haplotypes, flags, backend, threads)
    batch = pack(reads, haplotypes, model, flags)
    scores = engine.forward(batch, backend, threads)
    return scores.log10.reshape(batch.reads, len(batch.haplotype_offset) - 1)


def _forward_graphs(
    reads: ModelRead | Sequence[ModelRead],
    texts: Letters | Sequence[Letters],
    flags: object,
    backend: str | Choice,
    threads: int,
) -> NDArray[np.float64]:
    if flags is not None:
        raise ValueError("flags are of GATK's model: leave out model=")
    by_oracle = takes_oracle(backend)
    graphs = [graph_of(text) for text in ([texts] if isinstance(texts, str | bytes) else texts)]
    batch = batch_of(_several(reads), [graph.shortest_path for graph in graphs], None)
    return graph_scores(batch, graphs, by_oracle, threads).log10.reshape(batch.reads, len(graphs))


def pack(
    reads: ModelRead | Sequence[Read] | Sequence[NDArray[np.float64]],
    haplotypes: Letters | Sequence[Letters],
    model: ProfileModel | None,
    flags: Flags | Sequence[Flags] | None = None,
) -> PairBatch:
    """Every read with every haplotype, as one group of a batch; arguments and errors as in `forward`."""
    if flags is None:
        return batch_of(_several(reads), codes_of(haplotypes), model)
    codes = codes_of(haplotypes, encode_case)
    return batch_of(_several(reads), codes, model, _flags_of_each(flags, codes))


def _flags_of_each(flags: Flags | Sequence[Flags], haplotypes: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    is_of_one = len(flags) > 0 and np.ndim(flags[0]) == 0
    each: Any = [flags] if is_of_one else flags
    if len(each) != len(haplotypes):
        raise ValueError(f"flags are of {len(each)} haplotypes, and there are {len(haplotypes)}: give one a letter")
    found = []
    for at, (values, codes) in enumerate(zip(each, haplotypes, strict=True)):
        try:
            found.append(flags_of(values, len(codes)))
        except ValueError as error:
            raise ValueError(f"flags[{at}]: {error}") from None
    return found


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
    keep_case: bool = False,
) -> Read:
    """Make a read for `forward` from its letters and Phred qualities.

    Parameters
    ----------
    bases : str or bytes
        IUPAC letters.
    base_quality, insertion_quality, deletion_quality, gap_quality : int, sequence of int, str or bytes
        Phred, 0 to 127: one number for every position, one a base, or one character a base as in FASTQ (Phred+33).
        `gap_quality` is GATK's gap continuation penalty.
    keep_case : bool
        Whether a lower-case letter is another one, as beside partially determined haplotypes (`flags` of `forward`).

    Returns
    -------
    Read

    Raises
    ------
    ValueError
        For letters outside IUPAC, and for qualities that are out of range or not one a base.

    Examples
    --------
    >>> pairhmm.make_read("ACGT", base_quality="IIII").base_quality
    array([40, 40, 40, 40], dtype=uint8)
    """
    codes = encode_case(bases) if keep_case else encode(bases)
    qualities = (base_quality, insertion_quality, deletion_quality, gap_quality)
    return Read(
        codes, *(_one_a_base(name, value, len(codes)) for name, value in zip(QUALITY_NAMES, qualities, strict=True))
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


def batch_of(
    reads: Sequence[ModelRead],
    codes: Sequence[NDArray[np.uint8]],
    model: ProfileModel | None,
    flags: Sequence[NDArray[np.uint8]] | None = None,
) -> PairBatch:
    qualities: Qualities | None = None
    profiles: Profiles | None = None
    if model is not None and flags is not None:
        raise ValueError("flags are of GATK's model: leave out model=")
    if model is None:
        read_offset, qualities = joined_reads(_gatk_reads(reads))
    else:
        probabilities = _probabilities(reads)
        read_offset = offsets([len(each) for each in probabilities])
        profiles = model.with_repeats(model.profiles(np.concatenate(probabilities)), read_offset)
    return PairBatch(
        group_read=offsets([len(reads)]),
        group_haplotype=offsets([len(codes)]),
        read_offset=read_offset,
        haplotype_offset=offsets([len(haplotype) for haplotype in codes]),
        haplotypes=joined(codes),
        start=gatk.START if model is None else model.start,
        qualities=qualities,
        profiles=profiles,
        flags=None if flags is None else joined(flags),
    )


def _gatk_reads(reads: Sequence[ModelRead]) -> list[Read]:
    gatk_reads = [read for read in reads if isinstance(read, Read)]
    if len(gatk_reads) < len(reads):
        at, other = next((at, read) for at, read in enumerate(reads) if not isinstance(read, Read))
        cure = "make_read makes a read; letter probabilities need model=, a profile model"
        raise TypeError(f"reads[{at}] is of type {type(other).__name__}: {cure}")
    return gatk_reads


def _probabilities(reads: Sequence[ModelRead]) -> list[NDArray[np.float64]]:
    profiles = []
    for at, read in enumerate(reads):
        if isinstance(read, Read):
            raise TypeError(f"reads[{at}] is a Read: the profile model takes letter probabilities, float64[m, 4]")
        profiles.append(np.asarray(read, dtype=np.float64))
        check_profile(profiles[-1])
    return profiles
