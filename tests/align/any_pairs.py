"""Pairs of sequences at random, of all lengths, relations, letters and scorings, and what any alignment must be.

python tests/align/any_pairs.py --backend cuda --pairs 100000

aligns such pairs on one backend and compares scores and alignments with those of `reference`. Each alignment is also
checked on its own: that it fits the sequences, and has its score. Tests of the backends take PAIRHMM_ANY_PAIRS pairs,
or 300 without it. Exit code 1 where any pair is wrong.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from multiprocessing import get_context

import numpy as np

from pairhmm.align.base import ALIGNERS, Aligner, Alignments, SequencePairs, Sequences
from pairhmm.align.scoring import LARGEST_SCORE, PRESETS, Scoring
from pairhmm.alignments.sam import CONSUMES_QUERY, CONSUMES_REFERENCE, DELETION, INSERTION, MATCH, SOFT_CLIP

PAIRS = int(os.environ.get("PAIRHMM_ANY_PAIRS", "300"))
LONGEST = 2_000
BATCH = 50
"""Pairs that are aligned together, by one scoring."""

RELATIONS = ("copy", "piece", "overlap", "repeat", "unrelated")
OVERHANGS = ("softclip", "indel", "leading-indel", "ignore")
MODES = ("global", "semi-global", *OVERHANGS)
FORMS = ("edit", "linear", "affine", "extreme")
KINDS = tuple((form, mode) for form in FORMS for mode in MODES)
N = 4


def any_scoring(rng: np.random.Generator, form: str | None = None, mode: str | None = None) -> Scoring:
    """Any scoring of a form ("extreme": scores that 16 bits can't hold) and a mode (GATK's by its overhangs)."""
    form = form or str(rng.choice(FORMS))
    mode = mode or str(rng.choice(MODES))
    ends = {"mode": "gatk", "overhang": mode} if mode in OVERHANGS else {"mode": mode}
    least_match = int(ends["mode"] == "gatk")
    if form == "edit":
        # GATK's alignments need a match that scores.
        return replace(PRESETS["edit"], match=least_match, **ends)
    if form == "affine" and rng.random() < 0.4:
        return replace(PRESETS[str(rng.choice(["gatk-haplotype", "gatk-read"]))], **ends)
    largest = LARGEST_SCORE if form == "extreme" else int(rng.choice([3, 20, 300]))
    least = LARGEST_SCORE - 50 if form == "extreme" else 0
    match = int(rng.integers(max(least, least_match), largest + 1))
    mismatch = -int(rng.integers(max(least, match == 0), largest + 1))
    opened, extended = sorted((-rng.integers(least, largest + 1, 2)).tolist())
    if form == "extreme" and rng.random() < 0.5:
        extended = -int(rng.integers(0, 3))
    return Scoring(match, mismatch, opened, opened if form == "linear" else extended, **ends)


def any_length(rng: np.random.Generator, longest: int = LONGEST) -> int:
    """Mostly short: none in 30, up to 16 in a third, up to 150 in most, up to the longest in 50."""
    kind = rng.random()
    if kind < 1 / 30:
        return 0
    most = 16 if kind < 1 / 3 else 150 if kind < 0.98 else longest
    return int(rng.integers(1, min(most, longest) + 1))


def any_pair(rng: np.random.Generator, longest: int = LONGEST) -> tuple[np.ndarray, np.ndarray]:
    """A query and a target: codes 0 to 4. IUPAC letters are N where sequences become codes."""
    relation = str(rng.choice(RELATIONS))
    letters = int(rng.choice([1, 2, 4, 4, 4]))
    length = any_length(rng, longest)
    target = rng.integers(0, letters, length)
    if relation == "repeat" and length:
        target = np.resize(target[: int(rng.integers(1, 9))], length)
    begin, end = np.sort(rng.integers(0, length + 1, 2)).tolist()
    query = target.copy()
    if relation in ("piece", "overlap"):
        query = target[begin:end]
    if relation == "overlap":
        query = np.concatenate([query, rng.integers(0, letters, rng.integers(0, 40))])
        query = query if rng.random() < 0.5 else query[::-1]
    if relation == "unrelated":
        query = rng.integers(0, letters, any_length(rng, longest))
    query = with_errors(rng, query, letters, float(rng.choice([0.0, 0.02, 0.2])))[:longest]
    pair = query.astype(np.uint8), target.astype(np.uint8)
    share = float(rng.choice([0.0, 0.0, 0.05, 0.5]))
    for codes in pair:
        codes[rng.random(len(codes)) < share] = N
    return pair if rng.random() < 0.7 else pair[::-1]


def with_errors(rng: np.random.Generator, codes: np.ndarray, letters: int, rate: float) -> np.ndarray:
    """Letters exchanged, left out and put in, one in three each; a gap is of one to six letters."""
    parts, at = [], 0
    while at < len(codes):
        good = int(rng.geometric(rate)) if rate else len(codes)
        parts.append(codes[at : at + good - 1] if rate else codes)
        at += good - 1 if rate else good
        if at >= len(codes):
            break
        kind, length = int(rng.integers(3)), int(rng.integers(1, 7))
        parts.append(rng.integers(0, letters, (1, 0, length)[kind]))
        at += (1, length, 0)[kind]
    return np.concatenate(parts) if parts else codes


def any_batches(
    seed: int = 1, pairs: int = PAIRS, longest: int = LONGEST, **scoring: str
) -> Iterator[tuple[SequencePairs, Scoring]]:
    """Batches of pairs, each with its scoring; all forms and modes in turn, unless `form` or `mode` is given."""
    for number in range(max(1, -(-pairs // BATCH))):
        yield any_batch(seed, number, min(BATCH, pairs - number * BATCH), longest, **scoring)


def any_batch(seed: int, number: int, count: int, longest: int, **scoring: str) -> tuple[SequencePairs, Scoring]:
    """One of the batches of `any_batches`, which depends on its number alone."""
    rng = np.random.default_rng((seed, number))
    form, mode = KINDS[number % len(KINDS)]
    made = [any_pair(rng, longest) for _ in range(count)]
    queries, targets = (Sequences.of([pair[side] for pair in made]) for side in (0, 1))
    drawn = any_scoring(rng, scoring.get("form", form), scoring.get("mode", mode))
    if rng.random() < 0.5:
        return SequencePairs.in_order(queries, targets), drawn
    # As callers may give them: in any order, and some with the target of another query.
    query = rng.permutation(count).astype(np.int32)
    target = np.where(rng.random(count) < 0.8, query, rng.integers(0, max(1, count), count)).astype(np.int32)
    return SequencePairs(queries, targets, query, target), drawn


def operations_of(found: Alignments, index: int) -> list[tuple[int, int]]:
    """The (operation, length) of an alignment."""
    words = found.cigars[found.offsets[index] : found.offsets[index + 1]].tolist()
    return [(word & 15, word >> 4) for word in words]


def flaw_of(found: Alignments, index: int, query: np.ndarray, target: np.ndarray, scoring: Scoring) -> str:
    """What is wrong with an alignment of its own: that it does not fit the sequences, or has another score."""
    operations = operations_of(found, index)
    kinds = [kind for kind, _ in operations]
    start, end = int(found.target_starts[index]), int(found.target_ends[index])
    if any(length < 1 for _, length in operations):
        return "an operation of length 0"
    if any(one == other for one, other in pairwise(kinds)):
        return "two operations of one kind beside each other"
    if not set(kinds) <= {MATCH, INSERTION, DELETION, SOFT_CLIP} or SOFT_CLIP in kinds[1:-1]:
        return "an operation that has no place there"
    if sum(length * CONSUMES_QUERY[kind] for kind, length in operations) != len(query):
        return "not all of the query"
    if sum(length * CONSUMES_REFERENCE[kind] for kind, length in operations) != end - start:
        return "not the part of the target"
    over = scoring.mode == "gatk" and scoring.overhang == "ignore"
    if not over and not 0 <= start <= end <= len(target):
        return "beyond the target"
    if scoring.mode == "global" and (start, end) != (0, len(target)):
        return "not all of the target"
    clips = scoring.mode == "gatk" and scoring.overhang == "softclip"
    if SOFT_CLIP in kinds and not clips:
        return "clipped"
    score = score_of(operations, start, query, target, scoring)
    return "" if score == found.scores[index] else f"the operations score {score}"


def score_of(
    operations: list[tuple[int, int]], start: int, query: np.ndarray, target: np.ndarray, scoring: Scoring
) -> int:
    """The sum of the columns' scores. Clips, and columns beyond the target ("ignore"), score nothing."""
    score, at, place = 0, 0, start
    for kind, length in operations:
        if kind == MATCH:
            begin, end = max(0, -place), max(0, min(length, len(target) - place))
            equal = int((query[at + begin : at + end] == target[place + begin : place + end]).sum())
            score += equal * scoring.match + (max(0, end - begin) - equal) * scoring.mismatch
        elif kind != SOFT_CLIP:
            score += scoring.gap_open + (length - 1) * scoring.gap_extend
        at += length * int(CONSUMES_QUERY[kind])
        place += length * int(CONSUMES_REFERENCE[kind])
    return score


