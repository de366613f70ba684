"""Pairs of any qualities, lengths and relation: what the property tests draw from, and at random in any number.

python tests/backends/any_pairs.py --backend cuda --pairs 10000

scores such pairs on one backend and compares them with the oracle, by the tolerances of docs/model.md. Backends: those
of pairhmm, a level of the CPU ("cpu:avx2"), and the CUDA kernels in the emulator ("emulated"). `--model normalised` or
`published` scores their bases and base qualities by the profile model, and `--model pdhmm` gives haplotypes flags: with
`--any-flags` any bytes, or else as GATK has them. Exit code 1 where any score is off.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pairhmm import backends, engine
from pairhmm.backends import cpu
from pairhmm.models import gatk, profile
from pairhmm.models.batch import PRECISIONS, Group, PairBatch, Qualities, Read
from pairhmm.models.partially_determined import DELETION_ENDS, DELETION_STARTS
from pairhmm.models.profile import rows_of
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import HIGHEST_QUALITY, LOWER_CASE

N = 4
RELATIONS = ("piece", "chimera", "unrelated", "repeat")


@dataclass(frozen=True)
class Pair:
    """A read and a haplotype, whose letters and qualities follow from this alone.

    Attributes
    ----------
    seed : int
    read, haplotype : int
        Bases.
    relation : str
        "piece": the shorter one is a piece of the longer one, with errors; "chimera": the same, halves exchanged;
        "repeat": both are copies of a short unit; "unrelated".
    qualities : four pairs of int
        Least and greatest base, insertion, deletion and gap quality: Phred, both included.
    n : float
        Share of N in both.
    """

    seed: int
    read: int
    haplotype: int
    relation: str
    qualities: tuple[tuple[int, int], ...]
    n: float

    def group(self):
        rng = np.random.default_rng(self.seed)
        haplotype, bases = self._letters(rng)
        for letters in (haplotype, bases):
            letters[rng.random(len(letters)) < self.n] = N
        values = (rng.integers(low, high + 1, self.read).astype(np.uint8) for low, high in self.qualities)
        return Group([Read(bases, *values)], [haplotype])

    def _letters(self, rng):
        longer, shorter = max(self.read, self.haplotype), min(self.read, self.haplotype)
        if self.relation == "repeat":
            unit = rng.integers(0, 4, rng.integers(1, 9))
            whole = np.resize(unit, longer)
            piece = np.resize(unit, shorter)
        else:
            whole = rng.integers(0, 4, longer)
            begin = int(rng.integers(0, longer - shorter + 1))
            piece = whole[begin : begin + shorter].copy()
        if self.relation == "unrelated":
            piece = rng.integers(0, 4, shorter)
        if self.relation == "chimera":
            piece = np.roll(piece, shorter // 2)
        wrong = rng.random(shorter) < 0.05
        piece[wrong] = rng.integers(0, 4, int(wrong.sum()))
        pair = (whole.astype(np.uint8), piece.astype(np.uint8))
        return pair if self.haplotype >= self.read else pair[::-1]


def batch_of(pairs):
    return PairBatch.from_groups([pair.group() for pair in pairs])


def with_flags(pairs, any_byte=False):
    """The same pairs with flags, as a batch: some SNPs and deletions as GATK has them, or any byte and any case."""
    groups = []
    for pair in pairs:
        rng, group = np.random.default_rng((pair.seed, 1)), pair.group()
        (read,), (haplotype,) = group.reads, group.haplotypes
        if any_byte:
            flags = rng.integers(0, 256, len(haplotype)).astype(np.uint8)
            read, haplotype = replace(read, bases=_any_case(rng, read.bases)), _any_case(rng, haplotype)
        else:
            flags = _gatk_flags(rng, len(haplotype))
        groups.append(Group([read], [haplotype], [flags]))
    return PairBatch.from_groups(groups)


def _any_case(rng, letters):
    return letters + np.uint8(LOWER_CASE) * (rng.random(len(letters)) < 0.3)


def _gatk_flags(rng, letters):
    flags = np.where(rng.random(letters) < 0.03, 1 + 8 * rng.integers(1, 16, letters), 0).astype(np.uint8)
    for _ in range(rng.integers(0, 4)):
        first = int(rng.integers(letters))
        flags[first] |= DELETION_STARTS
        flags[min(letters - 1, first + int(rng.geometric(0.1)) - 1)] |= DELETION_ENDS
    return flags


def calls_of_model(pairs, model):
    """The same pairs in one profile model, as a BAM's reads come to it: bases and base qualities, which are kinds."""
    of_gatk = batch_of(pairs)
    profiles = model.base_calls(of_gatk.qualities.bases, of_gatk.qualities.base_quality)
    return replace(of_gatk, start=model.start, qualities=None, profiles=profiles)


