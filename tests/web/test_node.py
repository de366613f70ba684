"""web/ in Node: its types, its own tests, its scores beside those of a SIMD level, and its package elsewhere."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.backends import cpu
from pairhmm.forward.pair_texts import read_in, read_reference_likelihoods
from pairhmm.models import profile
from pairhmm.models.batch import Group, PairBatch, Read
from tests.web.batch_files import write_batch

LEVEL = "x86-64-v2"
HERE = Path(__file__).parent
WEB = HERE.parents[1] / "web"


def run(*command, cwd=WEB, **environment):
    """The output of a command, which must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="session")
def level(require):
    """The SIMD level whose bits WebAssembly has."""
    require("node", (LEVEL, True) in cpu.instruction_sets(), f"this machine does not run {LEVEL}")
    return cpu.CpuBackend(cpu._native(), LEVEL)


@pytest.fixture(scope="session")
def npm(node, require):
    program = shutil.which("npm")
    require("node", program is not None, "no npm: apt install npm")
    return program


def read_of(rng, haplotype_bases, errors, gap=(10, 11)):
    """A read of these bases, some of them wrong, with random qualities."""
    bases, size = haplotype_bases.copy(), len(haplotype_bases)
    wrong = rng.choice(size, errors, replace=False)
    bases[wrong] = (bases[wrong] + rng.integers(1, 4, errors)) % 4
    spans = (20, 42), (35, 46), (35, 46), gap
    return Read(bases, *(rng.integers(*span, size).astype(np.uint8) for span in spans))


def haplotypes_of(rng, size, others, differences):
    """A random haplotype, and others that differ from it in some bases."""
    haplotypes = [rng.integers(0, 4, size).astype(np.uint8)]
    for _ in range(others):
        haplotypes.append(haplotypes[0].copy())
        haplotypes[-1][rng.integers(0, size, differences)] = rng.integers(0, 4, differences)
    return haplotypes


def low_groups(varied_gaps):
    """Reads with so many errors that the halves of a score leave float32's normal range."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        haplotypes = haplotypes_of(rng, int(rng.integers(60, 260)), 3, 4)
        sizes = rng.integers(30, min(len(haplotypes[0]), 200), 30).tolist()
        gap = (8, 13) if varied_gaps else (10, 11)
        yield Group([read_of(rng, haplotypes[0][-size:], int(rng.integers(8, 24)), gap) for size in sizes], haplotypes)


def far_groups():
    """Reads from all over long haplotypes: most of a matrix leaves float32's range."""
    rng = np.random.default_rng(4)
    for _ in range(6):
        haplotypes, reads = haplotypes_of(rng, 700, 4, 3), []
        for _ in range(40):
            start, size = int(rng.integers(0, 500)), int(rng.choice([180, 200]))
            bases = haplotypes[int(rng.integers(5))][start : start + size]
            reads.append(read_of(rng, bases, int(rng.integers(0, 12))))
        yield Group(reads, haplotypes)


