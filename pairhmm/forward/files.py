"""`forward` of files: sequences in, a table of scores out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pairhmm import engine
from pairhmm.arguments import AnyPath, path_of
from pairhmm.engine import Choice
from pairhmm.errors import InputError
from pairhmm.files.background import BackgroundWriter, begun_prefetch
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.outputs import open_binary_output
from pairhmm.forward.api import ModelRead, batch_of
from pairhmm.forward.batches import read_batches
from pairhmm.forward.graphs import graph_scores, takes_oracle
from pairhmm.forward.pair_texts import read_partially_determined
from pairhmm.forward.score_lines import HEADER, score_lines
from pairhmm.models import gatk
from pairhmm.models.batch import PairBatch, Read, Scores
from pairhmm.models.haplotype_graph import HaplotypeGraph, graph_of
from pairhmm.models.profile import ProfileModel, one_hot
from pairhmm.models.profile_reader import ENDINGS as PROFILE_ENDINGS
from pairhmm.models.profile_reader import read_profiles
from pairhmm.options import Within, check_whole
from pairhmm.sequences.fastx import SequenceRecord, read_sequences
from pairhmm.sequences.letters import HIGHEST_SAM_QUALITY, encode, encode_read

READS_PER_BLOCK = 4096
"""Reads that are scored at once, so that memory does not grow with the file."""

_DEFAULTS = gatk.GatkOptions()


@dataclass(frozen=True, slots=True)
class _Block:
    """Pairs that are scored together, and their names in the table; those without a name get numbers."""

    batch: PairBatch
    first_group: int = 0
    read_names: list[str] | None = None
    haplotype_names: list[str] | None = None
    graphs: list[HaplotypeGraph] | None = None  # of whose haplotypes the batch has one path each


@kept_apart()
def forward_files(
    reads: AnyPath,
    haplotypes: AnyPath | None,
    output: AnyPath,
    *,
    model: ProfileModel | Literal["pdhmm", "graph"] | None = None,
    options: gatk.GatkOptions = _DEFAULTS,
    default_base_quality: Annotated[int | None, Within(0, HIGHEST_SAM_QUALITY)] = None,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> int:
    """Score the reads of one file against the haplotypes of another, as a table.

    Parameters
    ----------
    reads : path
        FASTQ or FASTA (gzipped or not); a `.in` file, which brings its haplotypes; or, with `model`, profiles
        (`.profile` or `.tsv`, gzipped or not). With "pdhmm", a file of pairs, which brings its haplotypes.
    haplotypes : path or None
        FASTA, with undetermined alleles for "graph"; None for a `.in` file and for "pdhmm".
    output : path
        TSV with the columns group, read, haplotype, log10_likelihood, precision; "-" is stdout.
    model : ProfileModel, "pdhmm" or "graph", optional
        The model; by default GATK's. "pdhmm" is that of GATK's partially determined haplotypes, "graph" the sum over
        the paths of a graph.
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
    source = _blocks(path_of(reads), path_of(haplotypes), model, options, default_base_quality, threads)
    with begun_prefetch(source) as (first, blocks):
        cells = sum(_cells_of_file(path_of(reads), block.batch) for block in first)
        scores_of = _scorer(model, backend, cells, threads)
        with open_binary_output(output) as table, BackgroundWriter(threads) as behind:
            table.write(HEADER)
            for block in blocks:
                scores = scores_of(block)
                names = (block.read_names, block.haplotype_names)
                lines = score_lines(block.batch, scores, block.first_group, *names, threads)
                behind.run(partial(table.writelines, lines))
                pairs += block.batch.pairs
    return pairs


def _scorer(
    model: ProfileModel | Literal["pdhmm", "graph"] | None, backend: str | Choice, cells: int, threads: int
) -> Callable[[_Block], Scores]:
    if model == "graph":
        by_oracle = takes_oracle(backend)
        return lambda block: graph_scores(block.batch, block.graphs or [], by_oracle, threads)
    pool = engine.choose(backend, cells, threads)
    return lambda block: pool.forward(block.batch, threads)


def _cells_of_file(path: str, first: PairBatch) -> int:
    """About how many cells a file has, by its first block. They are those of the block where its text is packed."""
    text = 5 * first.bases + int(first.haplotype_offset[-1])
    if not path.endswith(".in") or not os.path.isfile(path):
        return first.cells
    return int(first.cells * max(1.0, os.path.getsize(path) / max(1, text)))


def _blocks(
    reads: str,
    haplotypes: str | None,
    model: ProfileModel | Literal["pdhmm", "graph"] | None,
    options: gatk.GatkOptions,
    default_base_quality: int | None,
    threads: int,
) -> Iterator[_Block]:
    if model == "pdhmm":
        if haplotypes is not None:
            raise InputError(reads, "", "for --model pdhmm it holds the haplotypes too", "give it alone")
        yield from _blocks_of_pairs(reads)
        return
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
    targets = list(read_sequences(haplotypes, _as_text if model == "graph" else encode))
    if not targets:
        raise InputError(str(haplotypes), "", "no sequence in it", "give at least one haplotype")
    names = [target.name for target in targets]
    codes, graphs = [target.codes for target in targets], None
    if model == "graph":
        graphs, model = [_graph_of(haplotypes, target) for target in targets], None
        codes = [graph.shortest_path for graph in graphs]
    records = _read_records(reads, model, options, default_base_quality)
    while block := list(islice(records, READS_PER_BLOCK)):
        batch = batch_of([read for _, read in block], codes, model)
        yield _Block(batch, read_names=[name for name, _ in block], haplotype_names=names, graphs=graphs)


def _as_text(sequence: str) -> NDArray[np.uint8]:
    return np.frombuffer(sequence.encode(), dtype=np.uint8)


def _graph_of(path: str, record: SequenceRecord) -> HaplotypeGraph:
    try:
        return graph_of(record.codes.tobytes())
    except ValueError as error:
        raise InputError(path, record.name, str(error), "write a site as [A:0.3|C:0.7] or [AC|-]") from error


def _blocks_of_pairs(path: str) -> Iterator[_Block]:
    pairs = read_partially_determined(path, are_scored=False)
    first = 0
    while block := list(islice(pairs, READS_PER_BLOCK)):
        yield _Block(PairBatch.from_groups([pair.group for pair in block]), first)
        first += len(block)


def _read_records(
    path: str, model: ProfileModel | None, options: gatk.GatkOptions, default_base_quality: int | None
) -> Iterator[tuple[str, ModelRead]]:
    if path.endswith(PROFILE_ENDINGS):
        if model is None:
            raise InputError(path, "", "a profile needs the profile model", "add --model profile")
        yield from read_profiles(path)
        return
    for record in read_sequences(path, encode if model is None else encode_read):
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
