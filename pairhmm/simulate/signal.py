"""`simulate signal`: raw reads of signatures, and a table of levels, with a known truth for `warp`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.output_folders import check_new
from pairhmm.files.outputs import open_output, whole_files
from pairhmm.options import Within, check_arguments
from pairhmm.sequences.letters import ANY, reverse_complement
from pairhmm.sequences.signatures import Signatures, read_signatures
from pairhmm.simulate.files import write_truth_table
from pairhmm.simulate.signatures import draw_bases
from pairhmm.warp.kmers import LONGEST_K, KmerTable, read_kmer_table, write_kmer_table
from pairhmm.warp.signal_records import SignalRecord, write_text
from pairhmm.warp.slow5 import ENDINGS, write_slow5

MEAN_LEVEL, LEVEL_SPREAD = 90.0, 12.0
"""Mean and standard deviation of the levels of k-mers, in pA, about those of R9.4."""

DEVIATIONS = 1.2, 2.5
"""The lowest and the highest standard deviation of a k-mer's current, in pA."""

SAMPLES_A_BASE = 9.0
"""Mean number of samples for which a base stays: 450 bases and 4,000 samples a second. At least two."""

_STAY_SHAPE = 2.0
_GAIN_SPREAD, _SHIFT_SPREAD = 0.03, 3.0


def draw_table(rng: np.random.Generator, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of the current of each k-mer, in pA: both float64[4**k]."""
    means = rng.normal(MEAN_LEVEL, LEVEL_SPREAD, 4**k)
    return means, rng.uniform(*DEVIATIONS, 4**k)


def draw_current(
    rng: np.random.Generator, means: NDArray[np.float64], deviations: NDArray[np.float64], noise: float
) -> NDArray[np.float64]:
    """The current of a read whose k-mers have these levels, in pA: float64[samples].

    Each k-mer stays for a random number of samples, and each read has a gain and a shift of its own, as pores have.
    `noise` multiplies the standard deviations.
    """
    stays = 2 + rng.gamma(_STAY_SHAPE, (SAMPLES_A_BASE - 2) / _STAY_SHAPE, len(means)).astype(np.int64)
    current = np.repeat(means, stays) + rng.normal(0, 1, int(stays.sum())) * noise * np.repeat(deviations, stays)
    return current * rng.normal(1, _GAIN_SPREAD) + rng.normal(0, _SHIFT_SPREAD)


TRUTH_COLUMNS = ("read", "signature", "strand", "start", "end")
SAMPLING_RATE = 4000.0
ADAPTER = 45
"""Bases in front of each read, the same for all reads."""

_TABLE, _READS = 2, 3
"""Separate random streams (`pairhmm.simulate.signatures` has the first two)."""


@kept_apart()
def simulate_signal(
    signatures: str | Path,
    output: str | Path,
    *,
    model: str | Path | None = None,
    write_model: str | Path | None = None,
    truth: str | Path | None = None,
    reads: Annotated[int, Within(0)] = 100,
    unrelated: Annotated[int, Within(0)] = 10,
    length: Annotated[int, Within(1)] = 450,
    noise: Annotated[float, Within(0)] = 1.0,
    k: Annotated[int, Within(1, LONGEST_K)] = 6,
    seed: Annotated[int, Within(0)] = 1,
    overwrite: bool = False,
) -> None:
    """Write raw reads of random parts of signatures; the same arguments give the same reads.

    Parameters are the options of `pairhmm simulate signal`. N in a signature becomes a random base.

    Raises
    ------
    InputError
        For unusable signatures or tables, and where an output can't be written.
    OptionError
        For arguments out of range.
    """
    check_arguments(simulate_signal, locals())
    if (model is None) == (write_model is None):
        rule = "give one of --model and --write-model"
        raise InputError("--model", "", rule, "name a table, or a file for a new one")
    check_apart([signatures, model], [("-o", output), ("--write-model", write_model), ("--truth", truth)])
    check_new([output, write_model, truth], overwrite)
    require_ending(output, "signals", (*TEXT_TABLE, *ENDINGS))
    known = read_signatures(signatures)
    rng = np.random.default_rng((seed, _TABLE))
    table = KmerTable(k, *draw_table(rng, k)) if model is None else read_kmer_table(str(model))
    if min(int(known.lengths.min()), length) < table.k:
        raise InputError(str(signatures), "", f"a read would be shorter than a {table.k}-mer", "give longer signatures")
    rows: list[Sequence[object]] = []
    records = _draw_reads(known, table, reads, unrelated, length, noise=noise, seed=seed, rows=rows)
    if str(output).endswith(ENDINGS):
        with whole_files(output) as scratch:
            write_slow5(scratch, records, SAMPLING_RATE)
    else:
        with open_output(output) as out:
            write_text(out, records)
    if write_model is not None:
        with open_output(write_model) as out:
            write_kmer_table(out, table)
    if truth is not None:
        write_truth_table(truth, TRUTH_COLUMNS, rows)


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