def flagged_groups():
    """Partially determined haplotypes, any gap qualities, and scores that float32 holds and that it does not."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        haplotypes = haplotypes_of(rng, int(rng.integers(60, 260)), 3, 4)
        flags = [np.zeros(len(letters), np.uint8) for letters in haplotypes]
        for own in flags:
            own[rng.integers(0, len(own), 3)] |= rng.integers(0, 16, 3).astype(np.uint8) * 8 + 1
            own[30:40] |= rng.choice([0, 2, 4], 10).astype(np.uint8)
        gap = (8, 13) if rng.random() < 0.3 else (10, 11)
        reads = [read_of(rng, haplotypes[0][-50:], int(rng.integers(0, 30)), gap) for _ in range(9)]
        yield Group(reads, haplotypes, flags)


def under_profile(batch, name):
    model = profile.preset(name)
    profiles = model.base_calls(batch.qualities.bases, batch.qualities.base_quality)
    return replace(batch, qualities=None, profiles=profiles, start=model.start)


BATCHES = {
    "low": lambda data: PairBatch.from_groups(list(low_groups(varied_gaps=False))),
    "low, gap qualities vary": lambda data: PairBatch.from_groups(list(low_groups(varied_gaps=True))),
    "far": lambda data: PairBatch.from_groups(list(far_groups())),
    "flags": lambda data: PairBatch.from_groups(list(flagged_groups())),
    "10s": lambda data: PairBatch.from_groups(list(read_in(data / "10s.in"))),
    "1m": lambda data: PairBatch.from_groups(list(read_in(data / "1m.in"))),
    "reference": lambda data: PairBatch.from_groups(
        [
            Group([pair.read], [pair.haplotype])
            for pair in read_reference_likelihoods(data / "gatk-pairhmm-testdata.txt")
        ]
    ),
    "far, normalised": lambda data: under_profile(BATCHES["far"](data), "normalised"),
    "low, normalised": lambda data: under_profile(BATCHES["low"](data), "normalised"),
    "low, published": lambda data: under_profile(BATCHES["low"](data), "published"),
}


@pytest.mark.parametrize("name", BATCHES)
def test_scores_have_the_bits_of_the_native_level(name, level, node, request, tmp_path):
    data = None if name.startswith(("low", "far", "flags")) else request.getfixturevalue("shared_data")
    batch = BATCHES[name](data)
    scores = engine.forward(batch, level, threads=2)
    write_batch(tmp_path / "batch.bin", batch)
    run(node, str(HERE / "scores.mjs"), str(tmp_path / "batch.bin"), str(tmp_path / "scores.bin"))
    found = np.fromfile(tmp_path / "scores.bin", dtype=[("log10", "<f8"), ("precision", "<f8")])
    assert np.array_equal(found["log10"].view(np.int64), scores.log10.view(np.int64))
    assert np.array_equal(found["precision"], scores.precision)


def test_types(node, npm):
    run(npm, "run", "--silent", "types")


def test_its_own_tests(node, npm):
    run(npm, "test", "--silent")


EXAMPLE = """
import { forward, packBatch, start } from "pairhmm-web";
const reads = [{ bases: "ACGTACGTTACG", baseQuality: 30 }];
const haplotypes = ["ACGTACGTTACGA", "ACGTACCTTACGA"];
const shared = await forward(reads, haplotypes);
const engine = await start({ workers: 1 });
const own = await engine.forward(packBatch([{ reads, haplotypes }], "gatk"));
const normalised = await forward(reads, haplotypes, { model: "normalised", engine });
engine.close();
console.log(JSON.stringify([shared, own, normalised].map(({ log10 }) => [...log10])));
"""


def test_the_package_in_another_folder(node, npm, require, level, tmp_path):
    require("node", (WEB / "dist/index.js").is_file(), "web/dist is missing: make web-module")
    packed = json.loads(run(npm, "pack", "--json", "--silent", "--pack-destination", str(tmp_path)))[0]
    names = {file["path"] for file in packed["files"]}
    assert {"dist/index.js", "dist/index.d.ts", "dist/pairhmm.wasm", "dist/gpu.json", "README.md", "LICENSE"} <= names
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run(npm, "install", "--silent", "--offline", "--no-audit", "--no-fund", packed["filename"], cwd=tmp_path)
    (tmp_path / "example.js").write_text(EXAMPLE)
    shared, own, normalised = json.loads(run(node, "example.js", cwd=tmp_path))
    size = 12
    read = Read(
        np.array([0, 1, 2, 3, 0, 1, 2, 3, 3, 0, 1, 2], np.uint8),
        *(np.full(size, quality, np.uint8) for quality in (30, 45, 45, 10)),
    )
    batch = PairBatch.from_groups([Group([read], ["ACGTACGTTACGA", "ACGTACCTTACGA"])])
    assert shared == own == engine.forward(batch, level).log10.tolist()
    assert normalised == engine.forward(under_profile(batch, "normalised"), level).log10.tolist()
