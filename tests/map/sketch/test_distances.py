"""`map distances`: tables of all pairs, of queries and of the nearest samples, and what can't be compared."""

import dataclasses
import logging

import numpy as np
import pytest

import pairhmm
from pairhmm import backends
from pairhmm.backends import status
from pairhmm.backends.base import Status
from pairhmm.cli.main import main
from pairhmm.errors import InputError, OptionError
from pairhmm.map.sketch import pairs
from pairhmm.map.sketch.base import COMPARERS
from pairhmm.map.sketch.files import write_sketches
from pairhmm.map.sketch.reference import ReferenceComparer
from pairhmm.map.sketch.sketches import Scheme, Sketches

SCHEME = Scheme(slots=256, bits=4)


@pytest.fixture(autouse=True)
def _compiled(require):
    require("cpu", status("cpu").available, "the compiled part is missing")


def made(count=7, seed=0, scheme=SCHEME, prefix="s"):
    """Samples that share slots with the ones before them."""
    rng = np.random.default_rng(seed)
    planes = rng.integers(0, 2**64, (count, scheme.bits, scheme.slots // 64), dtype=np.uint64)
    for index in range(1, count):
        shared = rng.random(scheme.slots // 64) < 0.7
        planes[index][:, shared] = planes[index - 1][:, shared]
    kmers = np.round(rng.uniform(1e5, 9e5, count))
    return Sketches(scheme, [f"{prefix}{i}" for i in range(count)], planes, kmers, np.ones(count, np.int32))


def rows(path):
    head, *lines = path.read_text().splitlines()
    assert head == "#sample_1\tsample_2\tjaccard\tmash_distance\tcontainment\tani"
    return [line.split("\t") for line in lines]


def expected_rows(found):
    """The rows of a table, from the arrays that `pairhmm.distances` returns."""
    numbers = zip(found.jaccard, found.mash_distance, found.containment, found.ani, strict=True)
    texts = [[f"{j:.6g}", f"{d:.6g}", f"{c:.6f}", f"{a:.6f}"] for j, d, c, a in numbers]
    return [[one, two, *text] for one, two, text in zip(found.sample_1, found.sample_2, texts, strict=True)]


def test_every_two_samples_once(tmp_path):
    sketches = made()
    found = pairhmm.distances(sketches, backend="reference")
    named = list(zip(found.sample_1, found.sample_2, strict=True))
    assert named == [(f"s{i}", f"s{j}") for i in range(7) for j in range(i + 1, 7)]
    write_sketches(tmp_path / "all", sketches)
    assert pairhmm.write_distances(tmp_path / "all", tmp_path / "d.tsv") == 21
    assert rows(tmp_path / "d.tsv") == expected_rows(found)


def test_small_blocks_give_the_same_pairs(tmp_path, monkeypatch):
    """Several files, blocks that end within them, matrices of few rows."""
    sketches = made(23)
    whole = expected_rows(pairhmm.distances(sketches, backend="cpu"))
    nearest = expected_rows(pairhmm.distances(sketches, nearest=4, backend="cpu"))
    paths = [tmp_path / name for name in "abc"]
    for path, (begin, end) in zip(paths, ((0, 5), (5, 6), (6, 23)), strict=True):
        write_sketches(path, sketches.part(begin, end))
    monkeypatch.setattr(pairs, "SKETCH_BYTES", 4 * 128)
    monkeypatch.setattr(pairs, "MATRIX_PAIRS", 10)
    monkeypatch.setattr(pairs, "PAIRS_AT_ONCE", 5)
    pairhmm.write_distances(paths, tmp_path / "d.tsv")
    assert sorted(rows(tmp_path / "d.tsv")) == sorted(whole)
    pairhmm.write_distances(paths, tmp_path / "n.tsv", nearest=4)
    assert rows(tmp_path / "n.tsv") == nearest


def test_queries(tmp_path):
    sketches, queries = made(), made(2, seed=0, prefix="q")
    write_sketches(tmp_path / "all", sketches)
    write_sketches(tmp_path / "new", queries)
    assert pairhmm.write_distances(tmp_path / "all", tmp_path / "d.tsv", queries=tmp_path / "new") == 14
    found = rows(tmp_path / "d.tsv")
    assert [row[:2] for row in found[:2]] == [["q0", "s0"], ["q0", "s1"]]
    assert found[0][2:4] == ["1", "0"]  # the same slots
    assert found == expected_rows(pairhmm.distances(sketches, queries))


def test_nearest_leaves_the_sample_itself_out():
    """Also where others have the same slots."""
    sketches = made(6)
    sketches.planes[3] = sketches.planes[4] = sketches.planes[0]
    found = pairhmm.distances(sketches, nearest=2)
    named = list(zip(found.sample_1, found.sample_2, strict=True))
    assert named[:2] == [("s0", "s3"), ("s0", "s4")]
    assert named[6:10] == [("s3", "s0"), ("s3", "s4"), ("s4", "s0"), ("s4", "s3")]
    assert all(one != other for one, other in named)


def test_more_nearest_than_samples():
    assert len(pairhmm.distances(made(3), nearest=50)) == 6


@pytest.mark.parametrize("nearest", [None, 3])
def test_max_distance(nearest):
    every = pairhmm.distances(made(12), nearest=nearest)
    limit = float(np.median(every.mash_distance))
    near = pairhmm.distances(made(12), nearest=nearest, max_distance=limit)
    assert 0 < len(near) < len(every)
    assert sorted(near.mash_distance) == sorted(every.mash_distance[every.mash_distance <= limit])


def test_no_pair_is_near(tmp_path):
    sketches = dataclasses.replace(made(2), planes=np.arange(32, dtype=np.uint64).reshape(2, 4, 4) * 0x5555555555555555)
    assert len(pairhmm.distances(sketches, max_distance=0)) == 0


@pytest.mark.parametrize("arguments", [["--nearest", "3"], ["--max-distance", "0.2"]])
def test_command(tmp_path, arguments, capsys):
    write_sketches(tmp_path / "all", made())
    with pytest.raises(SystemExit) as ended:
        main(["map", "distances", str(tmp_path / "all"), *arguments, "-o", str(tmp_path / "d.tsv")])
    assert ended.value.code == 0
    assert rows(tmp_path / "d.tsv")
    assert "backend cpu" in capsys.readouterr().err


def test_one_sample(tmp_path):
    write_sketches(tmp_path / "one", made(1))
    with pytest.raises(InputError, match=r"has one sample.*add sketches"):
        pairhmm.write_distances(tmp_path / "one", tmp_path / "d.tsv")
    with pytest.raises(ValueError, match="one sketch"):
        pairhmm.distances(made(1))
    assert not (tmp_path / "d.tsv").exists()


def test_one_query_and_one_target(tmp_path):
    write_sketches(tmp_path / "one", made(1))
    write_sketches(tmp_path / "other", made(1, seed=2))
    assert pairhmm.write_distances(tmp_path / "one", tmp_path / "d.tsv", queries=tmp_path / "other") == 1


@pytest.mark.parametrize("other", [Scheme(k=31, slots=256, bits=4), Scheme(slots=256, bits=2)], ids=str)
@pytest.mark.parametrize("as_queries", [True, False])
def test_other_schemes(tmp_path, other, as_queries):
    write_sketches(tmp_path / "one", made())
    write_sketches(tmp_path / "other", made(scheme=other, prefix="t"))
    files = [tmp_path / "one"] if as_queries else [tmp_path / "one", tmp_path / "other"]
    with pytest.raises(InputError, match=r"other.* where .*one has .*sketch both with the same options"):
        pairhmm.write_distances(files, tmp_path / "d.tsv", queries=tmp_path / "other" if as_queries else None)
    with pytest.raises(ValueError, match="different schemes"):
        pairhmm.distances(made(), made(scheme=other))
    assert not (tmp_path / "d.tsv").exists()


def test_files_that_are_not_there(tmp_path):
    write_sketches(tmp_path / "one", made())
    with pytest.raises(InputError, match=r"nowhere: No such file"):
        pairhmm.write_distances(tmp_path / "one", tmp_path / "d.tsv", queries=tmp_path / "nowhere")
    assert not (tmp_path / "d.tsv").exists()


def test_a_sample_in_two_files(tmp_path):
    for name in ("one", "other"):
        write_sketches(tmp_path / name, made())
    with pytest.raises(InputError, match=r"sample 's0'.* is in .*one too"):
        pairhmm.write_distances([tmp_path / "one", tmp_path / "other"], tmp_path / "d.tsv")


def test_options():
    with pytest.raises(OptionError, match="nearest"):
        pairhmm.distances(made(), nearest=0)
    with pytest.raises(OptionError, match="max_distance"):
        pairhmm.distances(made(), max_distance=1.5)
    with pytest.raises(InputError, match="one device compares"):
        pairhmm.distances(made(), backend=pairhmm.Choice("auto", (0, 1)))


def unrelated(count=40, scheme=SCHEME, seed=2):
    planes = np.random.default_rng(seed).integers(0, 2**64, (count, scheme.bits, scheme.slots // 64), dtype=np.uint64)
    return Sketches(scheme, [f"s{i}" for i in range(count)], planes, np.full(count, 1e5), np.ones(count, np.int32))


@pytest.mark.parametrize("options", [{}, {"nearest": 2}, {"max_distance": 0.9}], ids=str)
@pytest.mark.parametrize("most_held", [10, 1 << 22])
def test_noise_has_no_figures(tmp_path, monkeypatch, caplog, options, most_held):
    monkeypatch.setattr("pairhmm.map.sketch.distances._MOST_HELD", most_held)
    write_sketches(tmp_path / "noise", unrelated())
    count = pairhmm.write_distances(tmp_path / "noise", tmp_path / "d.tsv", **options)
    assert "no two samples are more alike than chance" in caplog.text and "--bits 16 and --slots 8192" in caplog.text
    assert count == {"": 780, "nearest": 80, "max_distance": 0}[next(iter(options), "")]
    assert [row[2:] for row in rows(tmp_path / "d.tsv")] == [["."] * 4] * count
    found = pairhmm.distances(unrelated(), **options)
    assert len(found) == count and np.isnan(found.mash_distance).all() and np.isnan(found.jaccard).all()


@pytest.mark.parametrize("most_held", [10, 1 << 22])
def test_one_alike_pair_gives_all_figures(tmp_path, monkeypatch, caplog, most_held):
    monkeypatch.setattr("pairhmm.map.sketch.distances._MOST_HELD", most_held)
    monkeypatch.setattr(pairs, "PAIRS_AT_ONCE", 100)
    sketches = unrelated()
    sketches.planes[-1] = sketches.planes[-2]
    write_sketches(tmp_path / "all", sketches)
    assert pairhmm.write_distances(tmp_path / "all", tmp_path / "d.tsv") == 780
    assert rows(tmp_path / "d.tsv") == expected_rows(pairhmm.distances(sketches)) and not caplog.text


@pytest.fixture
def taken(monkeypatch):
    """The names of the comparers that are loaded, where every backend is there."""
    names = []

    def load(name, device=None):
        names.append(name if device is None else f"{name}:{device}")
        return ReferenceComparer()

    monkeypatch.setattr(backends, "status", lambda name: Status(True, devices=("a GPU", "another")))
    monkeypatch.setattr(COMPARERS, "load", load)
    return names


def test_the_command_asks_for_a_gpu_when_words_are_many(taken, make_sketches, monkeypatch, caplog):
    """4,950 pairs of 1,024 x 8, which have 128 words each."""
    some = make_sketches(np.random.default_rng(0), 100, Scheme())
    with caplog.at_level(logging.INFO, "pairhmm"):
        for worth in (4950 * 64, 4950 * 64 + 1):
            monkeypatch.setattr("pairhmm.map.sketch.distances.WORTH_A_DEVICE", worth)
            pairhmm.distances(some, threads=2)
    assert taken == ["cuda", "cpu"]
    assert "backend reference" in caplog.text
