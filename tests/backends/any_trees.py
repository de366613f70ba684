"""Groups whose haplotypes share columns in every way, and at random in any number.

python tests/backends/any_trees.py --backend cpu --groups 10000

scores such groups on one backend, compares them with the oracle by the tolerances of docs/model.md, and each
haplotype's scores with those that it has alone, bit by bit. Backends are those of any_pairs.py. Exit code 1 where any
score is off.
"""

import argparse
import logging
import sys
from dataclasses import replace

import numpy as np

from pairhmm import engine
from pairhmm.models import gatk, profile
from pairhmm.models.batch import Group, PairBatch, Read, Start
from pairhmm.sequences.arrays import offsets

SHAPES = ("mutated", "combinations", "prefixes", "suffixes", "equal", "unrelated", "tiny", "repeats", "wide")
WIDER = 20
"""Times that wide haplotypes, of one or two letters in turn, may be longer than the others."""
CALLED = "calls, "
MODELS = (
    "gatk",
    "gatk, varying gaps",
    "gatk, start match",
    "normalised",
    "published",
    "any rows",
    *(f"{CALLED}{model}" for model in (*profile.PRESETS, "any profile", "rates by copies", "no deletions")),
)
"""Of the profile model, as rows and as base calls, which have the numbers of their rows."""


def haplotypes_of(shape, rng, length, count):
    """Haplotypes (uint8 codes) whose trees have this shape."""
    root = rng.integers(0, 4, length).astype(np.uint8)
    if shape == "combinations":
        places = rng.integers(0, length, 4)
        return [_substituted(root, places[[bool(c >> b & 1) for b in range(4)]]) for c in rng.permutation(16)[:count]]
    if shape == "prefixes":
        return [root[: rng.integers(1, length + 1)] for _ in range(count)]
    if shape == "suffixes":
        return [root[rng.integers(0, length) :] for _ in range(count)]
    if shape == "equal":
        return [root if rng.random() < 0.7 else _mutated(rng, root) for _ in range(count)]
    if shape == "unrelated":
        return [rng.integers(0, 5, rng.integers(1, length + 1)).astype(np.uint8) for _ in range(count)]
    if shape == "tiny":
        return [rng.integers(0, 5, rng.integers(1, 5)).astype(np.uint8) for _ in range(count)]
    if shape == "repeats":
        unit = rng.integers(0, 4, rng.integers(1, 5)).astype(np.uint8)
        return [np.resize(unit, rng.integers(1, length + 1)) for _ in range(count)]
    if shape == "wide":
        unit = rng.integers(0, 4, rng.integers(1, 3)).astype(np.uint8)
        return [np.resize(unit, rng.integers(1, WIDER * length + 1)) for _ in range(min(count, 2))]
    return [_mutated(rng, root) for _ in range(count)]


def _substituted(root, places):
    changed = root.copy()
    changed[places] = (changed[places] + 1) % 4
    return changed


def _mutated(rng, root):
    """A few substitutions, insertions, deletions and N."""
    letters = root
    for _ in range(rng.integers(0, 4)):
        at = int(rng.integers(0, len(letters)))
        new = rng.integers(0, 5, rng.integers(0, 4)).astype(np.uint8)
        letters = np.concatenate([letters[:at], new, letters[at + int(rng.integers(0, 4)) :]])
        letters = letters if len(letters) else root[:1]
    return letters


def random_group(rng, longest=200):
    """Reads and haplotypes of a random shape (`SHAPES`), and the shape."""
    shape = str(rng.choice(SHAPES))
    length = round(float(np.exp(rng.uniform(0, np.log(longest)))))
    haplotypes = haplotypes_of(shape, rng, length, int(rng.integers(1, 9)))
    gap = int(rng.integers(5, 45)) if rng.random() < 0.3 else 10
    reads = [_read(rng, haplotypes, longest, gap) for _ in range(rng.integers(1, 20))]
    return Group(reads, haplotypes), shape


def _read(rng, haplotypes, longest, gap):
    source = haplotypes[int(rng.integers(len(haplotypes)))]
    length = round(float(np.exp(rng.uniform(0, np.log(longest)))))
    begin = int(rng.integers(0, max(1, len(source) - length + 1)))
    bases = np.resize(source[begin : begin + length], length)
    wrong = rng.random(length) < 0.03
    bases[wrong] = rng.integers(0, 5, int(wrong.sum()))
    ranges = ((2, 45), (5, 70), (5, 70))
    qualities = (rng.integers(low, high, length).astype(np.uint8) for low, high in ranges)
    return Read(bases, *qualities, np.full(length, gap, dtype=np.uint8))


