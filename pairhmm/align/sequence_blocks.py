"""Reads FASTA and FASTQ as blocks of sequences with their names, for alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import LONGEST, SequencePairs, Sequences
from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.names import check_packed_names
from pairhmm.sequences.arrays import Names, offsets
from pairhmm.sequences.fastx import NO_SEQUENCES, text_blocks
from pairhmm.sequences.letters import encode
from pairhmm.sequences.records import RecordBlock

CHUNK_SIZE = 16 << 20
"""Bytes of text that are read at once. A block has the records that end within them."""

PAIRS_AT_ONCE = 1 << 18
"""The most pairs of a block, unless one query has more targets. Their names and scores are held at once."""


@dataclass(frozen=True, slots=True)
class NamedSequences:
    """Consecutive records of a file."""

    names: Names
    sequences: Sequences  # an empty record is an empty sequence
    qualities: NDArray[np.uint8] | None  # [letters] or None: Phred, of FASTQ

    def __len__(self) -> int:
        return len(self.sequences)

    def part(self, begin: int, end: int) -> NamedSequences:
        """The records from `begin` to `end`."""
        first, last = self.sequences.offsets[begin], self.sequences.offsets[end]
        qualities = None if self.qualities is None else self.qualities[first:last]
        return NamedSequences(self.names.take(begin, end), self.sequences.part(begin, end), qualities)


@dataclass(frozen=True, slots=True)
class PairBlock:
    """Pairs that are aligned together, in the order of the output."""

    queries: NamedSequences
    targets: NamedSequences
    pairs: SequencePairs  # Of their sequences. Those of a query are consecutive.
    first_target: int = 0  # number of the first target in its file

    def names(self) -> tuple[list[str], list[str]]:
        """The query and the target of each pair."""
        queries, targets = list(self.queries.names), list(self.targets.names)
        return (
            [queries[index] for index in self.pairs.query_index.tolist()],
            [targets[index] for index in self.pairs.target_index.tolist()],
        )


@cache
def _code_of_letter() -> NDArray[np.uint8]:
    """uint8[256]: one more than the code of each letter, and 0 for what is none."""
    values = np.zeros(256, dtype=np.uint8)
    for byte in range(256):
        try:
            values[byte] = encode(bytes([byte]))[0] + 1
        except ValueError:
            continue
    return values


def sequence_blocks(
    path: str, chunk_size: int = CHUNK_SIZE, watch: Callable[[int], None] = lambda _: None
) -> Iterator[NamedSequences]:
    """The records of a FASTA or FASTQ file, plain or gzipped, in blocks of `chunk_size` bytes of text or so.

    ``-`` is stdin. Raises InputError for files that can't be used, letters outside IUPAC, and sequences of more than
    `LONGEST` letters. The message names file, record and cure. `watch` is called with the number of bytes of the file
    that were read.
    """
    records = 0
    with ByteStream(path, watch) as stream:
        if stream.head.startswith((formats.BAM, formats.CRAM)):
            raise InputError(path, "", *NO_SEQUENCES)
        # A chromosome is refused before all of it was read.
        overlap = 0 if chunk_size > LONGEST else None
        for block in text_blocks(stream, chunk_size, overlap, _code_of_letter()):
            check_packed_names(path, block.names.text, block.names)
            yield _checked(path, block)
            records += len(block.names)
    if not records:
        raise InputError(path, "", "no FASTA or FASTQ record in it", "check the file")


def _checked(path: str, block: RecordBlock) -> NamedSequences:
    samples = block.samples
    long = np.flatnonzero(np.diff(samples.offset) > LONGEST)
    if len(long):
        place = f"record {block.first_record + int(long[0]) + 1} ({block.names[int(long[0])]})"
        raise InputError(path, place, f"has more than {LONGEST:,} letters", "cut it, or use a mapper such as minimap2")
    return NamedSequences(block.names, Sequences(samples.letters - np.uint8(1), samples.offset), samples.qualities)


def read_sequences_whole(path: str) -> NamedSequences:
    """All records of a file; errors as in `sequence_blocks`."""
    blocks = [*sequence_blocks(path)]
    if len(blocks) == 1:
        return blocks[0]
    lengths = np.concatenate([block.sequences.lengths for block in blocks])
    sequences = Sequences(np.concatenate([block.sequences.codes for block in blocks]), offsets(lengths))
    return NamedSequences(Names.concatenate([block.names for block in blocks]), sequences, None)


def pairs_in_order(
    queries: str, targets: str, chunk_size: int = CHUNK_SIZE, watch: Callable[[int], None] = lambda _: None
) -> Iterator[PairBlock]:
    """The first record of both files, then the second of both, and so on.

    Raises InputError where one file has more records than the other, and as in `sequence_blocks`.
    """
    one, other = (sequence_blocks(path, chunk_size, watch) for path in (queries, targets))
    some, others = next(one, None), next(other, None)
    done = 0
    while some is not None and others is not None:
        size = min(len(some), len(others), PAIRS_AT_ONCE)
        first, second = some.part(0, size), others.part(0, size)
        yield PairBlock(first, second, SequencePairs.in_order(first.sequences, second.sequences), done)
        done += size
        some = some.part(size, len(some)) if size < len(some) else next(one, None)
        others = others.part(size, len(others)) if size < len(others) else next(other, None)
    if some is not others:
        short, long = (queries, targets) if some is None else (targets, queries)
        rule = f"has more sequences than {short}, which has {done:,}"
        raise InputError(long, f"record {done + 1}", rule, "give as many, in order, or align all with all (--all)")


def every_pair(
    queries: str, targets: str, chunk_size: int = CHUNK_SIZE, watch: Callable[[int], None] = lambda _: None
) -> Iterator[PairBlock]:
    """Every query with all targets, which are held in memory; errors as in `sequence_blocks`."""
    all_targets = read_sequences_whole(targets)
    most = max(1, PAIRS_AT_ONCE // len(all_targets))
    for block in sequence_blocks(queries, chunk_size, watch):
        for begin in range(0, len(block), most):
            part = block.part(begin, min(begin + most, len(block)))
            yield PairBlock(part, all_targets, SequencePairs.all_of(part.sequences, all_targets.sequences))