def rows_of_models(pairs, models):
    """The same pairs, each in a profile model of its own: bases with their error spread over the other letters."""
    groups = [pair.group() for pair in pairs]
    reads = [group.reads[0] for group in groups]
    rows = [
        model.rows(profile.one_hot(read.bases, gatk.ERROR[read.base_quality]))
        for model, read in zip(models, reads, strict=True)
    ]
    return of_rows(rows, [group.haplotypes[0] for group in groups], models[0].start)


def of_rows(rows, haplotypes, start):
    """A batch of reads given as rows float64[m, 12], each against one haplotype."""
    one_each = offsets([1] * len(rows))
    places = (one_each, one_each, offsets([len(read) for read in rows]), offsets([len(each) for each in haplotypes]))
    return PairBatch(*places, np.concatenate(haplotypes), start, rows=np.concatenate(rows))


def profile_with_gaps(insertion, deletion, start):
    """The normalised profile model with other gaps: probabilities of opening and extending each of them."""
    given = profile.preset("normalised")
    (mi, ii), (md, dd) = insertion, deletion
    transitions = {"MM": 1 - min(1.0, mi + md), "MI": mi, "MD": md, "II": ii, "DD": dd, "IM": 1 - ii, "DM": 1 - dd}
    return profile.ProfileModel(given.match, given.insertion, transitions, profile.STARTS[start])


def random_pair(rng, longest=900):
    """Any lengths (log-uniform), relation and qualities: each constant, in a range, or one that is in use."""

    def quality(usual):
        kind = rng.random()
        if kind < 0.4:
            return (int(rng.integers(0, HIGHEST_QUALITY + 1)),) * 2
        if kind < 0.8:
            low, high = np.sort(rng.integers(0, HIGHEST_QUALITY + 1, 2)).tolist()
            return low, high
        return usual, usual

    read, haplotype = np.exp(rng.uniform(0, np.log(longest), 2)).round().astype(int).tolist()
    if rng.random() < 0.3:
        haplotype = max(1, read + int(rng.integers(-20, 21)))
    qualities = (quality(30), quality(45), quality(45), quality(10))
    n = float(rng.choice([0.0, 0.0, 0.05, 0.5]))
    return Pair(int(rng.integers(2**32)), read, haplotype, str(rng.choice(RELATIONS)), qualities, n)


def excess(log10, batch, expected):
    """Each score's difference in units of what it may be: more than 1, or NaN, is wrong (float64[pairs])."""
    return of_cuda("batches").excess(log10, batch, expected)


def oracle(batch):
    """The oracle's scores, made once for all backends."""
    arrays = [batch.read_offset, batch.haplotype_offset, batch.haplotypes]
    if batch.flags is None:
        arrays.append(rows_of(batch))
    else:
        arrays += [batch.flags, *(getattr(batch.qualities, name) for name in Qualities.__dataclass_fields__)]
    key = (batch.start, *(array.tobytes() for array in arrays))
    if key not in _known:
        _known[key] = engine.forward(batch, "reference").log10
    return _known[key]


_known: dict[tuple, np.ndarray] = {}


def check(backend, batch, pairs):
    """Every score of a backend is as near to the oracle's as docs/model.md says; what is off is shown."""
    expected = oracle(batch)
    scores = engine.forward(batch, backend)
    off = excess(scores.log10, batch, expected)
    wrong = np.flatnonzero(~(off <= 1))
    lines = [
        f"{off[k]:.3g} x the tolerance: {scores.log10[k]} ({PRECISIONS[scores.precision[k]]}), oracle {expected[k]}: "
        f"{pairs[k]}"
        for k in wrong[:8]
    ]
    assert not len(wrong), "\n".join([f"{len(wrong)} of {batch.pairs} scores are off", *lines])
    return off.max()