def batch_of(group, model, seed):
    """The group as a batch of a model (`MODELS`), which the seed completes."""
    rng = np.random.default_rng(seed)
    if model == "gatk":
        return PairBatch.from_groups([group])
    if model == "gatk, varying gaps":
        reads = [
            Read(r.bases, r.base_quality, r.insertion_quality, r.deletion_quality, _gaps(rng, len(r.bases)))
            for r in group.reads
        ]
        return PairBatch.from_groups([Group(reads, group.haplotypes)])
    if model == "gatk, start match":
        return PairBatch.from_groups([group], Start(match=1.0, deletion=0.0))
    if model == "any rows":
        rows = [rng.random((len(read.bases), 12)) / 2 for read in group.reads]
        return _of_rows(rows, group, Start(match=float(rng.random()), deletion=1.0))
    if model.startswith(CALLED):
        name = model.removeprefix(CALLED)
        chosen = profile.preset(name) if name in profile.PRESETS else _any_profile(rng, name)
        of_gatk = PairBatch.from_groups([group])
        calls = chosen.base_calls(of_gatk.qualities.bases, of_gatk.qualities.base_quality)
        calls = chosen.with_repeats(calls, of_gatk.read_offset)
        return replace(of_gatk, start=chosen.start, qualities=None, profiles=calls)
    preset = profile.preset(model)
    rows = [preset.rows(profile.one_hot(read.bases, gatk.ERROR[read.base_quality])) for read in group.reads]
    return _of_rows(rows, group, preset.start)


def _any_profile(rng, kind):
    """Emissions, gaps and start at random. Inserted letters differ in probability, and gaps in how they go on."""
    opened, closed = 10 ** rng.uniform(-4, -1, 2), rng.uniform(0.2, 1, 2)
    transitions = dict(zip(("MI", "MD", "IM", "DM"), (*opened, *closed), strict=True))
    transitions |= {"MM": 1 - opened.sum(), "II": rng.uniform(0.05, 0.8), "DD": rng.uniform(0.05, 0.8)}
    if kind == "no deletions":
        transitions["MD"] = 0.0
    by_copies = np.sort(10 ** rng.uniform(-4, -1, (2, 20))) if kind == "rates by copies" else None
    match = np.hstack([rng.dirichlet(np.ones(4), size=4) * 0.1 + np.eye(4) * 0.9, np.full((4, 1), 0.25)])
    start = profile.STARTS[str(rng.choice(list(profile.STARTS)))]
    return profile.ProfileModel(match, rng.dirichlet(np.full(4, 2.0)), transitions, start, by_copies=by_copies)


def _gaps(rng, length):
    return rng.integers(5, 30, length).astype(np.uint8)


def _of_rows(rows, group, start):
    places = offsets([len(rows)]), offsets([len(group.haplotypes)])
    lengths = offsets([len(read) for read in rows]), offsets([len(each) for each in group.haplotypes])
    return PairBatch(*places, *lengths, np.concatenate(group.haplotypes), start, rows=np.concatenate(rows))


def with_haplotypes(batch, chosen):
    """A batch of one group with these of its haplotypes only, in this order."""
    letters = [batch.haplotypes[slice(*batch.haplotype_offset[k : k + 2])] for k in chosen]
    return PairBatch(
        batch.group_read,
        offsets([len(letters)]),
        batch.read_offset,
        offsets([len(each) for each in letters]),
        np.concatenate(letters),
        batch.start,
        qualities=batch.qualities,
        rows=batch.rows,
        profiles=batch.profiles,
    )


def depends_on_company(backend, batch, rng):
    """Scores that change with a haplotype's or a read's company (count)."""
    width = len(batch.haplotype_offset) - 1
    whole = engine.forward(batch, backend).log10.reshape(-1, width)
    changed = 0
    for chosen in (rng.permutation(width), np.array([rng.integers(width)])):
        scores = engine.forward(with_haplotypes(batch, chosen), backend).log10.reshape(-1, len(chosen))
        changed += int((scores != whole[:, chosen]).sum())
    read = int(rng.integers(batch.reads))
    return changed + int((engine.forward(batch.take_reads(read, read + 1), backend).log10 != whole[read]).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu", help="(default: %(default)s)")
    parser.add_argument("--groups", type=int, default=10_000, help="(default: %(default)s)")
    parser.add_argument("--longest", type=int, default=200, help="bases (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    import any_pairs  # beside this script

    backend, worst, wrong, pairs = any_pairs.load_backend(options.backend), 0.0, 0, 0
    for number in range(options.groups):
        rng = np.random.default_rng([options.seed, number])
        group, shape = random_group(rng, options.longest)
        model = MODELS[number % len(MODELS)]
        batch = batch_of(group, model, number)
        off = any_pairs.excess(engine.forward(batch, backend).log10, batch, engine.forward(batch, "reference").log10)
        changed = depends_on_company(backend, batch, rng)
        if changed or not (off <= 1).all():
            wrong += 1
            print(f"group {number} ({shape}; {model}): {off.max():.3g} of the tolerance, {changed} depend on company")
        worst, pairs = max(worst, float(off.max())), pairs + batch.pairs
    print(f"{options.backend}: {pairs} pairs of {options.groups} groups, at worst {worst:.3g} of the tolerance")
    print(f"{options.backend}: {wrong} groups are wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
