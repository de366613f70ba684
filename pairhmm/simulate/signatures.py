"""`simulate signatures` and `simulate samples`: random signatures, and samples in which some of them are planted.

Letters are sets of bases.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.output_folders import check_new
from pairhmm.sequences.fastx import open_sequences
from pairhmm.sequences.letters import ANY, HIGHEST_SAM_QUALITY
from pairhmm.sequences.signatures import read_signatures
from pairhmm.simulate.files import write_truth_table

BASES = np.array([1, 2, 4, 8], dtype=np.uint8)
"""The sets of A, C, G and T alone (`pairhmm.sequences.letters`)."""


def draw_bases(rng: np.random.Generator, length: int) -> NDArray[np.uint8]:
    """Random bases, each as likely as the others."""
    return BASES[rng.integers(0, len(BASES), length, dtype=np.uint8)]


def with_ns(rng: np.random.Generator, letters: NDArray[np.uint8], n_ratio: float) -> NDArray[np.uint8]:
    """The letters, each replaced by N with probability `n_ratio`."""
    return np.where(rng.random(len(letters), dtype=np.float32) < n_ratio, np.uint8(ANY), letters)


def draw_signature(rng: np.random.Generator, length: int, n_ratio: float) -> NDArray[np.uint8]:
    """A random signature with Ns."""
    return with_ns(rng, draw_bases(rng, length), n_ratio)


def draw_sample(
    rng: np.random.Generator,
    background: int,
    signatures: Sequence[NDArray[np.uint8]],
    planted: Sequence[int],
    phred: tuple[int, int],
    n_ratio: float,
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[int]]:
    """Random bases with signatures between them, on the forward strand. A signature's N becomes a random base.

    Parameters
    ----------
    background : int
        Bases around the signatures.
    signatures : sequence of uint8 arrays
    planted : sequence of int
        Indices of the signatures to plant, from left to right.
    phred : (int, int)
        The lowest and the highest quality. Qualities are uniform between them.
    n_ratio : float
        Probability that a letter of the sample is N, inside planted signatures too.

    Returns
    -------
    letters, qualities : uint8[n]
    starts : list of int
        0-based position at which each planted signature begins.
    """
    around = draw_bases(rng, background)
    cuts = np.sort(rng.integers(0, background + 1, len(planted)))
    stretches, starts, done, length = [], [], 0, 0
    for index, cut in zip(planted, cuts.tolist(), strict=True):
        signature = signatures[index]
        copy = np.where(signature == ANY, draw_bases(rng, len(signature)), signature)
        starts.append(length + cut - done)
        stretches += [around[done:cut], copy]
        length, done = starts[-1] + len(copy), cut
    stretches.append(around[done:])
    letters = with_ns(rng, np.concatenate(stretches), n_ratio)
    qualities = rng.integers(phred[0], phred[1] + 1, len(letters), dtype=np.uint8)
    return letters, qualities, starts


TRUTH_COLUMNS = ("sample", "signature", "start", "end", "strand")
# Separate random streams: with one seed, samples would otherwise have the random bases of the signatures.
_SIGNATURES, _SAMPLES = 0, 1
_Rule = tuple[bool, str, str]


def simulate_signatures(
    output: str | Path,
    *,
    count: int = 1000,
    min_length: int = 3000,
    max_length: int = 10_000,
    n_ratio: float = 0.1,
    seed: int = 1,
    overwrite: bool = False,
) -> None:
    """Write random signatures as FASTA; the same arguments give the same bytes.

    Parameters are the options of `pairhmm simulate signatures`. Ranges include both ends.

    Raises
    ------
    InputError
        For arguments out of range, and where the output can't be written.
    """
    _check([(count >= 1, "--count", "must be at least 1"), *_shared_rules(min_length, max_length, n_ratio, seed)])
    check_new([output], overwrite)
    rng = np.random.default_rng((seed, _SIGNATURES))
    with open_sequences(output) as write:
        for number in range(1, count + 1):
            length = int(rng.integers(min_length, max_length + 1))
            write(f"signature_{number}", draw_signature(rng, length, n_ratio), None)


@kept_apart()
def simulate_samples(
    signatures: str | Path,
    output: str | Path,
    *,
    truth: str | Path | None = None,
    num_no_virus: int = 1000,
    num_with_virus: int = 10,
    min_viruses: int = 100,
    max_viruses: int = 200,
    min_length: int = 100_000,
    max_length: int = 200_000,
    min_phred: int = 10,
    max_phred: int = 30,
    n_ratio: float = 0.1,
    seed: int = 1,
    overwrite: bool = False,
) -> None:
    """Write samples as FASTQ, some with signatures planted in them; the same arguments give the same bytes.

    Parameters are the options of `pairhmm simulate samples`. Ranges include both ends. A planted signature adds to its
    sample, whose length is that of the random bases around. Signatures are planted forward, each at most once a sample.

    Raises
    ------
    InputError
        For arguments out of range, unusable signatures, and where an output can't be written.
    """
    check_apart([signatures], [("-o", output), ("--truth", truth)])
    check_new([output, truth], overwrite)
    known = read_signatures(signatures)
    _check(
        [
            (num_no_virus >= 0, "--num-no-virus", "must not be negative"),
            (num_with_virus >= 0, "--num-with-virus", "must not be negative"),
            (1 <= min_viruses <= max_viruses, "--min-viruses", "must be from 1 to --max-viruses"),
            (max_viruses <= len(known), "--max-viruses", f"must be at most the {len(known)} signatures"),
            (
                0 <= min_phred <= max_phred <= HIGHEST_SAM_QUALITY,
                "--min-phred",
                f"must be from 0 to --max-phred, at most {HIGHEST_SAM_QUALITY}",
            ),
            *_shared_rules(min_length, max_length, n_ratio, seed),
        ]
    )
    rng = np.random.default_rng((seed, _SAMPLES))
    sequences = [known.sequence(index) for index in range(len(known))]
    has_viruses = rng.permutation(np.arange(num_no_virus + num_with_virus) < num_with_virus)
    rows: list[Sequence[object]] = []
    with open_sequences(output) as write:
        for number, positive in enumerate(has_viruses.tolist(), start=1):
            length = int(rng.integers(min_length, max_length + 1))
            viruses = int(rng.integers(min_viruses, max_viruses + 1)) if positive else 0
            planted = rng.choice(len(known), viruses, replace=False).tolist()
            letters, qualities, starts = draw_sample(rng, length, sequences, planted, (min_phred, max_phred), n_ratio)
            write(f"sample_{number}", letters, qualities)
            for index, start in zip(planted, starts, strict=True):
                rows.append((f"sample_{number}", known.names[index], start, start + len(sequences[index]), "+"))
        if truth is not None:
            write_truth_table(truth, TRUTH_COLUMNS, rows)


def _shared_rules(min_length: int, max_length: int, n_ratio: float, seed: int) -> list[_Rule]:
    return [
        (1 <= min_length <= max_length, "--min-length", "must be from 1 to --max-length"),
        (0 <= n_ratio <= 1, "--n-ratio", "must be from 0 to 1"),
        (seed >= 0, "--seed", "must not be negative"),
    ]


def _check(rules: Sequence[_Rule]) -> None:
    for holds, option, rule in rules:
        if not holds:
            raise InputError(option, "", rule, "")