def forward_in_logs(rows, haplotype, start):
    """log10 of the recurrence of docs/model.md in logarithms, a row at a time, after `rows` float64[m, 12]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rows, n = np.log(rows), len(haplotype)
        nothing = np.full(n + 1, -np.inf)
        match, insertion, deletion = nothing.copy(), nothing.copy(), np.full(n + 1, -np.log(n))
        match[0], deletion[0] = np.log(start.match), np.log(start.deletion) - np.log(n)
        for row in rows:
            mm, im, dm, mi, ii, md, dd = row[5:]
            came = np.logaddexp(mm + match, np.logaddexp(im + insertion, dm + deletion))[:-1]
            insertion = np.logaddexp(mi + match, ii + insertion)
            match = nothing.copy()
            match[1:] = row[haplotype] + came
            insertion[0] = -np.inf
            deletion = _deletions(match, md, dd)
        total = np.logaddexp.reduce(np.logaddexp(match, insertion)[1:])
    return total / np.log(10)


def _deletions(match, md, dd):
    """D of a row: the sum over k < j of match[k] md dd^(j - 1 - k), in logarithms."""
    deletion = np.full(len(match), -np.inf)
    if dd == -np.inf:
        deletion[1:] = match[:-1] + md
    else:
        at = np.arange(len(match) - 1)
        deletion[1:] = np.logaddexp.accumulate(match[:-1] - at * dd) + at * dd + md
    return deletion


def load_backend(name):
    """A backend that can score here, by the names of the command line."""
    if name.startswith("cpu:"):
        return cpu.CpuBackend(cpu._native(), name.removeprefix("cpu:"))
    if name == "emulated":
        return emulated()
    return backends.load(name)


def of_cuda(name):
    """A module of tests/backends/cuda, which is in no package."""
    full = f"pairhmm_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, Path(__file__).parent / "cuda" / f"{name}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


def has_emulator():
    return of_cuda("emulator").compiler() is not None


def emulated():
    """The cuda backend in the emulator of tests/backends/cuda."""
    with of_cuda("emulated_cupy").installed(1 << 30):
        from pairhmm.backends.cuda import backend as cuda

        return cuda.CudaBackend(0, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu", help="(default: %(default)s)")
    parser.add_argument(
        "--model", choices=("gatk", "pdhmm", *profile.PRESETS), default="gatk", help="(default: %(default)s)"
    )
    parser.add_argument("--any-flags", action="store_true")
    parser.add_argument("--pairs", type=int, default=10_000, help="(default: %(default)s)")
    parser.add_argument("--longest", type=int, default=900, help="bases (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    rng, backend = np.random.default_rng(options.seed), load_backend(options.backend)
    worst, wrong, made_by = {}, 0, dict.fromkeys(PRECISIONS, 0)
    for first in range(0, options.pairs, 200):
        pairs = [random_pair(rng, options.longest) for _ in range(min(200, options.pairs - first))]
        if options.model == "gatk":
            batch = batch_of(pairs)
        elif options.model == "pdhmm":
            batch = with_flags(pairs, options.any_flags)
        else:
            batch = calls_of_model(pairs, profile.preset(options.model))
        scores, expected = engine.forward(batch, backend), engine.forward(batch, "reference").log10
        off = excess(scores.log10, batch, expected)
        for k in np.flatnonzero(~(off <= 1)):
            wrong += 1
            print(
                f"{off[k]:.3g}: {scores.log10[k]} ({PRECISIONS[scores.precision[k]]}), oracle {expected[k]}: {pairs[k]}"
            )
        for code, name in enumerate(PRECISIONS):
            of_it = scores.precision == code
            made_by[name] += int(of_it.sum())
            worst[name] = max(worst.get(name, 0.0), float(off[of_it].max(initial=0)))
    for name, count in made_by.items():
        print(f"{options.backend}: {count} scores in {name}, at worst {worst[name]:.3g} of the tolerance")
    print(f"{options.backend}: {wrong} of {options.pairs} pairs beyond the tolerance")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