_known: dict[bytes, Alignments] = {}


def oracle(pairs: SequencePairs, scoring: Scoring) -> Alignments:
    """What `reference` makes of pairs, once for all aligners."""
    key = pickle.dumps((pairs, scoring))
    if key not in _known:
        _known[key] = ALIGNERS.load("reference").alignments(pairs, scoring, 1)
    return _known[key]


def flaws(
    aligner: Aligner,
    pairs: SequencePairs,
    scoring: Scoring,
    threads: int = 2,
    expected: Alignments | None = None,
) -> list[str]:
    """What differs from `reference`, or is wrong by itself, a line each."""
    expected = expected or oracle(pairs, scoring)
    scores, found = aligner.scores(pairs, scoring, threads), aligner.alignments(pairs, scoring, threads)
    kinds = [
        (scores.dtype, np.int32),
        (found.scores.dtype, np.int32),
        (found.target_starts.dtype, np.int32),
        (found.target_ends.dtype, np.int32),
        (found.cigars.dtype, np.uint32),
        (found.offsets.dtype, np.int64),
    ]
    told = [f"{one} in place of {other.__name__}" for one, other in kinds if one != other]
    sizes = (len(scores), len(found.scores), len(found.target_starts), len(found.target_ends), len(found.offsets) - 1)
    if set(sizes) != {len(pairs)}:
        return [*told, f"{sizes} results of {len(pairs)} pairs"]
    for index in range(len(pairs)):
        query, target = pairs.queries[pairs.query_index[index]], pairs.targets[pairs.target_index[index]]
        flaw = flaw_of(found, index, query, target, scoring)
        if scores[index] != expected.scores[index]:
            flaw += f"; the score alone is {scores[index]}"
        if (got := _shown(found, index)) != (wanted := _shown(expected, index)):
            flaw += f"; {got} in place of {wanted}"
        if flaw:
            letters = "; ".join("".join("ACGTN"[code] for code in codes) for codes in (query, target))
            told.append(f"{flaw.removeprefix('; ')}: {scoring}: {letters}")
    return told


