"""Simulates raw reads of signatures, and a table of levels, to compare `warp` with a known truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.output_folders import check_new
from pairhmm.files.outputs import open_output, whole_files
from pairhmm.options import check_number, check_whole
from pairhmm.sequences.letters import ANY, reverse_complement
from pairhmm.sequences.signatures import Signatures, read_signatures
from pairhmm.simulate.genome_files import write_truth_table
from pairhmm.simulate.signals import draw_current, draw_table
from pairhmm.simulate.signatures import draw_bases
from pairhmm.warp import slow5
from pairhmm.warp.kmer_tables import read_kmer_table, write_kmer_table
from pairhmm.warp.kmers import LONGEST_K, KmerTable
from pairhmm.warp.signal_records import SignalRecord
from pairhmm.warp.signal_text import write_text
from pairhmm.warp.slow5 import write_slow5

TRUTH_COLUMNS = ("read", "signature", "strand", "start", "end")
SAMPLING_RATE = 4000.0
ADAPTER = 45
"""Bases in front of each read, the same for all reads."""

_TABLE, _READS = 2, 3
"""Separate random streams (`pairhmm.simulate.scan_api` has the first two)."""


@kept_apart()
def simulate_signal(
    signatures: str | Path,
    output: str | Path,
    *,
    model: str | Path | None = None,
    write_model: str | Path | None = None,
    truth: str | Path | None = None,
    reads: int = 100,
    unrelated: int = 10,
    length: int = 450,
    noise: float = 1.0,
    k: int = 6,
    seed: int = 1,
    overwrite: bool = False,
) -> None:
    """Write raw reads of random places of signatures; the same arguments give the same reads.

    Parameters
    ----------
    signatures : path
        FASTA. N becomes a random base.
    output : path
        BLOW5, SLOW5 or text, by the name's ending; ``-`` is stdout, as text.
    model : path, optional
        The table of levels. Without it a random one is made.
    write_model : path, optional
        Where the table that was made is written.
    truth : path, optional
        Table of the place of each read.
    reads, unrelated : int
        Reads of signatures, and reads of random bases, in random order.
    length : int
        Bases of a read. Shorter signatures are read whole.
    noise : float
        Multiplies the standard deviation of each k-mer's current.
    k : int
        Bases of a k-mer of the table that is made.
    seed : int
    overwrite : bool
        What is there already may be replaced.

    Raises
    ------
    InputError
        For unusable signatures or tables, and where an output can't be written.
    OptionError
        For arguments out of range.
    """
    for name, value in (("reads", reads), ("unrelated", unrelated), ("seed", seed)):
        check_whole(name, value, 0)
    check_whole("length", length, 1)
    check_whole("k", k, 1, LONGEST_K)
    check_number("noise", noise, 0)
    if (model is None) == (write_model is None):
        rule = "give one of --model and --write-model"
        raise InputError("--model", "", rule, "name a table, or a file for a new one")
    check_apart([signatures, model], [("-o", output), ("--write-model", write_model), ("--truth", truth)])
    check_new([output, write_model, truth], overwrite)
    require_ending(output, "signals", (*TEXT_TABLE, *slow5.ENDINGS))
    known = read_signatures(signatures)
    table = _made_table(seed, k) if model is None else read_kmer_table(str(model))
    if min(int(known.lengths.min()), length) < table.k:
        raise InputError(str(signatures), "", f"a read would be shorter than a {table.k}-mer", "give longer signatures")
    rows: list[Sequence[object]] = []
    made = _draw_reads(known, table, reads, unrelated, length, noise=noise, seed=seed, rows=rows)
    if str(output).endswith(slow5.ENDINGS):
        with whole_files(output) as scratch:
            write_slow5(scratch, made, SAMPLING_RATE)
    else:
        with open_output(output) as out:
            write_text(out, made)
    if write_model is not None:
        with open_output(write_model) as out:
            write_kmer_table(out, table)
    if truth is not None:
        write_truth_table(truth, TRUTH_COLUMNS, rows)


def _made_table(seed: int, k: int) -> KmerTable:
    return KmerTable(k, *draw_table(np.random.default_rng((seed, _TABLE)), k))


def _draw_reads(
    known: Signatures,
    table: KmerTable,
    reads: int,
    unrelated: int,
    length: int,
    noise: float,
    seed: int,
    rows: list[Sequence[object]],
) -> Iterator[SignalRecord]:
    """Draw the reads, and add a row of the truth for each."""
    rng = np.random.default_rng((seed, _READS))
    adapter = draw_bases(rng, ADAPTER)
    is_related = rng.permutation(np.arange(reads + unrelated) < reads)
    for number, related in enumerate(is_related.tolist(), start=1):
        name = f"read_{number}"
        if related:
            index = int(rng.integers(len(known)))
            letters, place = _draw_piece(rng, known.sequence(index), length)
            rows.append((name, known.names[index], *place))
        else:
            letters = draw_bases(rng, length)
            rows.append((name, *"...."))
        means, deviations = table.levels(np.concatenate((adapter, letters)))
        yield SignalRecord(name, draw_current(rng, means, deviations, noise))


def _draw_piece(
    rng: np.random.Generator, sequence: NDArray[np.uint8], length: int
) -> tuple[NDArray[np.uint8], tuple[str, int, int]]:
    """A piece of a sequence on a random strand, and its strand, start and end."""
    start = int(rng.integers(max(0, len(sequence) - length) + 1))
    piece = sequence[start : start + length]
    letters = np.where(piece == ANY, draw_bases(rng, len(piece)), piece)
    is_reverse = bool(rng.random() < 0.5)
    place = ("-" if is_reverse else "+", start, start + len(piece))
    return (reverse_complement(letters) if is_reverse else letters), place