def _shown(found: Alignments, index: int) -> str:
    operations = "".join(f"{length}{'MIDNS'[kind]}" for kind, length in operations_of(found, index))
    return f"{found.scores[index]} at {found.target_starts[index]}-{found.target_ends[index]} {operations}"


def check(aligner: Aligner, pairs: SequencePairs, scoring: Scoring, threads: int = 2) -> None:
    """Scores and alignments of an aligner are those of `reference`, and right by themselves."""
    told = flaws(aligner, pairs, scoring, threads)
    assert not told, "\n".join([f"{len(told)} flaws in {len(pairs)} pairs", *told[:8]])


def _expected(batch: tuple[int, int, int, int, dict[str, str]]) -> tuple[SequencePairs, Scoring, Alignments]:
    """A batch and what `reference` makes of it, in a process of its own."""
    *drawn, given = batch
    pairs, scoring = any_batch(*drawn, **given)
    return pairs, scoring, ALIGNERS.load("reference").alignments(pairs, scoring, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu", help="(default: %(default)s)")
    parser.add_argument("--device", type=int, help="of the backend (default: the first)")
    parser.add_argument("--pairs", type=int, default=10_000, help="(default: %(default)s)")
    parser.add_argument("--longest", type=int, default=LONGEST, help="letters (default: %(default)s)")
    parser.add_argument("--form", choices=FORMS, help="(default: all)")
    parser.add_argument("--mode", choices=MODES, help="(default: all)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes of the oracle (default: %(default)s)"
    )
    options = parser.parse_args()
    given = {name: value for name in ("form", "mode") if (value := getattr(options, name))}
    batches = [
        (options.seed, number, min(BATCH, options.pairs - begin), options.longest, given)
        for number, begin in enumerate(range(0, options.pairs, BATCH))
    ]
    wrong = 0
    # Processes that are started anew: a forked one can't use a GPU.
    with get_context("spawn").Pool(options.jobs) as oracle:
        aligner = ALIGNERS.load(options.backend, device=options.device)
        for pairs, scoring, expected in oracle.imap(_expected, batches, chunksize=4):
            told = flaws(aligner, pairs, scoring, expected=expected)
            wrong += len(told)
            print("\n".join(told), end="\n" if told else "")
    print(f"{options.backend}: {wrong} of {options.pairs} pairs are wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
